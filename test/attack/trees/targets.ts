/** Items that a junction joins with the one above. */
import { isObject } from '../model/conditions.ts';
import { isJoined, type Json, type Pair, type Row, type Table, tableOf } from '../model/world.ts';
import { makeItem, writeItem } from './items.ts';
import { readKey } from './keys.ts';
import { readMembers } from './members.ts';
import { doubt, isSeen, type ManyToMany, named, type Reading, reads, refuse, sees } from './reading.ts';
import type { Item } from './state.ts';

/** Many-to-many: the junction's rows are made and deleted, the targets stay. */
export function writeTargets(reading: Reading, owner: Item, relation: ManyToMany, value: Json): void {
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
    reading.orders.push({ column: relation.sort, owner, on: relation.near, staying: stored, chosen: made });
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
