/** Collections of the platform as they are answered without nested fields. Source: API specification, section 10. */
import type { JsonObject, JsonValue } from './call.ts';

/** A user. Secrets read as `**********`, or null where there is none. */
export interface User {
  readonly id: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly email: string | null;
  readonly password: string | null;
  readonly location: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly tags: readonly string[] | null;
  readonly avatar: string | null;
  readonly language: string | null;
  readonly theme: string | null;
  readonly tfa_secret: string | null;
  readonly status: 'draft' | 'invited' | 'active' | 'suspended' | 'archived';
  readonly role: string | null;
  readonly token: string | null;
  /** ISO 8601. */
  readonly last_access: string | null;
  readonly last_page: string | null;
  readonly provider: string;
  readonly external_identifier: string | null;
  readonly auth_data: JsonValue;
  readonly email_notifications: boolean | null;
}

/** A role. */
export interface Role {
  readonly id: string;
  readonly name: string;
  readonly icon: string;
  readonly description: string | null;
  /** Addresses and CIDR blocks that its users may come from; null: any. */
  readonly ip_access: readonly string[] | null;
  readonly enforce_tfa: boolean;
  readonly admin_access: boolean;
  readonly app_access: boolean;
  readonly users: readonly string[];
}

/** A file. Its content is that of `assets.readOne`. */
export interface StoredFile {
  readonly id: string;
  readonly storage: string;
  readonly filename_disk: string | null;
  readonly filename_download: string;
  readonly title: string | null;
  /** As its content says; null where there is none. */
  readonly type: string | null;
  readonly charset: string | null;
  readonly folder: string | null;
  readonly uploaded_by: string | null;
  readonly modified_by: string | null;
  /** ISO 8601. */
  readonly uploaded_on: string;
  readonly modified_on: string;
  /** Bytes, as text. */
  readonly filesize: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly duration: number | null;
  readonly metadata: JsonValue;
  readonly embed: string | null;
  readonly description: string | null;
  readonly location: string | null;
  readonly tags: readonly string[] | null;
}

/** A rule of a role. */
export interface Permission {
  readonly id: number;
  /** null: the public. */
  readonly role: string | null;
  readonly collection: string;
  readonly action: 'create' | 'read' | 'update' | 'delete';
  readonly permissions: JsonValue;
  readonly validation: JsonValue;
  readonly presets: JsonValue;
  readonly fields: readonly string[] | null;
}

/** Something that was done. */
export interface Activity {
  readonly id: number;
  readonly action: 'create' | 'update' | 'delete' | 'revert' | 'comment' | 'upload' | 'login' | 'archive' | 'call';
  readonly user: string | null;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly origin: string | null;
  readonly collection: string;
  readonly item: string;
  readonly comment: string | null;
  readonly revisions: readonly number[];
}

/** An item as a write left it. */
export interface Revision {
  readonly id: number;
  readonly activity: number;
  readonly collection: string;
  readonly item: string;
  readonly data: JsonObject | null;
  /** The changes. */
  readonly delta: JsonObject | null;
  readonly parent: number | null;
}

/** The item types of the platform's collections where a schema names none. */
export interface SystemItems {
  readonly platform_activity: Activity;
  readonly platform_files: StoredFile;
  readonly platform_permissions: Permission;
  readonly platform_revisions: Revision;
  readonly platform_roles: Role;
  readonly platform_users: User;
}

/** Item types by collection for a client without a schema of its own. */
export type AnySchema = Readonly<Record<string, JsonObject>>;

/** The item type of a collection of the platform: the schema's own, else that of `SystemItems`, else any object. */
export type SystemItem<Schema, Name extends string> = string extends keyof Schema
  ? Known<Name>
  : Name extends keyof Schema
    ? Schema[Name]
    : Known<Name>;

type Known<Name> = Name extends keyof SystemItems ? SystemItems[Name] : JsonObject;
