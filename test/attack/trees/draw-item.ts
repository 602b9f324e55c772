/** Draws the payload of one item. */
import { type Column, columnOf, type Json, type Relation, type Row, type Table, tableOf } from '../model/world.ts';
import { drawMany } from './draw-many.ts';
import { mark, number } from './draw-tables.ts';
import { bareKey, type Drawing, heldBy, keyObject, missingKey, type Payload, takeRow } from './drawing.ts';

/** The payload of one item; `owned` are the columns that the relation above sets. */
export function drawItem(
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
