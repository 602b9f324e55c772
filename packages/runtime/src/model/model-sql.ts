/** SQL of changes of the model: one record for each family of servers (`docs/decisions/model-changes.md`). */
import type { PlatformError } from '../errors.ts';
import type {
  CollectionDescriptor,
  ColumnPair,
  CompiledApi,
  FieldDescriptor,
  JsonValue,
  ModelCollection,
  ModelDocument,
  PortableType,
  ValueType,
} from '../language/index.ts';
import type { Payload } from './payload.ts';

export interface NewColumn {
  readonly name: string;
  readonly sql: string;
  /** True if it counts by itself (auto-increment). */
  readonly counts: boolean;
  /** Its default as SQL; null for none. */
  readonly valueSource: string | null;
  readonly required: boolean;
  readonly unique: boolean;
  readonly comment: string | null;
}

interface NewTable {
  /** As `tableName` gives it. */
  readonly table: string;
  /** As `column` prints them; null for the key that counts by itself, alone. */
  readonly columns: readonly string[] | null;
  /** Names of the columns of the key. */
  readonly key: readonly string[];
  readonly comment: string | null;
}

export interface NewForeignKey {
  /** The table that it leads to, quoted. */
  readonly target: string;
  readonly on: readonly ColumnPair[];
  readonly onUpdate: string;
  readonly onDelete: string;
}

export interface NewType {
  readonly type: PlainTypeName;
  readonly sql: string;
  /** The new default as SQL; null for none, undefined where it stays. */
  readonly valueSource: string | null | undefined;
  /** Error where values would be lost; null where they may be. */
  readonly refusal: Extract<ModelStep, { kind: 'check' }>['refusal'] | null;
}

/** Tables whose rows describe the model, with the key of a row. */
export type ModelTable = 'platform_collections' | 'platform_fields' | 'platform_relations';

/** A type, with the digits behind its seconds. */
export type ComputedType = Pick<FieldDescriptor, 'type' | 'precision'>;

/** Statements for changes of the model. Found tables and columns are quoted as descriptors have them; names are not. */
export interface ModelSql {
  /** Value of `special` in the row of a field of such a type: how the column is read. */
  specialOf(type: ColumnTypeName): readonly string[] | undefined;
  /**
   * Prints a type. In `schema` null is no limit beside a `data_type`, and `values` are those of a set. Throws
   * INVALID_PAYLOAD for what it cannot be made of.
   */
  columnSql(type: PlainTypeName, schema: Payload, values?: readonly string[]): string;
  /** The type of an enum, and what is made in front of it. `names` are those of the collection and the field. */
  enumType(
    location: ModelPlace,
    typesIn: string,
    names: readonly string[],
    values: readonly string[],
  ): { readonly sql: string; readonly before: readonly ModelStep[] };
  /** The type of an array, and of its elements. Throws INVALID_PAYLOAD. */
  arrayType(schema: Payload): { readonly sql: string; readonly of: PortableType };
  /** A default that the database computes, as SQL; undefined for what is none. */
  computedDefault(valueType: ComputedType, value: JsonValue): string | undefined;
  /** An expression as the SQL of a default. */
  expressionDefault(expression: string): string;
  /** A value, in the text form of its type, as the SQL of a default. */
  defaultLiteral(type: ValueType, text: string): string;

  tableName(schema: string, name: string): string;
  column(column: NewColumn): string;
  createTable(table: NewTable, location: ModelPlace): readonly ModelStep[];
  dropTable(table: string, location: ModelPlace): readonly ModelStep[];
  /** Selects whether a table has no row, or none of which the condition holds. */
  isEmpty(table: string, condition?: string): string;
  addColumn(table: string, column: string, location: ModelPlace): readonly ModelStep[];
  /** Says the comment of a column that was made, where its definition does not. */
  commentNew(table: string, column: NewColumn, location: ModelPlace): readonly ModelStep[];
  dropColumn(model: KnownModel, found: FoundColumn): readonly ModelStep[];
  dropEnums(model: KnownModel, collection: string, fields: readonly FieldDescriptor[]): readonly ModelStep[];

  /** Adds values to an enum; `values` are all that it has then. */
  addValues(found: FoundColumn, values: readonly string[], added: readonly string[]): readonly ModelStep[];
  setType(found: FoundColumn, type: NewType): readonly ModelStep[];
  /** Null takes it away. */
  setDefault(found: FoundColumn, backfill: string | null): readonly ModelStep[];
  setRequired(found: FoundColumn, required: boolean): readonly ModelStep[];
  addUnique(found: FoundColumn): readonly ModelStep[];
  dropUnique(found: FoundColumn, name: string): readonly ModelStep[];
  setComment(found: FoundColumn, comment: string | null): readonly ModelStep[];

  /** `names` are those of the table and the column, of which the key's is made. */
  addForeignKey(found: FoundMember, names: readonly string[], key: NewForeignKey): readonly ModelStep[];
  /** Gives a foreign key other actions; `before` is how it is now. */
  replaceForeignKey(found: FoundMember, name: string, key: NewForeignKey, before: NewForeignKey): readonly ModelStep[];
  /** `before` is the key as it is now; undefined where that is unknown. */
  dropForeignKey(found: FoundMember, name: string, before: NewForeignKey | undefined): readonly ModelStep[];

