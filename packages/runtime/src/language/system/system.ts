/**
 * The collections of the platform itself: additions of the API to the facts in their tables.
 *
 * Their tables are made by migrations (`system/`), read and compiled like any other. Source: API specification, section
 * 10.
 */
import { type Dialect, dialectFacts, ownSchema } from '../dialects.ts';
import type { PortableType } from '../types/index.ts';
import type { JsonValue } from '../values/parse-text.ts';

type SystemAction = 'create' | 'read' | 'update' | 'delete';

/** Fields of rows that hold items of other collections. */
interface CopyNames {
  /** The collection that the item is of. */
  readonly collection: string;
  /** Its key in path form. */
  readonly item: string;
  /** Holds the item as a whole, its key included. */
  readonly whole: string;
  /** Hold fields of the item, or all of them: `whole` is one of these. */
  readonly contents: readonly string[];
}

/** Value that the server fills in: the caller's user, or a field of a singleton where a payload says nothing. */
type Completion = 'user' | { readonly collection: string; readonly field: string };

/** One collection of the platform. */
export interface SystemCollection {
  readonly name: string;
  /** Path at which its items are served; absent while nothing serves them. */
  readonly path?: string;
  readonly singleton?: true;
  /** Writes that payloads can ask for at all; the others are done by services. */
  readonly writes: readonly Exclude<SystemAction, 'read'>[];
  /** Actions that rules can grant; the others are for administrators. */
  readonly granted: readonly SystemAction[];
  /** Fields that are read as another type than their column has. */
  readonly types?: Readonly<Record<string, Extract<PortableType, 'csv' | 'hash' | 'secret' | 'token'>>>;
  /** Fields that the server fills and that are in no input; `all` of them where no payload writes anything. */
  readonly serverOwned?: readonly string[] | 'all';
  /** Fields of new rows that the server fills in when they are there, so that rules about them are checked afterwards. */
  readonly completed?: Readonly<Record<string, Completion>>;
  /** Fields that stay as they were made. */
  readonly fixed?: readonly string[];
  /** Actions of which activity tells in words of its own, written beside them. */
  readonly ownActivity?: readonly SystemAction[];
  /** Fields that only administrators write. */
  readonly administrators?: readonly string[];
  /** Unique indexes on expressions: by name, the fields in them. */
  readonly uniques?: Readonly<Record<string, readonly string[]>>;
  /**
   * Set where lists have items beside the rows of the table, which have no key: fields that tell these apart. A field
   * `system` without a column marks them.
   */
  readonly implied?: readonly string[];
  /** Columns that are no fields. */
  readonly hidden?: readonly string[];
  /** Field with the user to whose tenant a row belongs; null: to none. Absent where the rows belong to all tenants. */
  readonly owner?: string | null;
  /** Set where rows hold items of other collections: reading a row requires permission to read its item. */
  readonly copies?: CopyNames;
  /** Set where rows name items of other collections: payloads have their keys in any form, and rows in that of a path. */
  readonly names?: Pick<CopyNames, 'collection' | 'item'>;
  /** The one-to-many relations to other collections of the platform, by name: the child and its foreign-key field. */
  readonly inverses?: Readonly<Record<string, { readonly collection: string; readonly field: string }>>;
}

/** Names that begin with this belong to the platform. */
export const reservedPrefix = 'platform_';

/** The table in which migrations are written down; a schema that has it holds tables of the platform. */
export const ledgerTable = 'platform_migrations';

/** The schema of the platform's tables where nothing else is configured and databases have schemas. */
export const defaultSystemSchema = 'platform';

const all = ['create', 'read', 'update', 'delete'] as const;
const writes = ['create', 'update', 'delete'] as const;

