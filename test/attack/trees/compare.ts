/** What a database holds, and whether that is what a model says: keys and places in order are the database's to choose. */
import { isJoined, type Json, type Row, type Rows, type Table } from '../model/world.ts';
import { mark } from './draw-tables.ts';
import { type Item, isSymbol, type Order } from './state.ts';

type Symbols = Map<string, Json>;

/** Reads every table; cells in the form that answers have. */
export async function readRows(
  tables: ReadonlyMap<string, Table>,
  query: (sql: string) => Promise<readonly { readonly row: Row }[]>,
): Promise<Rows> {
  const rows = new Map<string, readonly Row[]>();
  for (const name of tables.keys()) {
    rows.set(
      name,
      (await query(`SELECT to_json(t) AS row FROM "${name}" t`)).map(({ row }) => row),
    );
  }
  return rows;
}

/** Rows in an order of their own, so that two databases can be compared. */
export function sorted(rows: Rows): readonly string[] {
  const text = (row: Row): string =>
    JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)));
  return [...rows].flatMap(([name, own]) => own.map((row) => `${name} ${text(row)}`)).sort();
}

/** Rows that only one of two databases has, told for people; empty where they are the same. */
export function differences(wanted: Rows, found: Rows): string {
  const [one, other] = [sorted(wanted), sorted(found)];
  const missing = one.filter((text) => !other.includes(text)).map((text) => `- ${text}`);
  const more = other.filter((text) => !one.includes(text)).map((text) => `+ ${text}`);
  return [...missing, ...more].join('\n');
}

/** The model's rows with what the database chose in them. */
export function resolved(tables: ReadonlyMap<string, Table>, model: Rows, stored: Rows): Rows {
  const symbols: Symbols = new Map();
  // Rows that are told apart by what they are called come before those that join them.
  for (const one of [mark, undefined]) {
    for (const [name, table] of tables) {
      const isMarked = table.columns.some((column) => column.name === mark);
      if (isMarked !== (one === mark)) continue;
      for (const row of model.get(name) ?? []) learn(symbols, table, row, stored.get(name) ?? []);
    }
  }
  return new Map([...model].map(([name, own]) => [name, own.map((row) => filled(symbols, row))]));
}

function learn(symbols: Symbols, table: Table, row: Row, stored: readonly Row[]): void {
  const own = filled(symbols, row);
  if (!Object.values(own).some(isSymbol)) return;
  const names =
    table.columns.some(({ name }) => name === mark) && own[mark] !== null ? [mark] : (table.unique ?? table.key);
  const twin = stored.find((one) => names.every((name) => one[name] === own[name]));
  if (twin === undefined) return;
  for (const [name, value] of Object.entries(own)) if (isSymbol(value)) symbols.set(value, twin[name] ?? null);
}

function filled(symbols: Symbols, row: Row): Row {
  const cells = Object.entries(row).map(([name, value]): [string, Json] => {
    const known = isSymbol(value) ? symbols.get(value) : undefined;
    if (known === undefined) return [name, value];
    // Links keep keys as text.
    return [name, name === 'item' || name === 'thing' ? String(known) : known];
  });
  return Object.fromEntries(cells);
}

/** What is wrong with the places that the server chose; undefined when they are in order. */
export function misplaced(
  tables: ReadonlyMap<string, Table>,
  orders: readonly Order[],
  model: Rows,
  rows: Rows,
): string | undefined {
  const places = new Map<Row, Row>();
  for (const name of tables.keys()) {
    for (const [index, row] of (model.get(name) ?? []).entries()) places.set(row, rows.get(name)?.[index] ?? {});
  }
  for (const { column, owner, on, staying, chosen } of orders) {
    const value = (row: Row): number | null => {
      const found = places.get(row)?.[column];
      return typeof found === 'number' ? found : null;
    };
    const stays = ({ gone, before, row }: Item): boolean =>
      !gone &&
      before !== undefined &&
      before[column] === row[column] &&
      isJoined(on, owner.row, before) &&
      isJoined(on, owner.row, row);
    const below = staying.filter(stays).map(({ row }) => value(row) ?? 0);
    let last = Math.max(0, ...below);
    for (const item of chosen) {
      if (item.gone) continue;
      const place = value(item.row);
      if (place === null || place <= last) return `${item.table.name}.${column}: ${place} is not above ${last}`;
      last = place;
    }
  }
  return undefined;
}
