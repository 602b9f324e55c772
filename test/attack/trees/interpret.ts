/**
 * What a payload means, read row by row from the text of the specification (sections 4, 7.2 to 7.6): a model of writing
 * that knows nothing of how the server does it, set by set. Payloads that say two different things of one row are called
 * open: the specification leaves to the server what they come to, all or nothing.
 */
import { createView } from '../model/view.ts';
import { isJoined, type Rows, tableOf } from '../model/world.ts';
import type { TreeWorld } from './draw-world.ts';
import { fillItem, say, writeItem } from './items.ts';
import { judgeAccess, judgeConstraints } from './judge.ts';
import { doubt, type Foretold, type Reading, type TreeRequest } from './reading.ts';
import { createState, rowsOf } from './state.ts';

/** Reads a request. */
export function interpret(world: TreeWorld, rows: Rows, request: TreeRequest): Foretold {
  const reading: Reading = {
    world,
    state: createState(world.tables, rows),
    view: createView(world, rows),
    codes: new Set(),
    orders: [],
    pairs: new Map(),
    missed: [],
    lists: [],
    looked: new Set(),
    open: undefined,
  };
  const table = tableOf(world, request.collection);
  for (const { key, payload } of request.items) {
    const item = key === null ? undefined : reading.state.find(table.name, key);
    if (key !== null && item === undefined) reading.codes.add('FORBIDDEN');
    else if (item === undefined) writeItem(reading, table, payload, 'create', {});
    else {
      say(reading, item);
      fillItem(reading, item, payload, {}, 'update');
    }
  }
  for (const { table: name, key } of reading.missed) {
    if (reading.state.find(name, key) !== undefined) doubt(reading, 'a key is made elsewhere in the payload');
  }
  judgeLists(reading);
  judgeConstraints(reading);
  judgeAccess(reading);
  return {
    codes: reading.codes,
    open: reading.open,
    rows: rowsOf(world.tables, reading.state),
    orders: reading.orders,
  };
}

/** A list that does not stand at the end was contradicted by another part of the payload. */
function judgeLists(reading: Reading): void {
  for (const { owner, on, table, complete, listed } of reading.lists) {
    if (listed.some((item) => item.gone || !isJoined(on, owner.row, item.row)))
      doubt(reading, 'a listed child goes elsewhere');
    const others = reading.state
      .items(table)
      .filter((item) => !item.gone && !listed.includes(item) && isJoined(on, owner.row, item.row));
    const came = others.some(({ before }) => before === undefined || !isJoined(on, owner.row, before));
    if (complete && came) doubt(reading, 'a child comes that its list does not have');
    for (const item of reading.state.items(table)) {
      const id = on.map(({ to }) => to).join();
      if (item.left.has(id) && !item.placed.has(id) && on.every(({ to }) => item.row[to] !== null))
        doubt(reading, 'a child is removed and goes elsewhere');
    }
  }
}
