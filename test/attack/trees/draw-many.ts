/** Draws the values of relations to many. */
import { type Json, type Relation, type Row, type Table, tableOf } from '../model/world.ts';
import { drawItem } from './draw-item.ts';
import {
  bareKey,
  type Drawing,
  isBinding,
  keyObject,
  membersOf,
  missingKey,
  type Payload,
  takeRow,
} from './drawing.ts';

/** Draws what a payload says of a relation to many: an array, lists of changes, or at times what is neither. */
export function drawMany(
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
