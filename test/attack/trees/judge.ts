/** What the database and the rules say of rows that a model has written (API specification, sections 8.2 and 8.3). */
import { ruleMatches } from '../model/evaluate.ts';
import { openEyes } from '../model/view.ts';
import { isJoined, type Row, type Rows, relationOf, type Table } from '../model/world.ts';
import { number } from './draw-tables.ts';
import type { WriteRule, WriteRules } from './draw-world.ts';
import { doubt, type Reading } from './reading.ts';
import { type Change, type Item, rowsOf } from './state.ts';

/** Uniqueness, checks, and foreign keys that lead nowhere. */
export function judgeConstraints(reading: Reading): void {
  for (const table of reading.world.tables.values()) {
    const items = reading.state.items(table.name);
    const left = items.filter(({ gone }) => !gone);
    for (const columns of [table.key, ...(table.unique === undefined ? [] : [table.unique])]) {
      judgeUnique(reading, table, items, columns);
    }
    if (left.some(({ row }) => Number(row[number] ?? 0) >= 100)) reading.codes.add('FAILED_VALIDATION');
    for (const { target, on } of table.foreignKeys) {
      const targets = reading.state.items(target);
      const pointing = (row: Row): Item | undefined => targets.find((item) => isJoined(on, row, item.row));
      for (const item of left) {
        const to = pointing(item.row);
        if (to?.gone) reading.codes.add('FAILED_VALIDATION');
      }
      // Whether a row may go depends on what still leads to it just then.
      const loose = items.filter(
        ({ before, gone, row }) => before && pointing(before)?.gone && (gone || !pointing(row)?.gone),
      );
      if (loose.length > 0) doubt(reading, 'an item goes, and what leads to it goes or changes');
    }
  }
}

function judgeUnique(reading: Reading, table: Table, items: readonly Item[], columns: readonly string[]): void {
  const idOf = (row: Row): string | undefined =>
    columns.some((name) => (row[name] ?? null) === null) ? undefined : JSON.stringify(columns.map((name) => row[name]));
  const seen = new Set<string>();
  const before = new Map(items.flatMap((item) => (item.before ? [[idOf(item.before), item] as const] : [])));
  for (const item of items) {
    const id = idOf(item.row);
    if (id === undefined) continue;
    const holder = before.get(id);
    if (holder !== undefined && holder !== item && (holder.gone || idOf(holder.row) !== id) && !item.gone) {
      doubt(reading, `a value of ${table.name} goes from one item to another`);
    }
    if (item.gone) continue;
    if (seen.has(id)) reading.codes.add('FAILED_VALIDATION');
    seen.add(id);
  }
}

/** Every change against the rules of its action, on the stored row and on the one that is left. */
export function judgeAccess(reading: Reading): void {
  const { world, state } = reading;
  if (world.writes === null) return;
  for (const [name, rules] of world.writes) {
    for (const item of state.items(name)) {
      if (item.changes.length === 0) continue;
      // Presets change cells that others are judged by, so they come before.
      for (const change of item.changes) preset(reading, item, rules, change);
    }
  }
  const rows = rowsOf(world.tables, state);
  for (const [name, rules] of world.writes) {
    for (const item of state.items(name))
      for (const change of item.changes) judgeChange(reading, rows, item, rules, change);
  }
  for (const item of reading.looked) {
    if (item.said > 0 && isMoved(reading, item)) doubt(reading, 'what can be read changes on the way');
  }
}

/** Whether the caller may read a row before and not after, or the reverse. */
function isMoved({ world }: Reading, { before, row, table }: Item): boolean {
  const eyes = openEyes(world, new Map());
  const reads = (of: Row): boolean =>
    (world.rules.get(table.name) ?? []).some(({ filter }) => ruleMatches(eyes, world.asker, table, of, filter));
  return before !== undefined && reads(before) !== reads(row);
}

function preset({ world }: Reading, item: Item, rules: WriteRules, { action, names }: Change): void {
  if (action === 'delete') return;
  const eyes = openEyes(world, new Map());
  const { before } = item;
  for (const rule of rules[action].toReversed()) {
    if (
      action === 'update' &&
      (before === undefined || !ruleMatches(eyes, world.asker, item.table, before, rule.filter))
    )
      continue;
    for (const [name, value] of Object.entries(rule.presets)) {
      const given = item.changes.some((change) => change.names.includes(name));
      if (!names.includes(name) && !given) item.row[name] = value;
    }
  }
}

function isToMany(table: Table, name: string): boolean {
  const relation = relationOf(table, name);
  return relation !== undefined && relation.kind !== 'm2o';
}

function judgeChange(reading: Reading, rows: Rows, item: Item, rules: WriteRules, { action, names }: Change): void {
  const { world, codes } = reading;
  const { table, before, row } = item;
  const eyes = openEyes(world, rows);
  const matches = (rule: { readonly filter: WriteRule['filter'] }, of: Row): boolean =>
    ruleMatches(eyes, world.asker, table, of, rule.filter);
  if (action === 'delete') {
    if (before === undefined || !rules.delete.some((rule) => matches(rule, before))) codes.add('FORBIDDEN');
    return;
  }
  const matching = rules[action].filter(
    (rule) => action === 'create' || (before !== undefined && matches(rule, before)),
  );
  const plain = names.filter((name) => !isToMany(table, name));
  if (plain.length === 0 && action === 'update' && matching.every(({ presets }) => Object.keys(presets).length === 0)) {
    // What does not change is not judged by what it would have to be.
    const granted = names.every((name) => matching.some(({ fields }) => fields.includes(name)));
    if (matching.length === 0 || !granted) codes.add('FORBIDDEN');
    return;
  }
  const must = (rule: WriteRule): WriteRule['filter'] => rule.validation ?? (action === 'update' ? rule.filter : null);
  const holds = (rule: WriteRule): boolean => matches({ filter: must(rule) }, row);
  for (const listing of names.length === 0
    ? [matching]
    : names.map((name) => matching.filter(({ fields }) => fields.includes(name)))) {
    if (listing.some(holds)) continue;
    const broken = listing.some((rule) => rule.validation !== null && !holds(rule));
    codes.add(broken ? 'FAILED_VALIDATION' : 'FORBIDDEN');
  }
}
