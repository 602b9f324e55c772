/**
 * What a statement that was made for an access class may consist of, written down without a look at how statements are
 * made: words and functions of a list, parameters, a few literals, and of the database the names that the class may
 * read, those that its row rules speak of, and those that join and order what it may read.
 */
import type { AccessClass, CollectionDescriptor, ColumnPair, CompiledApi, Condition } from '@tablewright/runtime';
import { sizeQuery } from '../../packages/runtime/src/dialects/postgres/database.ts';
import { withSettings } from '../../packages/runtime/src/dialects/postgres/row-security.ts';

/** Finds what a statement must not contain; nothing for one that keeps the law. */
export type StatementLaw = (text: string) => readonly string[];

/** Settings of sessions, which connections send by themselves: no text of a request is in them. */
export const sessionSetting = /^(?:SELECT [^;]*\bpg_control_system\b[^;]*; )?SET (client_encoding|plan_cache_mode)\b/;

/** Statements that choosing among texts needs: sizes of tables, and the cost of pages. No text of a request is in them. */
export const choosingStatements: readonly string[] = [
  sizeQuery,
  withSettings(undefined, 'many', { random_page_cost: '4' }).apply.text,
];

/** Makes the law of an access class. */
export function createStatementLaw(api: CompiledApi, className: string): StatementLaw {
  const access = api.access.find(({ name }) => name === className);
  if (access === undefined) throw new Error(`there is no access class ${className}`);
  const columns = allowedColumns(api, access);
  const names = new Set([...columns.values()].flatMap((own) => [...own]));
  return (text) => {
    if (choosingStatements.includes(text)) return [];
    const tokens = tokensOf(text);
    const tables = tablesIn(text);
    const foreign = tokens.filter((token) => !isWord(token) && !isName(token, names, columns, api));
    const misplaced = [...text.matchAll(/\b(t\d+)\.("(?:[^"]|"")*")/g)].flatMap(([whole, alias = '', column = '']) => {
      const table = tables.get(alias);
      return table === undefined || columns.get(table)?.has(column) === true ? [] : [`${table} ${whole}`];
    });
    const hidden = [...tables.values()].filter((table) => !columns.has(table));
    return [...foreign, ...misplaced, ...hidden];
  };
}

/** Quoted names, texts, placeholders, numbers, words with their dots, and every other character. */
function tokensOf(text: string): readonly string[] {
  return text.match(/"(?:[^"]|"")*"|'(?:[^']|'')*'|\$\d+|\d+(?:\.\d+)?|[A-Za-z_][\w.]*|\S/g) ?? [];
}

const words =
  /^(SELECT|FROM|WHERE|AND|OR|NOT|IS|NULL|TRUE|FALSE|EXISTS|CASE|WHEN|THEN|ELSE|END|AS|ON|IN|ANY|ALL|ROW|ROWS|ARRAY|LEFT|CROSS|LATERAL|FULL|JOIN|ORDER|BY|DESC|LIMIT|OFFSET|LIKE|ILIKE|BETWEEN|DISTINCT|GROUP|HAVING|AT|TIME|ZONE|COLLATE|WITH|MATERIALIZED|OVER|PARTITION|UNION|COALESCE|text|int2|int4|int8|float4|float8|numeric|name|bpchar|bool|uuid|date|time|timetz|timestamp|timestamptz|interval|json|jsonb|bytea|k\d*|f\d+|r|p|e|[tcosx]\d+(\.([cosxf]\d+|e|p|k|r|s)?)?)$/;
const functions =
  /^pg_catalog\.(|count|sum|avg|min|max|array_agg|row_number|now|unnest|floor|date_part|isfinite|cardinality|jsonb?_array_length|jsonb?_typeof|jsonb_build_array|jsonb_array_elements|text|numeric|int8|interval)$/;
const texts: ReadonlySet<string> = new Set([
  ...["''", "'{}'", "'UTC'", "'array'", "'string'", "'number'", "'boolean'"],
  ...['year', 'month', 'week', 'day', 'dow', 'hour', 'minute', 'second'].map((part) => `'${part}'`),
  // Keys of many-to-any items are cast where they can be.
  "'^-?[0-9]{1,18}$'",
  "'^-?([0-9]{1,18}|[1-8][0-9]{18}|9[01][0-9]{17}|92[01][0-9]{16}|922[0-2][0-9]{15})$'",
  "'^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'",
]);

