/** Draws a world to write into: tables, rows, and what one role may read and write of them. */
import type { Draw } from '../model/draw.ts';
import {
  type Json,
  type JsonObject,
  namesOf,
  type Row,
  type Rows,
  type Rule,
  type Table,
  type World,
} from '../model/world.ts';
import { drawTreeTables, mark, number } from './draw-tables.ts';

/** One rule of an action that makes or changes items. */
export interface WriteRule extends Rule {
  /** What the written row must satisfy; null: on an update, the filter. */
  readonly validation: JsonObject | null;
  readonly presets: Row;
}

/** What a role may write of a table. */
export interface WriteRules {
  readonly create: readonly WriteRule[];
  readonly update: readonly WriteRule[];
  readonly delete: readonly { readonly filter: JsonObject | null }[];
}

/** A world whose rows are written. */
export interface TreeWorld extends World {
  readonly tables: ReadonlyMap<string, Table>;
  /** By table; null for somebody who may do everything. */
  readonly writes: ReadonlyMap<string, WriteRules> | null;
}

/** Tables, rules and rows. */
export interface PopulatedTrees {
  readonly world: TreeWorld;
  readonly rows: Rows;
}

/** Draws a world with its rows; `restricted`: with rules for a role. */
export function drawTreeWorld(draw: Draw, restricted: boolean): PopulatedTrees {
  const tables = drawTreeTables(draw);
  const rows = drawTreeRows(draw, tables);
  const asker = { user: null, role: null };
  if (!restricted) return { world: { tables, rules: new Map(), asker, writes: null }, rows };
  const all = [...tables.values()];
  const rules = new Map(all.map((table) => [table.name, drawReads(draw, table)]));
  const writes = new Map(all.map((table) => [table.name, drawWrites(draw, table)]));
  return { world: { tables, rules, asker, writes }, rows };
}

function drawReads(draw: Draw, table: Table): readonly Rule[] {
  if (draw.chance(8)) return [];
  const fields = namesOf(table);
  const filter = draw.chance(45) ? drawCondition(draw, table) : null;
  return [{ fields, filter }];
}

function drawWrites(draw: Draw, table: Table): WriteRules {
  const create = draw.chance(85) ? [drawRule(draw, table, false)] : [];
  const update = Array.from({ length: draw.pick([1, 2, 1, 1, 0]) }, () => drawRule(draw, table, true));
  const condition = (): { filter: JsonObject | null } => ({
    filter: draw.chance(30) ? drawCondition(draw, table) : null,
  });
  return { create, update, delete: draw.chance(80) ? [condition()] : [] };
}

function drawRule(draw: Draw, table: Table, stored: boolean): WriteRule {
  const whole = draw.chance(55);
  const names = namesOf(table).filter(() => whole || draw.chance(85));
  const validation = draw.chance(35) ? (draw.chance(30) ? {} : drawCondition(draw, table)) : null;
  const presets: Row = draw.chance(15) && table.columns.some(({ name }) => name === 'owner') ? { owner: 'me' } : {};
  return {
    fields: withWholeKeys(table, names),
    filter: stored && draw.chance(40) ? drawCondition(draw, table) : null,
    validation: validation === null && !stored && draw.chance(50) ? {} : validation,
    presets,
  };
}

/** A relation of several columns is granted with all of them, or not at all. */
function withWholeKeys(table: Table, names: readonly string[]): readonly string[] {
  const torn = table.relations.flatMap((relation) => {
    if (relation.kind !== 'm2o' || relation.on.length === 1) return [];
    const parts = [relation.name, ...relation.on.map(({ from }) => from)];
    return parts.every((part) => names.includes(part)) ? [] : parts;
  });
  return names.filter((name) => !torn.includes(name) || table.key.includes(name));
}