/** Every collection of the platform, sorted by name. */
export const systemCollections: readonly SystemCollection[] = [
  {
    name: 'platform_activity',
    path: '/activity',
    writes: [],
    granted: ['read'],
    serverOwned: 'all',
    owner: 'user',
    inverses: { revisions: { collection: 'platform_revisions', field: 'activity' } },
  },
  { name: 'platform_collections', writes: [], granted: ['read'] },
  {
    name: 'platform_comments',
    path: '/comments',
    writes,
    granted: all,
    serverOwned: ['date_created', 'date_updated', 'user_created', 'user_updated', 'activity'],
    fixed: ['collection', 'item'],
    names: { collection: 'collection', item: 'item' },
    ownActivity: ['create'],
    owner: 'user_created',
    completed: { user_created: 'user' },
  },
  { name: 'platform_fields', writes: [], granted: ['read'], types: { special: 'csv' } },
  {
    name: 'platform_files',
    path: '/files',
    writes,
    granted: all,
    types: { tags: 'csv' },
    owner: 'uploaded_by',
    completed: {
      folder: { collection: 'platform_settings', field: 'storage_default_folder' },
      modified_by: 'user',
      uploaded_by: 'user',
    },
    serverOwned: [
      'storage',
      'filename_disk',
      'charset',
      'uploaded_by',
      'uploaded_on',
      'modified_by',
      'modified_on',
      'filesize',
      'width',
      'height',
      'duration',
      'metadata',
    ],
  },
  { name: 'platform_folders', path: '/folders', writes, granted: all, owner: null },
  {
    name: 'platform_permissions',
    path: '/permissions',
    writes,
    granted: ['read'],
    types: { fields: 'csv' },
    implied: ['role', 'collection', 'action', 'permissions'],
  },
  { name: 'platform_presets', path: '/presets', writes, granted: all, owner: 'user' },
  { name: 'platform_relations', writes: [], granted: ['read'], types: { one_allowed_collections: 'csv' } },
  {
    name: 'platform_revisions',
    path: '/revisions',
    writes: [],
    granted: ['read'],
    serverOwned: 'all',
    copies: { collection: 'collection', item: 'item', whole: 'data', contents: ['data', 'delta'] },
  },
  {
    name: 'platform_roles',
    path: '/roles',
    writes,
    granted: ['read'],
    types: { ip_access: 'csv' },
    inverses: { users: { collection: 'platform_users', field: 'role' } },
  },
  {
    name: 'platform_settings',
    path: '/settings',
    singleton: true,
    writes: ['create', 'update'],
    granted: ['read', 'update'],
  },
  {
    name: 'platform_users',
    path: '/users',
    writes,
    granted: all,
    // Read as secrets: no caller sees them, not even by their order or number.
    types: { password: 'hash', tags: 'csv', tfa_secret: 'secret', token: 'token', auth_data: 'secret' },
    serverOwned: ['tfa_secret', 'last_access', 'auth_data'],
    administrators: ['provider', 'external_identifier'],
    uniques: { platform_users_email_key: ['email'] },
    hidden: ['security_version', 'email_key', 'email_normal', 'email_normal_of'],
  },
];

const byName: ReadonlyMap<string, SystemCollection> = new Map(
  systemCollections.map((collection) => [collection.name, collection]),
);

/** The collection of the platform that has this name. */
export function systemCollection(name: string): SystemCollection | undefined {
  return byName.get(name);
}

/** Sides of relations. */
export const relationSpecials = ['o2m', 'm2m', 'm2a', 'translations', 'files'] as const;

/** Fields that only structure a form: these have no values. */
export const plainSpecials = ['alias', 'no-data', 'group'] as const;

/** Side of a relation that the specials of a field name; undefined where they name none. */
export function relationSpecialIn(special: readonly string[]): (typeof relationSpecials)[number] | undefined {
  return relationSpecials.find((name) => special.includes(name));
}

/** True if a field with these specials has no column. */
export function isVirtual(special: readonly string[]): boolean {
  return relationSpecialIn(special) !== undefined || plainSpecials.some((name) => special.includes(name));
}

/** A table as people know it, by its id or `schema.name`: `public.articles`, or `articles` without schemas. */
export function printTable(dialect: Dialect, id: string): string {
  return !dialectFacts[dialect].hasSchemas && id.startsWith(`${ownSchema}.`) ? id.slice(ownSchema.length + 1) : id;
}

/** One row of `platform_collections`, `platform_fields` or `platform_relations`, without the number of the row. */
export type DeclaredRow = { readonly [member: string]: JsonValue };

/** Rows of the three tables, sorted. */
export interface DeclaredModel {
  readonly collections: readonly DeclaredRow[];
  readonly fields: readonly DeclaredRow[];
  readonly relations: readonly DeclaredRow[];
  /** SHA-256, in hexadecimal, of all rows and of the migrations that the database has had. */
  readonly digest: string;
}

/** The table in which migrations of the project are written down; made with the first one. */
export const projectLedgerTable = 'platform_project_migrations';

/** Lock of a transaction that writes compiled things; without it two writers would each miss the other's changes. */
export const modelLock = 'platform.model';

/** Channel on which a process tells the others that it has changed the model. */
export const modelChannel = 'platform_model';
