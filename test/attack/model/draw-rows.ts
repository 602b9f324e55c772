/** Draws rows that keep to the keys of their tables: few values, many nulls, many ties. */
import type { Draw } from './draw.ts';
import { pools } from './values.ts';
import {
  type CellType,
  type Column,
  columnOf,
  type Json,
  type Row,
  type Rows,
  type Table,
  type World,
} from './world.ts';

/** Draws the rows of every table; tables come before the junctions and links that point at them. */
export function drawRows(draw: Draw, tables: World['tables']): Rows {
  const sizes = new Map([...tables.values()].map((table) => [table.name, sizeOf(draw, table)]));
  const keys = new Map([...tables.values()].map((table) => [table.name, keysOf(table, sizes.get(table.name) ?? 0)]));
  const rows = new Map<string, readonly Row[]>();
  for (const table of tables.values()) {
    const drawn = (keys.get(table.name) ?? []).map((key) => drawRow(draw, table, key, tables, keys));
    rows.set(table.name, withoutTwins(table, drawn));
  }
  return rows;
}

function sizeOf(draw: Draw, { name, singleton }: Table): number {
  if (singleton === true) return draw.integer(0, 2);
  return name.startsWith('t') ? draw.integer(1, 14) : draw.integer(0, 24);
}

/** Keys of a table whose key is no foreign key: numbered, in the form of their type. */
function keysOf({ key, columns }: Table, size: number): readonly Row[] {
  return Array.from({ length: size }, (_, index) =>
    Object.fromEntries(
      key.map((name, place) => [
        name,
        keyValue(
          columns.find((column) => column.name === name),
          index,
          place,
        ),
      ]),
    ),
  );
}

/** Keys that paths have to encode are among them. */
const textKeys = ['k', 'a,b', 'x/y', 'ä', '100%', ' '];

function keyValue(column: Column | undefined, index: number, place: number): Json {
  const type = column?.type ?? 'integer';
  if (type === 'uuid') return `a0eebc99-9c0b-4ef8-bb6d-6bb9bd38${String(index + 10).padStart(4, '0')}`;
  if (type === 'text') return `${textKeys[index % textKeys.length]}${index >= textKeys.length ? index : ''}`;
  return place === 0 ? index + 1 : index % 3;
}

/** Draws one row around its key. Foreign keys lead to rows that are there. */
export function drawRow(
  draw: Draw,
  table: Table,
  key: Row,
  tables: World['tables'],
  keys: ReadonlyMap<string, readonly Row[]>,
): Row {
  const cells = table.columns.map(({ name, type, nullable }): [string, Json] => [
    name,
    key[name] ?? drawCell(draw, table, name, type, nullable, tables),
  ]);
  return { ...Object.fromEntries(cells), ...drawReferences(draw, table, keys), ...linkOf(draw, table, tables, keys) };
}

/** Draws the value of a column that is no reference. */
function drawCell(
  draw: Draw,
  table: Table,
  name: string,
  type: CellType,
  nullable: boolean,
  _tables: World['tables'],
): Json {
  const isReference = table.foreignKeys.some(({ on }) => on.some(({ from }) => from === name));
  if (isReference || (nullable && draw.chance(30))) return null;
  return draw.pick(pools[type]);
}

function drawReferences(draw: Draw, table: Table, keys: ReadonlyMap<string, readonly Row[]>): Row {
  const cells = table.foreignKeys.flatMap(({ target, on }) => {
    const targets = keys.get(target) ?? [];
    const nullable = on.every(({ from }) => columnOf(table, from)?.nullable === true);
    if (targets.length === 0 || (nullable && draw.chance(25))) return [];
    const reference = draw.pick(targets);
    // A key of several columns of which one is null leads nowhere.
    const gap = nullable && on.length > 1 && draw.chance(15) ? draw.pick(on).from : undefined;
    return on.map(({ from, to }): [string, Json] => [from, from === gap ? null : (reference[to] ?? null)]);
  });
  return Object.fromEntries(cells);
}

/** A link row names a collection and a key in it; some name nothing that there is. */
function linkOf(draw: Draw, table: Table, tables: World['tables'], keys: ReadonlyMap<string, readonly Row[]>): Row {
  const link = [...tables.values()]
    .flatMap(({ relations }) => relations)
    .find(({ kind, target }) => kind === 'm2a' && target === table.name);
  if (link?.kind !== 'm2a') return {};
  const kind = draw.pick([...link.allowed, ...link.allowed, 'nothing', null]);
  const [key = ''] = tables.get(kind ?? '')?.key ?? [];
  const items = keys.get(kind ?? '') ?? [];
  const item = items.length > 0 && draw.chance(85) ? String(draw.pick(items)[key]) : draw.pick(['stray', null, '1']);
  return { [link.kindField]: kind, [link.itemField]: item };
}

/** Rows without those whose key, or whose unique columns, another row has. */
export function withoutTwins(table: Table, rows: readonly Row[]): readonly Row[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const keys = [table.key, ...(table.unique === undefined ? [] : [table.unique])];
    const texts = keys.map((columns, index) => JSON.stringify([index, ...columns.map((name) => row[name])]));
    if (texts.some((text) => seen.has(text))) return false;
    for (const text of texts) seen.add(text);
    return true;
  });
}