function drawCondition(draw: Draw, table: Table): JsonObject {
  if (table.columns.some(({ name }) => name === 'owner')) {
    return draw.pick<JsonObject>([
      { owner: { _eq: 'me' } },
      { owner: { _neq: 'hidden' } },
      { [number]: { _lt: 5 } },
      { _or: [{ [number]: { _null: true } }, { [number]: { _lt: 9 } }] },
    ]);
  }
  const [name, value] = table.columns.some((column) => column.name === 'x') ? ['x', 'no'] : [mark, 'no'];
  return { _or: [{ [name]: { _null: true } }, { [name]: { _neq: value } }] };
}

/** Rows that keep to all keys; none of them is called like one that a request makes. */
function drawTreeRows(draw: Draw, tables: ReadonlyMap<string, Table>): Rows {
  const rows = new Map<string, readonly Row[]>();
  // Self references lead to rows drawn before; references to later tables lead nowhere.
  for (const table of tables.values()) {
    const own: Row[] = [];
    rows.set(table.name, own);
    for (let index = 0, count = draw.integer(2, 6); index < count; index++) {
      const row = drawRow(draw, tables, table, rows, index);
      const key = (one: Row): string => JSON.stringify(table.key.map((name) => one[name]));
      const pair = (one: Row): string => JSON.stringify(table.unique?.map((name) => one[name]));
      const twin = own.some((one) => key(one) === key(row) || (table.unique && pair(one) === pair(row)));
      if (row !== undefined && !twin) own.push(row);
    }
  }
  return rows;
}

function drawRow(draw: Draw, tables: ReadonlyMap<string, Table>, table: Table, rows: Rows, index: number): Row {
  const cells = table.columns.map(({ name, type, nullable }): [string, Json] => {
    if (name === mark) return [name, `${table.name}r${index}`];
    if (name === number) return [name, draw.pick(nullable ? [1, 4, 6, null] : [1, 4, 6])];
    if (name === 'owner') return [name, draw.pick(['me', 'me', 'you', 'hidden'])];
    if (name === 'u') return [name, `${table.name}u${index}`];
    if (name === 'x') return [name, draw.pick(['d', 'no', null])];
    if (/^s\d?$/.test(name)) return [name, draw.chance(80) ? index + 1 : null];
    return [name, table.key.includes(name) && type !== 'integer' ? keyText(table, type, index) : null];
  });
  const key: Row = Object.fromEntries(
    table.key.flatMap((name, place): [string, Json][] =>
      table.columns.find((column) => column.name === name)?.type === 'integer'
        ? [[name, place === 0 ? index + 1 : index % 2]]
        : [],
    ),
  );
  const row: Row = { ...Object.fromEntries(cells), ...key };
  return { ...row, ...drawReferences(draw, table, rows), ...drawLink(draw, tables, table, rows) };
}

function keyText(table: Table, type: string, index: number): string {
  if (type === 'uuid') return `a0eebc99-9c0b-4ef8-bb6d-6bb9bd38${String(index + 10).padStart(4, '0')}`;
  return ['k', 'a,b', 'x/y', 'ä"\\', 'NULL', '{}'][index % 6] ?? table.name;
}

function drawReferences(draw: Draw, table: Table, rows: Rows): Row {
  const cells = table.foreignKeys.flatMap(({ target, on }) => {
    const targets = rows.get(target) ?? [];
    const nullable = on.every(({ from }) => table.columns.find(({ name }) => name === from)?.nullable === true);
    if (targets.length === 0 || (nullable && draw.chance(25))) return [];
    const reference = draw.pick(targets);
    return on.map(({ from, to }): [string, Json] => [from, reference[to] ?? null]);
  });
  return Object.fromEntries(cells);
}

function drawLink(draw: Draw, tables: ReadonlyMap<string, Table>, table: Table, rows: Rows): Row {
  const relations = [...tables.values()].flatMap(({ relations: own }) => own);
  const link = relations.find(({ kind, target }) => kind === 'm2a' && target === table.name);
  if (link?.kind !== 'm2a') return {};
  const kind = draw.pick(link.allowed);
  const item = draw.pick(rows.get(kind) ?? []);
  return { [link.kindField]: kind, [link.itemField]: String(item.id) };
}
