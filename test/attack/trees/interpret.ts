/**
 * What a payload means, read row by row from the text of the specification (sections 4, 7.2 to 7.6): a model of writing
 * that knows nothing of how the server does it, set by set. Payloads that say two different things of one row are called
 * open: the specification leaves to the server what they come to, all or nothing.
 */
import { isObject } from '../model/conditions.ts';
import { createView, type View } from '../model/view.ts';
import {
  columnOf,
  isJoined,
  type Json,
  type JsonObject,
  type Pair,
  type Relation,
  type Row,
  type Rows,
  relationOf,
  type Table,
  tableOf,
} from '../model/world.ts';
import type { TreeWorld } from './draw-world.ts';
import { judgeAccess, judgeConstraints } from './judge.ts';
import { createState, type Item, isSymbol, type Order, rowsOf, type State } from './state.ts';

/** Codes of errors. */
export type Code = 'FORBIDDEN' | 'FAILED_VALIDATION' | 'INVALID_PAYLOAD';

/** A request that writes a tree. `items` is the body's, one of which is changed where it has a key. */
export interface TreeRequest {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: Json;
  readonly collection: string;
  /** Each item with the key by which it is changed; null: it is made. */
  readonly items: readonly { readonly key: readonly Json[] | null; readonly payload: JsonObject }[];
}

/** What a request must come to. */
export interface Foretold {
  /** Why it must be refused; none: it must be done. */
  readonly codes: ReadonlySet<Code>;
  /** Set where the payload contradicts itself, or what it says depends on an order that nobody promised. */
  readonly open: string | undefined;
  readonly rows: Rows;
  readonly orders: readonly Order[];
}

type Form = 'create' | 'update' | 'either';
type ToMany = Extract<Relation, { readonly kind: 'o2m' | 'm2a' }>;
type ManyToMany = Extract<Relation, { readonly kind: 'm2m' }>;

/** What the model carries while it reads. */
export interface Reading {
  readonly world: TreeWorld;
  readonly state: State;
  readonly view: View;
  readonly codes: Set<Code>;
  readonly orders: Order[];
  /** Pairs of junctions, and what was decided of them. */
  readonly pairs: Map<string, 'joined' | 'parted'>;
  /** What was said of each relation to many: whether it is all there is, and who is to be in it. */
  readonly lists: {
    readonly owner: Item;
    readonly on: readonly Pair[];
    readonly table: string;
    readonly complete: boolean;
    readonly listed: readonly Item[];
  }[];
  /** Keys that nothing was found by. */
  readonly missed: { readonly table: string; readonly key: readonly Json[] }[];
  /** Items whose readability decides. */
  readonly looked: Set<Item>;
  open: string | undefined;
}

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
    if (listed.some((item) => !item.gone && !isJoined(on, owner.row, item.row)))
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

/** Calls a request open. */
export function doubt(reading: Reading, why: string): void {
  reading.open ??= why;
}

function say(reading: Reading, item: Item): void {
  item.said += 1;
  if (item.said > 1) doubt(reading, 'an item comes twice');
  if (item.gone) doubt(reading, 'an item is removed and changed');
}

/** The values of a key in any of its forms; undefined for what cannot be one. */
export function readKey(table: Table, value: Json): readonly Json[] | undefined {
  if (isObject(value)) {
    if (Object.keys(value).length !== table.key.length) return undefined;
    return decodeKey(
      table,
      table.key.map((name) => value[name] ?? null),
    );
  }
  const parts = table.key.length > 1 && typeof value === 'string' ? value.split(',').map(decodeURIComponent) : [value];
  return decodeKey(table, parts);
}

function decodeKey(table: Table, parts: readonly Json[]): readonly Json[] | undefined {
  if (parts.length !== table.key.length) return undefined;
  const decoded = parts.map((part, index): Json => {
    const type = columnOf(table, table.key[index] ?? '')?.type;
    if (type === 'integer') return /^-?\d+$/.test(String(part)) ? Number(part) : null;
    if (typeof part !== 'string') return null;
    return type === 'uuid' ? part.toLowerCase() : part;
  });
  return decoded.includes(null) ? undefined : decoded;
}