/** Limits that are written into statements, and one more for pages by cursor; every other one is a parameter. */
const numbers: ReadonlySet<string> = new Set(
  [0, 1, 2, 3, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000].flatMap((limit) => [String(limit), String(limit + 1)]),
);

function isWord(token: string): boolean {
  return (
    /^(\$\d+|[(),.:=<>*[\]~@#&])$/.test(token) ||
    words.test(token) ||
    functions.test(token) ||
    texts.has(token) ||
    numbers.has(token)
  );
}

/** A name of the database that the class has to do with, or one that a page gives to what it computes. */
function isName(
  token: string,
  names: ReadonlySet<string>,
  columns: ReadonlyMap<string, ReadonlySet<string>>,
  { collections }: CompiledApi,
): boolean {
  if (!token.startsWith('"')) return false;
  if (names.has(token) || token === '"default"' || token === '"extract"' || /^"x_*\d+"$/.test(token)) return true;
  const types = collections.flatMap(({ fields }) => fields.map(({ native }) => native));
  return [...columns.keys(), ...types].some((qualified) => qualified.split('.').includes(token));
}

/** Tables by their alias. */
function tablesIn(text: string): ReadonlyMap<string, string> {
  const found = text.matchAll(/((?:"(?:[^"]|"")*"\.)"(?:[^"]|"")*") (t\d+)\b/g);
  return new Map([...found].map(([, table = '', alias = '']) => [alias, table]));
}

/** The columns that statements of the class may touch, by quoted table. */
function allowedColumns(api: CompiledApi, access: AccessClass): ReadonlyMap<string, ReadonlySet<string>> {
  const columns = new Map<string, Set<string>>();
  const byName = new Map(api.collections.map((collection) => [collection.name, collection]));
  const take = (table: string, ...quoted: readonly string[]): void => {
    const known = columns.get(table) ?? new Set();
    columns.set(table, known);
    for (const column of quoted) known.add(column);
  };
  const takeField = ({ table, fields }: CollectionDescriptor, name: string): void =>
    take(table, ...fields.filter((field) => field.name === name).map(({ column }) => column));
  const tableOf = (name: string): string => byName.get(name)?.table ?? '';
  const takePairs = (from: string, on: readonly ColumnPair[], to: string): void => {
    take(from, ...on.map((pair) => pair.from));
    take(to, ...on.map((pair) => pair.to));
  };

  function takeRelation(owner: CollectionDescriptor, name: string): CollectionDescriptor | undefined {
    const relation = owner.relations.find((candidate) => candidate.name === name);
    const target = byName.get(relation?.target ?? '');
    if (relation === undefined || target === undefined) return undefined;
    if (relation.kind === 'm2m') {
      takePairs(owner.table, relation.near, relation.junctionTable);
      takePairs(relation.junctionTable, relation.far, target.table);
      const junction = byName.get(relation.junction);
      if (junction !== undefined && relation.sort !== undefined) takeField(junction, relation.sort);
    } else takePairs(owner.table, relation.on, target.table);
    if (relation.kind === 'm2a')
      for (const field of [relation.collectionField, relation.itemField]) takeField(target, field);
    return target;
  }

  function takeCondition(owner: CollectionDescriptor, condition: Condition): void {
    if (condition.kind === 'and' || condition.kind === 'or') {
      for (const part of condition.of) takeCondition(owner, part);
    } else if (condition.kind === 'compare') {
      takeField(owner, condition.field);
      takeRelation(owner, condition.field);
    } else {
      const item = byName.get(condition.item ?? '');
      const target = item ?? takeRelation(owner, condition.relation);
      if (item !== undefined) for (const key of item.key) takeField(item, key);
      if (target !== undefined) takeCondition(target, condition.where);
    }
  }

  for (const { collection: name, read = [] } of access.collections) {
    const collection = byName.get(name);
    if (collection === undefined || read.length === 0) continue;
    take(tableOf(name));
    for (const key of collection.key) takeField(collection, key);
    for (const { fields, where } of read) {
      takeCondition(collection, where);
      for (const field of fields) {
        takeField(collection, field);
        const target = collection.relations.find((relation) => relation.name === field)?.target ?? '';
        if (access.collections.some((one) => one.collection === target && one.read !== undefined))
          takeRelation(collection, field);
      }
    }
  }
  return columns;
}
