/** Draws a world: tables, what one role may read of them, who asks, and rows. */
import { isObject } from './conditions.ts';
import type { Draw } from './draw.ts';
import { drawFilter, type Names } from './draw-filters.ts';
import { drawRows } from './draw-rows.ts';
import { drawTables } from './draw-tables.ts';
import { ruleMatches } from './evaluate.ts';
import { pools } from './values.ts';
import { openEyes } from './view.ts';
import { type Json, type JsonObject, namesOf, type Rows, type Rule, type Table, tableOf, type World } from './world.ts';

/** A world with its rows. */
export interface Populated {
  readonly world: World;
  readonly rows: Rows;
}

/** Draws a world and the rows in it. */
export function drawWorld(draw: Draw): Populated {
  const tables = drawTables(draw);
  const rows = drawRows(draw, tables);
  const user = draw.pick([null, '2', 'a', String(draw.pick(pools.uuid))]);
  const role = draw.pick(['editor', null, '1', 'b']);
  const open: World = { tables, rules: new Map(), asker: { user, role } };
  const rules = new Map([...tables.values()].map((table) => [table.name, drawRules(draw, open, rows, table)]));
  return { world: { ...open, rules }, rows };
}

/** No rules, one, or several; some of them grant everything, some nothing. */
function drawRules(draw: Draw, open: World, rows: Rows, table: Table): readonly Rule[] {
  const count = draw.pick(table.name === 'links' ? [2, 1, 3] : [1, 2, 1, 3, 2, 2, 1, 0]);
  return Array.from({ length: count }, (_, index) => {
    const rule = drawRule(draw, open, rows, table);
    // Link rows can hide what they name on some rows and show it on others.
    if (table.name !== 'links') return rule;
    if (index === 0) return { ...rule, fields: namesOf(table) };
    return { fields: rule.fields.filter((name) => name === 'id' || name === 's'), filter: null };
  });
}

function drawRule(draw: Draw, open: World, rows: Rows, table: Table): Rule {
  const filter = draw.chance(75) ? drawRowFilter(draw, open, rows, table) : null;
  if (draw.chance(15)) return { fields: namesOf(table), filter };
  const keys = draw.chance(85) ? table.key : [];
  const others = draw.some(
    namesOf(table).filter((name) => !table.key.includes(name)),
    70,
  );
  return { fields: draw.chance(4) ? [] : [...keys, ...others], filter };
}

/** A filter that tells rows apart, where one of a few that are drawn does. */
function drawRowFilter(draw: Draw, open: World, rows: Rows, table: Table): JsonObject {
  const names = everything(open.tables);
  const eyes = openEyes(open, rows);
  const own = rows.get(table.name) ?? [];
  let filter: JsonObject = {};
  for (let attempt = 0; attempt < 4; attempt++) {
    const drawn = drawFilter(draw, names, table, 2);
    filter = completed(draw.chance(15) ? withCaller(draw, names, table, drawn) : drawn);
    const granted = own.filter((row) => ruleMatches(eyes, open.asker, table, row, filter)).length;
    if (granted > 0 && granted < own.length) break;
  }
  return filter;
}

/** Rules refuse an empty object in a list: one that every row meets says so. */
function completed(filter: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, completedPart(value)]));
}

function completedPart(value: Json): Json {
  if (!Array.isArray(value)) return isObject(value) ? completed(value) : value;
  return value.map((element) => {
    if (!isObject(element)) return element;
    return Object.keys(element).length === 0 ? { _and: [] } : completed(element);
  });
}

/** The caller named beside something else, or where nobody may be found: what is missing there must not grant anything. */
function withCaller(draw: Draw, names: Names, table: Table, other: JsonObject): JsonObject {
  const toMany = table.relations.filter(({ kind }) => kind === 'o2m' || kind === 'm2m');
  const aside = (of: Table): JsonObject => {
    const column = of.columns.find(({ type }) => type === 'text' || type === 'string' || type === 'integer');
    return column === undefined ? {} : { [column.name]: { [draw.pick(['_eq', '_neq'])]: '$CURRENT_USER' } };
  };
  if (toMany.length === 0 || draw.chance(50)) return { _or: [aside(table), other] };
  const { name, target } = draw.pick(toMany);
  return { [name]: { _none: aside(names.tables(target)) } };
}

/** Rules may name everything that there is. */
function everything(tables: World['tables']): Names {
  const world: World = { tables, rules: new Map(), asker: { user: null, role: null } };
  return { tables: (name) => tableOf(world, name), has: () => true, reads: (name) => tables.has(name) };
}