  /** Prints the statement that writes a row, or changes members of the one of `key`. `json` names those of JSON. */
  saveRow(
    schema: string,
    table: ModelTable,
    key: Readonly<Record<string, string>>,
    members: readonly (readonly [string, JsonValue])[],
    json: ReadonlySet<string>,
  ): string;
  /** Selects whether there is no row with these values. `schema` is quoted. */
  hasNoRow(schema: string, table: ModelTable, key: Readonly<Record<string, string>>): string;
  /** Prints the statement that gives the row about a field another name. `schema` is quoted. */
  renameField(schema: string, key: { readonly collection: string; readonly field: string }, name: string): string;
  /** Prints the statement that takes rows away whose members have these values. */
  dropRows(schema: string, table: string, key: Readonly<Record<string, string>>): string;
}

export interface KnownModel {
  readonly api: CompiledApi;
  /** As administrators see it. */
  readonly document: ModelDocument;
  /** The schema of the platform's own tables, quoted; empty where they lie beside the others. */
  readonly systemSchema: string;
  /** The schema that new tables lie in. */
  readonly schema: string;
  /** True if the change may lose rows and values, as the request allows. */
  readonly discard: boolean;
  readonly sql: ModelSql;
}

/** A step of a change. Names are quoted and values are literals in it, so that a migration can repeat it. */
export type ModelStep =
  /** A write into the platform's own tables, or a change in a transaction; changes outside of one are `TableStep`s. */
  | { readonly kind: 'run'; readonly sql: string; readonly place: ModelPlace }
  /** Selects one boolean; where it is false the change is refused. No migration repeats it. */
  | { readonly kind: 'check'; readonly sql: string; readonly place: ModelPlace; readonly refusal: PlatformError }
  | TableStep;

/** A collection with its table, which is no view and not the platform's own. */
export interface FoundTable {
  readonly collection: string;
  readonly modelCollection: ModelCollection;
  readonly descriptor: CollectionDescriptor;
}

/** A field, or a relation of several fields, which has a name of its own. */
export interface FoundMember extends FoundTable {
  readonly field: string;
}

export interface FoundColumn extends FoundMember {
  readonly column: FieldDescriptor;
  /** The `schema` of the field as it is told. */
  readonly schema: Payload;
  readonly type: string;
}

/** A column without its name. */
export interface ColumnDefinition {
  /** With what says how texts are compared: `varchar(40) COLLATE utf8mb4_bin`. */
  readonly type: string;
  readonly nullable: boolean;
  /** SQL; null for none. */
  readonly default: string | null;
  /** A literal; null for none. */
  readonly comment: string | null;
  /** A condition in parentheses, which a server may keep with the column; null for none. */
  readonly check: string | null;
  /** All other parts: `AUTO_INCREMENT`, `ON UPDATE current_timestamp()`. */
  readonly rest: readonly string[];
  /** True if the database computes it. */
  readonly generated: boolean;
}

export type AlterPart =
  | {
      readonly kind: 'do';
      readonly sql: string;
      /** Parts that undo it; null where nothing does, because what goes is lost. */
      readonly undo: string | null;
      /** The foreign key that goes: a copy of the table has none. */
      readonly dropsKey?: string;
      /** The index that it makes; where there is one of that name the part is left out. */
      readonly makesIndex?: string;
    }
  /** Describes a column anew. `lossy`: values may be lost by it, and texts cut. */
  | {
      readonly kind: 'modify';
      /** As SQL names it. */
      readonly column: string;
      readonly to: (definition: ColumnDefinition) => ColumnDefinition;
      /** Completes the definition that the server prints. */
      readonly whole: (definition: ColumnDefinition) => ColumnDefinition;
      readonly lossy?: boolean;
    };

type TableStep =
  /** `definition` stands after the name of the table. */
  | { readonly kind: 'create'; readonly table: string; readonly definition: string; readonly place: ModelPlace }
  | { readonly kind: 'drop'; readonly table: string; readonly place: ModelPlace }
  | { readonly kind: 'alter'; readonly table: string; readonly part: AlterPart; readonly place: ModelPlace }
  /** Refuses the change unless every value of a column comes back from another type as it was. */
  | {
      readonly kind: 'fit';
      readonly table: string;
      readonly column: string;
      /** The other type, with what it must satisfy: `tinyint(1) CHECK (…)`, its column being `fresh`. */
      readonly type: string;
      readonly place: ModelPlace;
      readonly refusal: PlatformError;
    };

/** Collection and field that an error of the database is told about. */
export interface ModelPlace {
  readonly collection: string;
  readonly field: string | null;
}

/** Types that need more than their name, or that no column is made of. */
export const specialTypes = ['enum', 'array', 'composite', 'geometry', 'vector', 'token', 'unknown'] as const;

/** A type that columns can be made of by its name. */
export type PlainTypeName = Exclude<PortableType, (typeof specialTypes)[number]>;

export type ColumnTypeName = PlainTypeName | 'enum' | 'array';

/** Table that a draft stands for, in names that are not quoted. */
export interface TableDraft {
  /** `public` for the database of the connection. */
  readonly schema: string;
  readonly table: string;
  /** The copy; null where the table goes. */
  readonly draft: string | null;
  /** True if the table is there already. */
  readonly stands: boolean;
  /** Foreign keys that it loses: a copy has those only that the change adds. */
  readonly droppedKeys: readonly string[];
}
