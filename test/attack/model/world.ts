/**
 * A generated world: tables, relations, rules and rows as plain data. Everything here says what the specification says;
 * nothing of the runtime is imported, so that the two can disagree.
 */

/** Any JSON value. Cells hold values in the form that answers have. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object: a filter, or an item of an answer. */
export type JsonObject = { readonly [key: string]: Json };

/** What a column holds. `secret` is text that reads masked, `array` a list of texts. */
export type CellType =
  | 'integer'
  | 'bigInteger'
  | 'decimal'
  | 'text'
  | 'string'
  | 'boolean'
  | 'date'
  | 'timestamp'
  | 'uuid'
  | 'enum'
  | 'json'
  | 'array'
  | 'secret';

/** A column, which is also a field of the same name. */
export interface Column {
  readonly name: string;
  readonly type: CellType;
  readonly nullable: boolean;
  /** What a row has where nothing is given, and a singleton before it is written. */
  readonly default?: Json;
  /** What fills a key that is not given: sequences start at 1000. */
  readonly filled?: 'identity' | 'serial' | 'uuid';
}

/** A column here and the column there that it equals. */
export interface Pair {
  readonly from: string;
  readonly to: string;
}

/** A relation under the name the specification derives for it (API specification, section 7.1). */
export type Relation =
  | { readonly kind: 'm2o'; readonly name: string; readonly target: string; readonly on: readonly Pair[] }
  | {
      readonly kind: 'o2m';
      readonly name: string;
      readonly target: string;
      readonly on: readonly Pair[];
      readonly sort?: string;
      /** Children that cannot be without their owner are deleted when they are removed from it. */
      readonly onDeselect?: 'delete';
    }
  | {
      readonly kind: 'm2m';
      readonly name: string;
      readonly target: string;
      readonly junction: string;
      readonly near: readonly Pair[];
      readonly far: readonly Pair[];
      readonly sort?: string;
    }
  | {
      readonly kind: 'm2a';
      readonly name: string;
      /** The table of the link rows. */
      readonly target: string;
      readonly on: readonly Pair[];
      readonly kindField: string;
      readonly itemField: string;
      readonly allowed: readonly string[];
      readonly sort?: string;
    };

/** A foreign key: the columns of `on` point at the key of `target`. */
export interface ForeignKey {
  readonly target: string;
  readonly on: readonly Pair[];
}

/** A table with its relations. */
export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
  readonly foreignKeys: readonly ForeignKey[];
  /** Columns that no two rows share, beside the key. */
  readonly unique?: readonly string[];
  readonly relations: readonly Relation[];
  readonly sort?: string;
  readonly singleton?: true;
}

/** One read rule. A null filter grants every row. */
export interface Rule {
  readonly fields: readonly string[];
  readonly filter: JsonObject | null;
}

/** Who asks: keys in text form, null when there is none. */
export interface Asker {
  readonly user: string | null;
  readonly role: string | null;
}

/** Tables, and what one role may read of them. */
export interface World {
  readonly tables: ReadonlyMap<string, Table>;
  /** By table; a table without rules is private. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  readonly asker: Asker;
}

/** One row by column. */
export type Row = { readonly [column: string]: Json };

/** The rows of every table. */
export type Rows = ReadonlyMap<string, readonly Row[]>;

/** The labels of the one enum, in its order. */
export const labels = ['mid', 'low', 'high'] as const;

/** A table that must be there. */
export function tableOf({ tables }: World, name: string): Table {
  const table = tables.get(name);
  if (table === undefined) throw new Error(`there is no table ${name}`);
  return table;
}

/** The column of a field; undefined for relations without one. */
export function columnOf(table: Table, name: string): Column | undefined {
  return table.columns.find((column) => column.name === name);
}

/** A relation by name. */
export function relationOf(table: Table, name: string): Relation | undefined {
  return table.relations.find((relation) => relation.name === name);
}

/** Names of the fields and of the relations that have no column. */
export function namesOf(table: Table): readonly string[] {
  return [...new Set([...table.columns, ...table.relations].map(({ name }) => name))];
}

/** Whether the columns here equal those there; null equals nothing. */
export function isJoined(on: readonly Pair[], here: Row, there: Row): boolean {
  return on.every(({ from, to }) => here[from] !== null && here[from] === there[to]);
}

/** The key of a row as text, unlike for unlike keys. */
export function keyText(table: Table, row: Row): string {
  return JSON.stringify(table.key.map((name) => row[name]));
}
