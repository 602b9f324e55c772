/** One item of a payload: found or made, filled, and linked. */
import { isObject } from '../model/conditions.ts';
import {
  type Json,
  type JsonObject,
  type Relation,
  type Row,
  relationOf,
  type Table,
  tableOf,
} from '../model/world.ts';
import { writeChildren } from './children.ts';
import { decodeKey, readKey, withoutKey } from './keys.ts';
import { isMalformed } from './members.ts';
import { doubt, type Form, named, type Reading, readsAll, refuse, sees } from './reading.ts';
import { type Item, isSymbol } from './state.ts';
import { writeTargets } from './targets.ts';

/** Notes that the payload says something of an item's cells. */
export function say(reading: Reading, item: Item): void {
  item.said += 1;
  if (item.said > 1) doubt(reading, 'an item comes twice');
  if (item.gone) doubt(reading, 'an item is removed and changed');
}

/** An object below a relation, or at the top: made or changed. Undefined when nothing can come of it. */
export function writeItem(
  reading: Reading,
  table: Table,
  payload: JsonObject,
  form: Form,
  owned: Row,
): Item | undefined {
  const complete: JsonObject = { ...owned, ...payload };
  // An object in the place of a part of the key is an item of its own, and what the database fills in names nothing yet.
  const keyed = table.key.every((name) => {
    const part = complete[name] ?? null;
    return part !== null && !isObject(part) && !isSymbol(part);
  });
  const key = keyed
    ? decodeKey(
        table,
        table.key.map((name) => complete[name] ?? null),
      )
    : undefined;
  if (keyed && key === undefined) return refuse(reading, 'FORBIDDEN');
  if (form === 'update' && key === undefined) return refuse(reading, 'INVALID_PAYLOAD');
  const item = key && named(reading, table, key, form !== 'update');
  if (form === 'create' && item !== undefined) return refuse(reading, 'FAILED_VALIDATION');
  if (item === undefined)
    return form === 'update' ? hide(reading, table, payload) : makeItem(reading, table, payload, owned);
  if (!sees(reading, item)) return hide(reading, table, payload);
  const says = Object.keys(payload).some((name) => !table.key.includes(name));
  if (says) say(reading, item);
  if (says || Object.keys(withoutKey(table, owned)).length > 0) fillItem(reading, item, payload, owned, 'update');
  return item;
}

/** What cannot be changed may be malformed as well, which is known without looking. */
function hide(reading: Reading, table: Table, payload: JsonObject): undefined {
  if (isMalformed(reading, table, payload)) refuse(reading, 'INVALID_PAYLOAD');
  return refuse(reading, 'FORBIDDEN');
}

/** Makes an item, with what the database fills in. */
export function makeItem(reading: Reading, table: Table, payload: JsonObject, owned: Row): Item {
  const item = reading.state.add(table);
  item.said = 1;
  for (const { name, default: value, filled } of table.columns) {
    item.row[name] = value ?? (filled === undefined ? null : reading.state.symbol());
  }
  fillItem(reading, item, payload, owned, 'create');
  return item;
}

/** Writes a payload's cells, then what hangs below. */
export function fillItem(
  reading: Reading,
  item: Item,
  payload: JsonObject,
  owned: Row,
  action: 'create' | 'update',
): void {
  const { table, row } = item;
  const names = [...Object.keys(payload), ...Object.keys(owned)].filter(
    (name) => action === 'create' || !table.key.includes(name),
  );
  item.changes.push({ action, names: [...new Set(names.flatMap((name) => grantedNames(table, name)))] });
  const lists: { readonly held: string; readonly write: () => void }[] = [];
  for (const [name, value] of Object.entries(payload)) {
    const relation = relationOf(table, name);
    // The relation above has set it, and keys stay.
    if (Object.hasOwn(owned, name) || (action === 'update' && table.key.includes(name))) continue;
    if (relation?.kind === 'm2o') Object.assign(row, linkOne(reading, relation, value));
    else if (relation?.kind === 'm2m') {
      lists.push({ held: relation.junction, write: () => writeTargets(reading, item, relation, value) });
    } else if (relation !== undefined) {
      lists.push({ held: relation.target, write: () => writeChildren(reading, item, relation, value) });
    } else row[name] = value;
  }
  Object.assign(row, action === 'create' ? owned : withoutKey(table, owned));
  for (const column of table.columns) {
    if (!column.nullable && (row[column.name] ?? null) === null) refuse(reading, 'FAILED_VALIDATION');
  }
  const held = lists.map(({ held }) => held);
  if (new Set(held).size < held.length) doubt(reading, 'two relations over the same rows');
  for (const { write } of lists) write();
}

/** What has to be granted for a name; a key of several columns is all of them. */
function grantedNames(table: Table, name: string): readonly string[] {
  const relation = relationOf(table, name);
  return relation?.kind === 'm2o' && relation.on.length > 1 ? [name, ...relation.on.map(({ from }) => from)] : [name];
}

/** The cells of a many-to-one. */
function linkOne(reading: Reading, relation: Extract<Relation, { kind: 'm2o' }>, value: Json): Row {
  const target = tableOf(reading.world, relation.target);
  const cells = (to: Item | undefined): Row =>
    Object.fromEntries(relation.on.map(({ from, to: column }) => [from, to?.row[column] ?? null]));
  if (value === null) return cells(undefined);
  if (isObject(value)) {
    const item = writeItem(reading, target, value, 'either', {});
    return item === undefined ? {} : cells(item);
  }
  const key = readKey(target, value);
  const item = key && named(reading, target, key);
  if (item === undefined) {
    refuse(reading, key !== undefined && readsAll(reading, target) ? 'FAILED_VALIDATION' : 'FORBIDDEN');
    return {};
  }
  if (!sees(reading, item)) refuse(reading, 'FORBIDDEN');
  return cells(item);
}
