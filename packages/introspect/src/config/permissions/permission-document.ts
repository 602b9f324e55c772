import type { JsonValue } from '@tablewright/runtime/language';
import type { PlacedName, SourceNode } from '../yaml/source.ts';

/** The permissions file as written, names not yet looked up in the database. Plain data: it is sent to other threads. */
export interface PermissionDocument {
  /** For places: `permissions.yaml`. */
  readonly fileName: string;
  readonly roles: readonly RoleSource[];
  /** In the order of the file. */
  readonly rules: readonly RuleSource[];
  /** Rights to call functions, in the order of the file. Absent where there are none. */
  readonly functions?: readonly CallSource[];
}

/** The right of a role to call a function, with the arguments that the server sets. */
export interface CallSource {
  readonly role: PlacedName;
  readonly function: PlacedName;
  readonly args: readonly PresetSource[];
}

/** One entry under `roles`. */
export interface RoleSource extends PlacedName {
  readonly description: string | null;
  readonly admin: boolean;
  readonly app: boolean;
}

/** Actions that rules grant. */
export type Action = 'create' | 'read' | 'update' | 'delete';

/** Every action, in the order of the schema. */
export const actions: readonly Action[] = ['create', 'delete', 'read', 'update'];

/** One rule: `role`, `collection` and `action` lead to it. */
export interface RuleSource {
  readonly role: PlacedName;
  readonly collection: PlacedName;
  readonly action: Action;
  readonly place: string;
  /** Null: the rule names none. `true` in the file reads as `*`. */
  readonly fields: readonly PlacedName[] | null;
  readonly filter: PlacedValue | null;
  readonly validation: PlacedValue | null;
  readonly presets: readonly PresetSource[];
  /** Set on a rule for delete that removes archived items for good. */
  readonly purge?: true;
  /** The rule of another role that this one repeats word for word, if known: conclusions about one hold for both. */
  readonly like?: RuleSource;
}

/** A value the server sets. */
export interface PresetSource {
  readonly field: PlacedName;
  readonly value: PlacedValue;
}

/** A JSON value and where its parts are written; `placeIn` looks a part up. */
export interface PlacedValue {
  /** Numbers that a double does not hold are texts here. */
  readonly value: JsonValue;
  /** The value as a text of JSON, where it holds such numbers. */
  readonly exact?: string;
  readonly place: string;
  /** The text that was read, with the places of its parts. Null where all of it has one place, as in a row of a table. */
  readonly source: SourceNode | null;
  /** Lines that the value stands below `source`, where it repeats the text of an earlier one. */
  readonly lines: number;
}