/** Whether the caller may read a stored row. */
function sees({ world, view, looked }: Reading, item: Item): boolean {
  if (world.writes === null || item.before === undefined) return true;
  looked.add(item);
  return view.visible(item.table).includes(item.before);
}

/** An item that a payload names by its key. It is there before the request. */
function named(reading: Reading, table: Table, key: readonly Json[], mayMake = false): Item | undefined {
  const item = reading.state.find(table.name, key);
  if (item === undefined && !mayMake) reading.missed.push({ table: table.name, key });
  else if (item === undefined) return undefined;
  else if (item.before === undefined) doubt(reading, 'a key is made elsewhere in the payload');
  else if (item.gone) doubt(reading, 'an item is removed and linked');
  return item;
}

/** An object below a relation, or at the top: made or changed. Undefined when nothing can come of it. */
function writeItem(reading: Reading, table: Table, payload: JsonObject, form: Form, owned: Row): Item | undefined {
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

function refuse(reading: Reading, code: Code): undefined {
  reading.codes.add(code);
  return undefined;
}

/** What cannot be changed may be malformed as well, which is known without looking. */
function hide(reading: Reading, table: Table, payload: JsonObject): undefined {
  if (isMalformed(reading, table, payload)) refuse(reading, 'INVALID_PAYLOAD');
  return refuse(reading, 'FORBIDDEN');
}

function isMalformed(reading: Reading, table: Table, payload: JsonObject): boolean {
  return Object.entries(payload).some(([name, value]) => {
    const relation = relationOf(table, name);
    if (relation === undefined) return false;
    const target = tableOf(reading.world, relation.target);
    if (relation.kind === 'm2o') return isObject(value) && isMalformed(reading, target, value);
    const members = readMembers(value);
    return (
      members === undefined ||
      members.elements.some((element) => isElementMalformed(reading, target, relation, element))
    );
  });
}

function isElementMalformed(
  reading: Reading,
  table: Table,
  relation: Relation,
  { value, form }: Members['elements'][number],
): boolean {
  if (!isObject(value)) return false;
  if (form === 'update' && table.key.some((name) => value[name] === undefined)) return true;
  if (relation.kind === 'm2a' && (value.collection !== undefined || value.item !== undefined)) {
    const { collection, item } = value;
    if (typeof collection !== 'string' || !relation.allowed.includes(collection) || item === undefined) return true;
    if (isObject(item) && isMalformed(reading, tableOf(reading.world, collection), item)) return true;
  }
  return isMalformed(reading, table, value);
}

function makeItem(reading: Reading, table: Table, payload: JsonObject, owned: Row): Item {
  const item = reading.state.add(table);
  item.said = 1;
  for (const { name, default: value, filled } of table.columns) {
    item.row[name] = value ?? (filled === undefined ? null : reading.state.symbol());
  }
  fillItem(reading, item, payload, owned, 'create');
  return item;
}

/** Writes a payload's cells, then what hangs below. */
function fillItem(reading: Reading, item: Item, payload: JsonObject, owned: Row, action: 'create' | 'update'): void {
  const { table, row } = item;
  const names = [...Object.keys(payload), ...Object.keys(owned)].filter(
    (name) => action === 'create' || !table.key.includes(name),
  );
  item.changes.push({ action, names: [...new Set(names.flatMap((name) => grantedNames(table, name)))] });
  const lists: (() => void)[] = [];
  for (const [name, value] of Object.entries(payload)) {
    const relation = relationOf(table, name);
    if (relation?.kind === 'm2o') Object.assign(row, linkOne(reading, relation, value));
    else if (relation?.kind === 'm2m') lists.push(() => writeTargets(reading, item, relation, value));
    else if (relation !== undefined) lists.push(() => writeChildren(reading, item, relation, value));
    else if (action === 'create' || !table.key.includes(name)) row[name] = value;
  }
  Object.assign(row, action === 'create' ? owned : withoutKey(table, owned));
  for (const column of table.columns) {
    if (!column.nullable && (row[column.name] ?? null) === null) refuse(reading, 'FAILED_VALIDATION');
  }
  for (const list of lists) list();
}

/** What has to be granted for a name; a key of several columns is all of them. */
function grantedNames(table: Table, name: string): readonly string[] {
  const relation = relationOf(table, name);
  return relation?.kind === 'm2o' && relation.on.length > 1 ? [name, ...relation.on.map(({ from }) => from)] : [name];
}

function withoutKey(table: Table, cells: Row): Row {
  return Object.fromEntries(Object.entries(cells).filter(([name]) => !table.key.includes(name)));
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

/** Whether the caller may read every row, and is told that one is missing. */
function readsAll({ world }: Reading, { name }: Table): boolean {
  return world.writes === null || (world.rules.get(name) ?? []).some(({ filter }) => filter === null);
}

interface Members {
  readonly complete: boolean;
  readonly elements: readonly { readonly value: Json; readonly form: Form }[];
  readonly removed: readonly Json[];
}

function readMembers(value: Json): Members | undefined {
  if (value === null) return { complete: true, elements: [], removed: [] };
  if (Array.isArray(value)) {
    const elements = value.map((one: Json) => ({ value: one, form: 'either' as const }));
    return value.some((one: Json) => one === null || Array.isArray(one))
      ? undefined
      : { complete: true, elements, removed: [] };
  }
  return isObject(value) ? readChanges(value) : undefined;
}

function readChanges({
  create = [],
  update = [],
  upsert = [],
  delete: removed = [],
  ...others
}: JsonObject): Members | undefined {
  const lists = [create, update, upsert, removed].map((list) => (Array.isArray(list) ? list : undefined));
  const [made, changed, either, gone] = lists;
  if (made === undefined || changed === undefined || either === undefined || gone === undefined) return undefined;
  const elements = [
    ...made.map((value: Json) => ({ value, form: 'create' as const })),
    ...changed.map((value: Json) => ({ value, form: 'update' as const })),
    ...either.map((value: Json) => ({ value, form: 'either' as const })),
  ];
  const malformed = elements.some(({ value }) => !isObject(value)) || gone.includes(null);
  return malformed || Object.keys(others).length > 0 ? undefined : { complete: false, elements, removed: gone };
}

/** One-to-many, and the links of a many-to-any. */
function writeChildren(reading: Reading, owner: Item, relation: ToMany, value: Json): void {
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
    reading.orders.push({ column: sort, staying, chosen });
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

/** Whether a child is part of the list that the caller knows. */
function isSeen(reading: Reading, item: Item): boolean {
  if (reading.world.writes !== null && (reading.world.rules.get(item.table.name) ?? []).length === 0) {
    doubt(reading, 'a list of what cannot be read');
  }
  return sees(reading, item);
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

/** Many-to-many: the junction's rows are made and deleted, the targets stay. */
function writeTargets(reading: Reading, owner: Item, relation: ManyToMany, value: Json): void {
  const members = readMembers(value);
  if (members === undefined) {
    refuse(reading, 'INVALID_PAYLOAD');
    return;
  }
  const target = tableOf(reading.world, relation.target);
  const junction = tableOf(reading.world, relation.junction);
  const stored = reading.state
    .items(junction.name)
    .filter((item) => !item.gone && isJoined(relation.near, owner.row, item.row));
  const targets: Item[] = [];
  for (const { value: element, form } of members.elements) {
    const item = isObject(element)
      ? writeItem(reading, target, element, form, {})
      : linkTarget(reading, target, element);
    if (item !== undefined && !targets.includes(item)) targets.push(item);
  }
  const joins = (row: Item, item: Item): boolean => isJoined(relation.far, row.row, item.row);
  const made: Item[] = [];
  for (const item of targets) {
    decide(reading, relation, owner, item, 'joined');
    if (!stored.some((row) => joins(row, item))) made.push(join(reading, junction, relation, owner, item));
  }
  if (relation.sort !== undefined && made.length > 0) {
    for (const item of made) item.row[relation.sort] = reading.state.symbol();
    reading.orders.push({ column: relation.sort, staying: stored, chosen: made });
  }
  const listed = [...stored.filter((row) => targets.some((item) => joins(row, item))), ...made];
  reading.lists.push({ owner, on: relation.near, table: junction.name, complete: members.complete, listed });
  const all = reading.state.items(target.name);
  const targetOf = (row: Item): Item | undefined => all.find((item) => joins(row, item));
  const away = members.complete
    ? stored.filter((row) => !targets.some((item) => joins(row, item)) && isPairSeen(reading, row, targetOf(row)))
    : members.removed.flatMap((key) => removedPair(reading, target, stored, targets, targetOf, key));
  for (const row of new Set(away)) {
    decide(reading, relation, owner, targetOf(row), 'parted');
    if (row.said > 0 || row.placed.size > 0) doubt(reading, 'a junction row is parted and changed');
    row.gone = true;
    row.changes.push({ action: 'delete', names: [] });
  }
}

function linkTarget(reading: Reading, target: Table, value: Json): Item | undefined {
  const key = readKey(target, value);
  const item = key && named(reading, target, key);
  return item !== undefined && sees(reading, item) ? item : refuse(reading, 'FORBIDDEN');
}

function isPairSeen(reading: Reading, row: Item, item: Item | undefined): boolean {
  return item !== undefined && isSeen(reading, item) && (!reads(reading, row.table) || sees(reading, row));
}

function reads({ world }: Reading, { name }: Table): boolean {
  return (world.rules.get(name) ?? []).length > 0;
}

function removedPair(
  reading: Reading,
  target: Table,
  stored: readonly Item[],
  targets: readonly Item[],
  targetOf: (row: Item) => Item | undefined,
  value: Json,
): readonly Item[] {
  const key = readKey(target, value);
  const row = stored.find((one) => target.key.every((name, part) => targetOf(one)?.row[name] === key?.[part]));
  const item = row && targetOf(row);
  if (item !== undefined && targets.includes(item)) doubt(reading, 'a target is linked and removed');
  if (row !== undefined && isPairSeen(reading, row, item)) return [row];
  reading.codes.add('FORBIDDEN');
  return [];
}

/** Two relations over one junction, or the two ends of one, must not part what the other joins. */
function decide(
  reading: Reading,
  { junction, near, far }: ManyToMany,
  owner: Item,
  target: Item | undefined,
  what: 'joined' | 'parted',
): void {
  const cells = [
    ...near.map(({ from, to }): [string, Json] => [to, owner.row[from] ?? null]),
    ...far.map(({ from, to }): [string, Json] => [from, target?.row[to] ?? null]),
  ];
  const id = `${junction} ${JSON.stringify(cells.sort(([one], [other]) => (one < other ? -1 : 1)))}`;
  const other = reading.pairs.get(id);
  if (other !== undefined && other !== what) doubt(reading, 'a pair is joined and parted');
  reading.pairs.set(id, what);
}

function join(reading: Reading, junction: Table, { near, far }: ManyToMany, owner: Item, target: Item): Item {
  const cells = (pairs: readonly Pair[], side: 'from' | 'to', row: Row): [string, Json][] =>
    pairs.map((pair) => [side === 'from' ? pair.from : pair.to, row[side === 'from' ? pair.to : pair.from] ?? null]);
  const owned: Row = Object.fromEntries([...cells(near, 'to', owner.row), ...cells(far, 'from', target.row)]);
  return makeItem(reading, junction, {}, owned);
}
