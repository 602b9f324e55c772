/** Items that hold the key of the one above: those of a one-to-many, and links of a many-to-any. */
import { isObject } from '../model/conditions.ts';
import { columnOf, isJoined, type Json, type JsonObject, type Row, type Table, tableOf } from '../model/world.ts';
import { fillItem, writeItem } from './items.ts';
import { readKey, withoutKey } from './keys.ts';
import { readMembers } from './members.ts';
import { doubt, type Form, isSeen, named, type Reading, readsAll, refuse, sees, type ToMany } from './reading.ts';
import type { Item } from './state.ts';

/** One-to-many, and the links of a many-to-any. */
export function writeChildren(reading: Reading, owner: Item, relation: ToMany, value: Json): void {
  const members = readMembers(value);
  const table = tableOf(reading.world, relation.target);
  if (members === undefined) {
    refuse(reading, 'INVALID_PAYLOAD');
    return;
  }
  const columns = relation.on.map(({ to }) => to);
  const owned: Row = Object.fromEntries(relation.on.map(({ from, to }) => [to, owner.row[from] ?? null]));
  const stored = reading.state
    .items(table.name)
    .filter((item) => !item.gone && isJoined(relation.on, owner.row, item.row));
  const orders = new Map(stored.map((item) => [item, relation.sort === undefined ? null : item.row[relation.sort]]));
  const listed: Item[] = [];
  const chosen: Item[] = [];
  for (const { value: element, form } of members.elements) {
    const item = isObject(element)
      ? writeElement(reading, table, relation, element, form, owned)
      : linkChild(reading, table, element, owned);
    if (item === undefined) continue;
    place(reading, item, columns, owner);
    if (!listed.includes(item)) listed.push(item);
    const given = isObject(element) && relation.sort !== undefined && Object.hasOwn(element, relation.sort);
    if (relation.sort === undefined || given || orders.has(item) || chosen.includes(item)) continue;
    item.row[relation.sort] = reading.state.symbol();
    chosen.push(item);
  }
  if (relation.sort !== undefined && chosen.length > 0) {
    const { sort } = relation;
    const staying = stored.filter((item) => item.row[sort] === orders.get(item));
    reading.orders.push({ column: sort, owner, on: relation.on, staying, chosen });
  }
  const away = members.complete
    ? stored.filter((item) => !listed.includes(item) && isSeen(reading, item))
    : members.removed.flatMap((key) => removedChild(reading, table, stored, listed, key));
  for (const item of new Set(away)) removeChild(reading, item, relation, columns);
  reading.lists.push({ owner, on: relation.on, table: table.name, complete: members.complete, listed });
}

function writeElement(
  reading: Reading,
  table: Table,
  relation: ToMany,
  element: JsonObject,
  form: Form,
  owned: Row,
): Item | undefined {
  if (relation.kind !== 'm2a') return writeItem(reading, table, element, form, owned);
  const { collection, item, ...others } = element;
  const keyed = (element.id ?? null) !== null;
  if (keyed && collection === undefined && item === undefined) return writeItem(reading, table, others, form, owned);
  const allowed = typeof collection === 'string' && relation.allowed.includes(collection);
  if (!allowed || item === undefined || item === null) return refuse(reading, 'INVALID_PAYLOAD');
  const target = tableOf(reading.world, collection);
  const found = isObject(item) ? writeItem(reading, target, item, 'either', {}) : linkItem(reading, target, item);
  if (found === undefined) return undefined;
  const [key = ''] = target.key;
  return writeItem(
    reading,
    table,
    { ...others, [relation.kindField]: collection, [relation.itemField]: `${found.row[key]}` },
    form,
    owned,
  );
}

/** The item of a link, by its key: nothing but the server looks whether it is there. */
function linkItem(reading: Reading, target: Table, value: Json): Item | undefined {
  const key = readKey(target, value);
  if (key === undefined) return refuse(reading, 'FORBIDDEN');
  const item = named(reading, target, key);
  if (item === undefined) return refuse(reading, readsAll(reading, target) ? 'FAILED_VALIDATION' : 'FORBIDDEN');
  return sees(reading, item) ? item : refuse(reading, 'FORBIDDEN');
}

function linkChild(reading: Reading, table: Table, value: Json, owned: Row): Item | undefined {
  const key = readKey(table, value);
  const item = key && named(reading, table, key);
  if (item === undefined || !sees(reading, item)) return refuse(reading, 'FORBIDDEN');
  // A key that is made of its owner's belongs to that one for good.
  if (Object.entries(owned).some(([name, cell]) => table.key.includes(name) && item.row[name] !== cell)) {
    return refuse(reading, 'INVALID_PAYLOAD');
  }
  // One whose key is its owner's is where it is already.
  if (Object.keys(withoutKey(table, owned)).length > 0) fillItem(reading, item, {}, owned, 'update');
  return item;
}

function place(reading: Reading, item: Item, columns: readonly string[], owner: Item): void {
  const id = columns.join();
  const other = item.placed.get(id);
  if (other !== undefined) doubt(reading, 'a child is placed twice');
  if (item.left.has(id) && columns.some((name) => columnOf(item.table, name)?.nullable === false)) {
    doubt(reading, 'a child that cannot be without an owner goes from one to another');
  }
  item.placed.set(id, owner);
}

function removedChild(
  reading: Reading,
  table: Table,
  stored: readonly Item[],
  listed: readonly Item[],
  value: Json,
): readonly Item[] {
  const key = readKey(table, value);
  const item = stored.find((one) => table.key.every((name, part) => one.row[name] === key?.[part]));
  if (item !== undefined && listed.includes(item)) doubt(reading, 'a child is linked and removed');
  if (item === undefined && key !== undefined && reading.state.find(table.name, key)?.placed.size) {
    doubt(reading, 'a child goes elsewhere and is removed');
  }
  if (item !== undefined && isSeen(reading, item)) return [item];
  reading.codes.add('FORBIDDEN');
  return [];
}

function removeChild(reading: Reading, item: Item, relation: ToMany, columns: readonly string[]): void {
  const id = columns.join();
  if (item.before === undefined) doubt(reading, 'a child is made and removed');
  const nullable = columns.filter((name) => columnOf(item.table, name)?.nullable && !item.table.key.includes(name));
  if (item.placed.has(id)) doubt(reading, 'a child is linked and removed');
  if (relation.kind === 'm2a' || (nullable.length === 0 && relation.onDeselect === 'delete')) {
    if (item.said > 0 || item.placed.size > 0) doubt(reading, 'an item is removed and changed');
    item.gone = true;
    item.changes.push({ action: 'delete', names: [] });
  } else if (nullable.length === 0) {
    refuse(reading, 'FAILED_VALIDATION');
    item.changes.push({ action: 'update', names: columns });
  } else {
    item.left.add(id);
    item.changes.push({ action: 'update', names: nullable });
    for (const name of nullable) item.row[name] = null;
  }
}
