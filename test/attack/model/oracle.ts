/** The answer that a query must have, computed from nothing but what its role sees. */
import { aggregateRows } from './aggregate.ts';
import { isObject } from './conditions.ts';
import { matches, ruleMatches } from './evaluate.ts';
import { sortRows } from './order.ts';
import type { Query } from './query.ts';
import { cut, isFound, type Level, pathOf, selectRow } from './select.ts';
import { openEyes, type View, withoutSecrets } from './view.ts';
import { columnOf, type Json, type JsonObject, type Row, type Rule, type Table, tableOf } from './world.ts';

/** An answer as the model foretells it: parsed, or the code of the error. */
export type Foretold = { readonly data: Json; readonly meta?: JsonObject } | { readonly code: string };

const forbidden: Foretold = { code: 'FORBIDDEN' };

/** Foretells the answer to a query whose names the role can all read. */
export function foretell(eyes: View, query: Query): Foretold {
  const view = query.export === undefined ? eyes : withoutSecrets(eyes);
  const table = tableOf(view.world, query.collection);
  if (!view.reads(table.name)) return forbidden;
  const named = query.key !== undefined || query.keys !== undefined;
  const rows = named ? view.visible(table).filter((row) => isNamed(table, row, query)) : view.visible(table);
  if (table.singleton === true) return { data: singleton(view, table, rows, query) };
  const matching = rows.filter((row) => meets(view, table, row, query));
  if (query.key !== undefined)
    return matching[0] === undefined ? forbidden : { data: item(view, table, matching[0], query) };
  if (query.keys !== undefined && isIncomplete(rows, query)) return forbidden;
  const meta = metaOf(query, rows.length, matching.length);
  if (query.aggregate !== undefined || query.groupBy !== undefined) {
    return { data: aggregateRows(view, table, matching, query), ...meta };
  }
  const sorted = sortRows(view, table, matching, query.sort ?? []);
  const page = cut(sorted, query.limit ?? (query.keys === undefined ? 100 : -1), query.offset, query.page);
  return { data: page.map((row) => item(view, table, row, query)), ...meta };
}

function isNamed(table: Table, row: Row, { key, keys = [] }: Query): boolean {
  const path = pathOf(table.key.map((name) => row[name] ?? null));
  return path === key || keys.some((one) => keyPath(table, one) === path);
}

/** A key of a body: a value, an object, or the path form. */
function keyPath(table: Table, key: Json): string {
  if (isObject(key)) return pathOf(table.key.map((name) => key[name] ?? null));
  return table.key.length > 1 ? String(key) : pathOf([key]);
}

/** Named items must all be there, unless something else in the query selects. */
function isIncomplete(rows: readonly Row[], { keys = [], filter, search, offset = 0, limit = -1 }: Query): boolean {
  const wanted = new Set(keys.map((key) => JSON.stringify(key))).size;
  const selects = filter !== undefined || search !== undefined || offset > 0 || (limit !== -1 && limit < wanted);
  return !selects && rows.length < wanted;
}

function meets(view: View, table: Table, row: Row, { filter, search }: Query): boolean {
  return matches(view, view.world.asker, table, row, filter) && isFound(view, table, row, search);
}

/** In place of the text of a next cursor, which the model does not know, stands that there is one. */
export const someCursor = 'a cursor';

function metaOf(
  { meta = [], cursor, limit = 100 }: Query,
  total: number,
  filtered: number,
): { readonly meta?: JsonObject } {
  if (meta.length === 0 && cursor === undefined) return {};
  const wants = (name: string): boolean => meta.includes(name) || meta.includes('*');
  return {
    meta: {
      ...(wants('total_count') && { total_count: total }),
      ...(wants('filter_count') && { filter_count: filtered }),
      ...(cursor !== undefined && {
        next_cursor: limit !== -1 && filtered > limit ? someCursor : null,
        previous_cursor: null,
      }),
    },
  };
}

function item(view: View, table: Table, row: Row, { fields = ['*'], alias = {}, deep = {} }: Query): JsonObject {
  const level: Level = { view, table, aliases: alias, deep };
  return selectRow(
    level,
    row,
    fields.map((field) => field.split('.')),
  );
}

/** A singleton is its first readable row; without one it reads as its defaults, as far as the rules grant them. */
function singleton(view: View, table: Table, rows: readonly Row[], query: Query): Json {
  const [first] = sortRows(view, table, rows, query.sort ?? []).filter((row) => meets(view, table, row, query));
  if (first !== undefined) return item(view, table, first, query);
  const defaults: Row = Object.fromEntries(table.columns.map((column) => [column.name, column.default ?? null]));
  return item(withDefaults(view, table, defaults), table, defaults, query);
}

/** A filter that says of fields which no stored row leaves null that they are not, as rules are compiled. */
function asStored(table: Table, filter: JsonObject | null): JsonObject | null {
  if (filter === null) return null;
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]): [string, Json] => {
      if (Array.isArray(value) && /^_(and|or)$/.test(name))
        return [name, value.map((part) => asStored(table, isObject(part) ? part : {}))];
      return [name, columnOf(table, name)?.nullable === false ? neverNull(value) : value];
    }),
  );
}

/** A comparison with a field that is never null: tests for null have their answer. */
function neverNull(comparison: Json): Json {
  const never: JsonObject = { _in: [] };
  if (comparison === null) return never;
  if (!isObject(comparison)) return comparison;
  const parts = Object.entries(comparison).map(([operator, value]): JsonObject => {
    if (Array.isArray(value) && /^_(and|or)$/.test(operator)) return { [operator]: value.map(neverNull) };
    const isNull = operator === '_null' || operator === '_eq';
    const isTest = operator === '_null' || operator === '_nnull' || (value === null && /^_n?eq$/.test(operator));
    if (!isTest) return { [operator]: value };
    return isNull === (value !== false) ? never : {};
  });
  return Object.assign({}, ...parts);
}

/** The view in which the defaults of a singleton are a row. Rules judge it as they would judge a stored one. */
function withDefaults(view: View, table: Table, defaults: Row): View {
  const open = openEyes(view.world, view.rows);
  const own = (view.world.rules.get(table.name) ?? []).filter((rule) => rule.fields.length > 0);
  const lists = (rule: Rule, name: string): boolean => rule.fields.includes(name);
  const grants = (name: string): boolean =>
    own.every((rule) => lists(rule, name)) ||
    own.some(
      (rule) => lists(rule, name) && ruleMatches(open, view.world.asker, table, defaults, asStored(table, rule.filter)),
    );
  return {
    ...view,
    cell: (of, row, field) =>
      row === defaults ? (grants(field) ? (row[field] ?? null) : null) : view.cell(of, row, field),
    related(of, row, relation) {
      if (row !== defaults) return view.related(of, row, relation);
      return grants(relation.name) ? view.reachable(row, relation) : null;
    },
  };
}
