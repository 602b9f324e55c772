/** What payloads are drawn with, and the rows that they name. */
import type { Draw } from '../model/draw.ts';
import { columnOf, isJoined, type Json, type Relation, type Row, type Rows, type Table } from '../model/world.ts';
import type { TreeWorld } from './draw-world.ts';

/** An item of a body. */
export type Payload = Record<string, Json>;

/** What a tree is drawn with. */
export interface Drawing {
  readonly draw: Draw;
  readonly world: TreeWorld;
  readonly rows: Rows;
  /** Whether the payload may say what is refused or contradicts itself. */
  readonly wild: boolean;
  /** Rows that the payload says something of. */
  readonly used: Set<Row>;
  /** A number that nothing in the database has. */
  fresh(): number;
  /** Whether the payload is large enough already. */
  full(): boolean;
}

/** The values of a row's key. */
export function keyOf(table: Table, row: Row): readonly Json[] {
  return table.key.map((name) => row[name] ?? null);
}

/** The key of a row as a payload names it. */
export function keyObject(table: Table, row: Row): Payload {
  return Object.fromEntries(table.key.map((name) => [name, row[name] ?? null]));
}

/** The key of a row as an address names it. */
export function keyPath(table: Table, row: Row): string {
  return keyOf(table, row)
    .map((part) => encodeURIComponent(String(part)))
    .join(',');
}

/** A key as arrays take it: numbers as text at times, several values as a path or an object. */
export function bareKey(draw: Draw, table: Table, row: Row): Json {
  if (table.key.length > 1) return keyPath(table, row);
  const [value = null] = keyOf(table, row);
  return typeof value === 'number' && draw.chance(15) ? String(value) : value;
}

/** A stored row that the payload has said nothing of yet. */
export function takeRow(drawing: Drawing, table: Table, among?: readonly Row[]): Row | undefined {
  const { draw, rows, used, wild } = drawing;
  const all = among ?? rows.get(table.name) ?? [];
  const free = wild && draw.chance(15) ? all : all.filter((row) => !used.has(row));
  if (free.length === 0) return undefined;
  const row = draw.pick(free);
  used.add(row);
  return row;
}

/** A key that no row has. */
export function missingKey(table: Table): Json {
  const type = columnOf(table, table.key[0] ?? '')?.type;
  if (type === 'integer') return 777_777;
  return type === 'uuid' ? 'c0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' : 'nobody';
}

/** The stored rows that a relation leads to. */
export function membersOf({ rows }: Drawing, relation: Exclude<Relation, { kind: 'm2o' }>, row: Row): readonly Row[] {
  const targets = rows.get(relation.target) ?? [];
  if (relation.kind !== 'm2m') return targets.filter((one) => isJoined(relation.on, row, one));
  const pairs = (rows.get(relation.junction) ?? []).filter((pair) => isJoined(relation.near, row, pair));
  return targets.filter((one) => pairs.some((pair) => isJoined(relation.far, pair, one)));
}

/** The table whose rows hold a relation. */
export function heldBy(relation: Relation): string {
  return relation.kind === 'm2m' ? relation.junction : relation.target;
}

/** Whether children can neither be without their owner nor be deleted. */
export function isBinding(target: Table, relation: Relation): boolean {
  if (relation.kind !== 'o2m' || relation.onDeselect === 'delete') return false;
  return relation.on.every(({ to }) => columnOf(target, to)?.nullable !== true);
}
