/** Draws requests that write trees: every form of every relation, to any depth, and some that must be refused. */
import type { Draw } from '../model/draw.ts';
import { type Rows, type Table, tableOf } from '../model/world.ts';
import { drawItem } from './draw-item.ts';
import { number } from './draw-tables.ts';
import type { TreeWorld } from './draw-world.ts';
import { bareKey, type Drawing, keyObject, keyOf, keyPath, type Payload, takeRow } from './drawing.ts';
import type { TreeRequest } from './reading.ts';

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

/** The payload as the model reads it. */
export function describeRequest({ method, path, body }: TreeRequest): string {
  return `${method} /items/${path} ${JSON.stringify(body)}`;
}
