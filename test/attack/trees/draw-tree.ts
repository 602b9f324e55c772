/** Draws requests that write trees: every form of every relation, to any depth, and some that must be refused. */
import type { Draw } from '../model/draw.ts';
import {
  type Column,
  columnOf,
  isJoined,
  type Json,
  type Relation,
  type Row,
  type Rows,
  type Table,
  tableOf,
} from '../model/world.ts';
import { mark, number } from './draw-tables.ts';
import type { TreeWorld } from './draw-world.ts';
import type { TreeRequest } from './interpret.ts';

type Payload = Record<string, Json>;

/** What a tree is drawn with. */
interface Drawing {
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

/** Draws a request; `round` makes its names new. */
export function drawTree(draw: Draw, world: TreeWorld, rows: Rows, round: number): TreeRequest {
  let count = 0;
  const most = draw.pick([4, 8, 16, 40]);
  const drawing: Drawing = {
    draw,
    world,
    rows,
    wild: draw.chance(35),
    used: new Set(),
    fresh: () => round * 100 + count++,
    full: () => count >= most,
  };
  const table = draw.pick([...world.tables.values()].filter(({ name }) => name.startsWith('t')));
  const { name } = table;
  const form = draw.pick(['one', 'key', 'key', 'one', 'many', 'each', 'shared'] as const);
  const stored = Array.from({ length: form === 'key' ? 1 : 2 }, () => takeRow(drawing, table)).filter(
    (row) => row !== undefined,
  );
  const [first] = stored;
  if (form === 'one' || form === 'many' || first === undefined) {
    const count = form === 'many' ? 2 : 1;
    const items = Array.from({ length: count }, () => drawItem(drawing, table, undefined, [], 0));
    const body = form === 'many' ? items : (items[0] ?? {});
    return {
      method: 'POST',
      path: name,
      body,
      collection: name,
      items: items.map((payload) => ({ key: null, payload })),
    };
  }
  if (form === 'key') {
    const payload = drawItem(drawing, table, first, [], 0);
    const path = `${name}/${keyPath(table, first)}`;
    return { method: 'PATCH', path, body: payload, collection: name, items: [{ key: keyOf(table, first), payload }] };
  }
  const distinct = [...new Set(stored)];
  if (form === 'shared') {
    const payload = drawShared(drawing, table);
    const items = distinct.map((row) => ({ key: keyOf(table, row), payload }));
    return {
      method: 'PATCH',
      path: name,
      body: { keys: distinct.map((row) => bareKey(draw, table, row)), data: payload },
      collection: name,
      items,
    };
  }
  const items = distinct.map((row) => ({ key: keyOf(table, row), payload: drawItem(drawing, table, row, [], 0) }));
  const body = distinct.map((row, index) => ({ ...keyObject(table, row), ...items[index]?.payload }));
  return { method: 'PATCH', path: name, body, collection: name, items };
}

function keyOf(table: Table, row: Row): readonly Json[] {
  return table.key.map((name) => row[name] ?? null);
}

function keyObject(table: Table, row: Row): Payload {
  return Object.fromEntries(table.key.map((name) => [name, row[name] ?? null]));
}

function keyPath(table: Table, row: Row): string {
  return keyOf(table, row)
    .map((part) => encodeURIComponent(String(part)))
    .join(',');
}

/** A key as arrays take it: numbers as text at times, several values as a path or an object. */
function bareKey(draw: Draw, table: Table, row: Row): Json {
  if (table.key.length > 1) return keyPath(table, row);
  const [value = null] = keyOf(table, row);
  return typeof value === 'number' && draw.chance(15) ? String(value) : value;
}

/** A stored row that the payload has said nothing of yet. */
function takeRow(drawing: Drawing, table: Table, among?: readonly Row[]): Row | undefined {
  const { draw, rows, used, wild } = drawing;
  const all = among ?? rows.get(table.name) ?? [];
  const free = wild && draw.chance(15) ? all : all.filter((row) => !used.has(row));
  if (free.length === 0) return undefined;
  const row = draw.pick(free);
  used.add(row);
  return row;
}

/** Data for several items: what says the same of each. */
function drawShared(drawing: Drawing, table: Table): Payload {
  const { draw, rows } = drawing;
  const payload: Payload = { [number]: draw.pick([1, 3, 30]) };
  for (const relation of table.relations) {
    if (relation.kind !== 'm2m' || !draw.chance(50)) continue;
    const target = tableOf(drawing.world, relation.target);
    const keys = draw.some(rows.get(target.name) ?? [], 30).map((row) => bareKey(draw, target, row));
    payload[relation.name] = keys;
  }
  return payload;
}

/** The payload of one item; `owned` are the columns that the relation above sets. */
function drawItem(
  drawing: Drawing,
  table: Table,
  row: Row | undefined,
  owned: readonly string[],
  depth: number,
): Payload {
  const { draw } = drawing;
  const payload: Payload = row === undefined ? drawKey(drawing, table) : {};
  const references = new Set(table.foreignKeys.flatMap(({ on }) => on.map(({ from }) => from)));
  for (const column of table.columns) {
    if (table.key.includes(column.name) || references.has(column.name)) continue;
    const value = drawCell(drawing, table, column, row === undefined);
    if (value !== undefined) payload[column.name] = value;
  }
  const names = draw.chance(50) ? table.relations : table.relations.toReversed();
  for (const relation of names) {
    if (relation.kind === 'm2o') {
      if (relation.on.some(({ from }) => owned.includes(from))) continue;
      const value = drawReference(drawing, table, relation, row, depth);
      if (value !== undefined) payload[relation.name] = value;
    } else if (depth < 4 && !drawing.full() && draw.chance(depth === 0 ? 45 : 25)) {
      // A junction and links are children too: a payload says one or the other of them.
      const twins = table.relations.filter((other) => other !== relation && heldBy(other) === heldBy(relation));
      if (!drawing.wild && twins.some(({ name }) => payload[name] !== undefined)) continue;
      payload[relation.name] = drawMany(drawing, relation, row, depth);
    }
  }
  return payload;
}

/** The table whose rows hold a relation. */
function heldBy(relation: Relation): string {
  return relation.kind === 'm2m' ? relation.junction : relation.target;
}

function drawKey({ draw, fresh }: Drawing, table: Table): Payload {
  const entries = table.key.flatMap((name): [string, Json][] => {
    const column = columnOf(table, name);
    const isReference = table.foreignKeys.some(({ on }) => on.some(({ from }) => from === name));
    if (column === undefined || isReference || (column.filled !== undefined && draw.chance(75))) return [];
    return [[name, freshKey(column, fresh())]];
  });
  return Object.fromEntries(entries);
}

/** A key that is not there, and that no sequence will come to. */
function freshKey({ type }: Column, place: number): Json {
  if (type === 'uuid') return `b0eebc99-9c0b-4ef8-bb6d-${String(place).padStart(12, '0')}`;
  return type === 'integer' ? 1_000_000 + place : `n${place}`;
}

function drawCell(drawing: Drawing, table: Table, { name, nullable }: Column, isNew: boolean): Json | undefined {
  const { draw, fresh, wild } = drawing;
  if (name === mark) return isNew || draw.chance(50) ? `m${fresh()}` : undefined;
  if (name === number) {
    if (wild && draw.chance(6)) return 500;
    return draw.chance(50) ? draw.pick(nullable ? [1, 4, 6, 20, null] : [1, 4, 6, 20]) : undefined;
  }
  if (name === 'owner') return draw.chance(20) ? draw.pick(['me', 'you']) : undefined;
  if (name === 'u') {
    if (wild && draw.chance(10)) return draw.pick(drawing.rows.get(table.name) ?? []).u ?? null;
    return draw.chance(35) ? `u${fresh()}` : undefined;
  }
  if (name === 'x') return draw.chance(40) ? draw.pick(['a', 'b', null]) : undefined;
  if (/^s\d?$/.test(name)) return draw.chance(8) ? draw.integer(1, 40) : undefined;
  return undefined;
}

function drawReference(
  drawing: Drawing,
  table: Table,
  relation: Extract<Relation, { kind: 'm2o' }>,
  row: Row | undefined,
  depth: number,
): Json | undefined {
  const { draw, world, rows, wild } = drawing;
  if (row !== undefined && relation.on.some(({ from }) => table.key.includes(from))) return undefined;
  const nullable = relation.on.every(({ from }) => columnOf(table, from)?.nullable === true);
  if ((row !== undefined || nullable) && !draw.chance(40)) return undefined;
  const target = tableOf(world, relation.target);
  if (nullable || (wild && draw.chance(5))) if (draw.chance(15)) return null;
  const other = draw.chance(60) ? (rows.get(target.name) ?? []) : [];
  if (other.length > 0 && (drawing.full() || draw.chance(60)))
    return draw.chance(80) ? bareKey(draw, target, draw.pick(other)) : keyObject(target, draw.pick(other));
  if (wild && draw.chance(8)) return target.key.length > 1 ? '77,nobody' : missingKey(target);
  const changed = depth < 4 && !drawing.full() && draw.chance(35) ? takeRow(drawing, target) : undefined;
  if (changed !== undefined)
    return { ...keyObject(target, changed), ...drawItem(drawing, target, changed, [], depth + 1) };
  return depth < 5
    ? drawItem(drawing, target, undefined, [], depth + 1)
    : bareKey(draw, target, draw.pick(rows.get(target.name) ?? []));
}

function missingKey(table: Table): Json {
  const type = columnOf(table, table.key[0] ?? '')?.type;
  if (type === 'integer') return 777_777;
  return type === 'uuid' ? 'c0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' : 'nobody';
}

function drawMany(
  drawing: Drawing,
  relation: Exclude<Relation, { kind: 'm2o' }>,
  row: Row | undefined,
  depth: number,
): Json {
  const { draw, world, rows, wild } = drawing;
  if (draw.chance(4)) return null;
  if (wild && draw.chance(4)) return draw.pick<Json>([5, 'text', true, { create: 1 }, { other: [] }, [null], [[1]]]);
  const target = tableOf(world, relation.target);
  const all = rows.get(target.name) ?? [];
  const there = row === undefined ? [] : membersOf(drawing, relation, row);
  const owned = relation.kind === 'm2m' ? [] : relation.on.map(({ to }) => to);
  // A child whose key is its owner's cannot change hands.
  const bound = owned.some((name) => target.key.includes(name));
  const some = bound && !(wild && draw.chance(20)) ? there : all;
  const make = (): Json => drawElement(drawing, relation, target, undefined, owned, depth);
  const change = (): Json | undefined => {
    const one = takeRow(drawing, target, draw.chance(50) ? there : some);
    if (one === undefined) return undefined;
    const payload = draw.chance(20) ? {} : drawElement(drawing, relation, target, one, owned, depth);
    return { ...keyObject(target, one), ...payload };
  };
  const link = (): Json | undefined => {
    if (wild && draw.chance(8)) return target.key.length > 1 ? '77,nobody' : missingKey(target);
    const one =
      relation.kind === 'm2m' ? (some.length > 0 ? draw.pick(some) : undefined) : takeRow(drawing, target, some);
    return one && bareKey(draw, target, one);
  };
  const several = (most: number, one: () => Json | undefined): Json[] =>
    Array.from({ length: draw.integer(0, most) }, one).flatMap((value) => (value === undefined ? [] : [value]));
  if (draw.chance(60)) {
    const kept =
      isBinding(target, relation) && draw.chance(85)
        ? there.filter((one) => !drawing.used.has(one))
        : draw.some(there, 50).filter((one) => !drawing.used.has(one));
    for (const one of kept) if (relation.kind !== 'm2m') drawing.used.add(one);
    return [
      ...kept.map((one) => bareKey(draw, target, one)),
      ...several(3, () => (draw.chance(40) ? make() : draw.chance(50) ? change() : link())),
    ];
  }
  const gone =
    isBinding(target, relation) && !wild
      ? []
      : draw.some(
          there.filter((one) => !drawing.used.has(one)),
          35,
        );
  for (const one of gone) drawing.used.add(one);
  const stray = wild && draw.chance(10) ? several(1, link) : [];
  return {
    ...(draw.chance(70) && { create: several(2, make) }),
    ...(draw.chance(70) && { update: several(2, change) }),
    ...(draw.chance(40) && { upsert: several(2, () => (draw.chance(50) ? make() : change())) }),
    ...((gone.length > 0 || stray.length > 0) && {
      delete: [...gone.map((one) => bareKey(draw, target, one)), ...stray],
    }),
  };
}

/** Whether children can neither be without their owner nor be deleted. */
function isBinding(target: Table, relation: Relation): boolean {
  if (relation.kind !== 'o2m' || relation.onDeselect === 'delete') return false;
  return relation.on.every(({ to }) => columnOf(target, to)?.nullable !== true);
}

function drawElement(
  drawing: Drawing,
  relation: Exclude<Relation, { kind: 'm2o' }>,
  target: Table,
  row: Row | undefined,
  owned: readonly string[],
  depth: number,
): Payload {
  const { draw, world, rows, wild } = drawing;
  const payload = drawItem(drawing, target, row, owned, depth + 1);
  if (relation.kind !== 'm2a' || (row !== undefined && draw.chance(50))) return payload;
  const name = draw.pick(relation.allowed);
  const other = tableOf(world, name);
  const collection = wild && draw.chance(5) ? draw.pick(['nowhere', 'links', null]) : name;
  const changed = draw.chance(25) && depth < 4 ? takeRow(drawing, other) : undefined;
  const items = rows.get(name) ?? [];
  if (changed !== undefined) {
    return {
      ...payload,
      collection,
      item: { ...keyObject(other, changed), ...drawItem(drawing, other, changed, [], depth + 2) },
    };
  }
  const item =
    items.length > 0 && draw.chance(50)
      ? wild && draw.chance(8)
        ? missingKey(other)
        : bareKey(draw, other, draw.pick(items))
      : drawItem(drawing, other, undefined, [], depth + 2);
  return { ...payload, collection, item };
}

function membersOf({ rows }: Drawing, relation: Exclude<Relation, { kind: 'm2o' }>, row: Row): readonly Row[] {
  const targets = rows.get(relation.target) ?? [];
  if (relation.kind !== 'm2m') return targets.filter((one) => isJoined(relation.on, row, one));
  const pairs = (rows.get(relation.junction) ?? []).filter((pair) => isJoined(relation.near, row, pair));
  return targets.filter((one) => pairs.some((pair) => isJoined(relation.far, pair, one)));
}

/** The payload as the model reads it. */
export function describeRequest({ method, path, body }: TreeRequest): string {
  return `${method} /items/${path} ${JSON.stringify(body)}`;
}
