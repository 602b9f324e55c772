/** Rows while a model writes them: what they were, what they become, and who decided so. */
import type { Json, Pair, Row, Rows, Table } from '../model/world.ts';

/** A change of one row, as far as rules ask about it. */
export interface Change {
  readonly action: 'create' | 'update' | 'delete';
  /** Names that rules must grant. */
  readonly names: readonly string[];
}

/** One row. */
export interface Item {
  readonly table: Table;
  /** Undefined for one that the request makes. */
  readonly before: Row | undefined;
  readonly row: Record<string, Json>;
  gone: boolean;
  readonly changes: Change[];
  /** How often the payload says something of its own cells. */
  said: number;
  /** By foreign key: the item it was placed below. */
  readonly placed: Map<string, Item>;
  /** Foreign keys that a removal took from it. */
  readonly left: Set<string>;
}

/** A place in order that the server chooses: above those that stay and those chosen before. */
export interface Order {
  readonly column: string;
  readonly owner: Item;
  /** How items are joined with their owner. */
  readonly on: readonly Pair[];
  /** Items that stay where they are, below the chosen ones, if they stay. */
  readonly staying: readonly Item[];
  readonly chosen: readonly Item[];
}

/** All rows. */
export interface State {
  items(table: string): readonly Item[];
  find(table: string, key: readonly Json[]): Item | undefined;
  add(table: Table): Item;
  /** A value that the database chooses. */
  symbol(): string;
}

/** Whether a cell's value is the database's choice. */
export function isSymbol(value: Json | undefined): value is string {
  return typeof value === 'string' && value.startsWith('#');
}

/** Starts from stored rows. */
export function createState(tables: ReadonlyMap<string, Table>, rows: Rows): State {
  const all = new Map<string, Item[]>();
  for (const table of tables.values()) {
    const own = (rows.get(table.name) ?? []).map((row) => newItem(table, row));
    all.set(table.name, own);
  }
  let symbols = 0;
  return {
    items: (table) => all.get(table) ?? [],
    find: (table, key) =>
      (all.get(table) ?? []).find((item) => item.table.key.every((name, part) => item.row[name] === key[part])),
    add(table) {
      const item = newItem(table, undefined);
      all.get(table.name)?.push(item);
      return item;
    },
    symbol: () => `#${symbols++}`,
  };
}

function newItem(table: Table, before: Row | undefined): Item {
  return { table, before, row: { ...before }, gone: false, changes: [], said: 0, placed: new Map(), left: new Set() };
}

/** The rows that are left. */
export function rowsOf(tables: ReadonlyMap<string, Table>, state: State): Rows {
  return new Map(
    [...tables.keys()].map((name) => [name, state.items(name).flatMap(({ gone, row }) => (gone ? [] : [row]))]),
  );
}
