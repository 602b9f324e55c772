/** Findings about a database: clock, rights, ability to write, and settings that some feature needs. */
import type { Column, Schema, Table } from '@tablewright/introspect/schema';
import type { Condition } from '@tablewright/runtime';
import { examineRowSecurity } from '@tablewright/runtime/explain';
import { dialectFacts, familyOf, printTable } from '@tablewright/runtime/language';
import { hostUrls } from '@tablewright/runtime/tools';
import { reasonOf } from '../errors/failures.ts';
import { writableApi } from '../explain/role.ts';
import type { ConnectionFacts } from '../sources/commands.ts';
import { sources } from '../sources/dialects.ts';
import type { Finding } from '../sources/finding.ts';
import { quotedName, quotedTable, type Source } from '../sources/source.ts';

/** Asks the database; every question stands alone, so one that is refused hides no other. */
export async function examineDatabase(source: Source, schema: Schema): Promise<readonly Finding[]> {
  const { examinations } = await sources[source.family].commands();
  const found: Finding[] = [];
  for (const examine of examinations(schema)) found.push(...(await examine(source).catch(unanswered)));
  return [...found, ...(await examinePassedCallers(source, schema).catch(unanswered))];
}

/** Reads an address of a database as the driver does, of each of its hosts. */
export async function connectionFacts(url: string): Promise<readonly ConnectionFacts[]> {
  const { connection } = await sources[familyOf(url)].commands();
  return hostUrls(url).map(connection);
}

/** Connections that the role of a database may have at once; null where there is no limit. */
export async function connectionLimit({ family, run }: Source): Promise<number | null> {
  const { limitsSql } = await sources[family].commands();
  const [row = []] = await run(limitsSql, []);
  const limits = row.map(Number).filter((limit) => limit > 0);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** A failed examination is reported, as its result is unknown. */
function unanswered(error: unknown): readonly Finding[] {
  const message = `The database did not answer a question of the doctor: ${reasonOf(error)}.`;
  const advice = 'Ask again as a role that may ask it.';
  return [{ check: 'unanswered', severity: 'note', message, advice }];
}

/** Looks at them as a server does when it starts. */
async function examinePassedCallers({ run, embedded }: Source, schema: Schema): Promise<readonly Finding[]> {
  if (schema.rowSecurity === undefined) return [];
  const found = await examineRowSecurity(writableApi(schema), { query: run }, embedded !== null);
  return found.map(({ code, refused, message, advice }) => ({
    ...{ check: code, message, advice },
    severity: refused ? ('problem' as const) : ('warning' as const),
  }));
}

export function examineTables(schema: Schema): readonly Finding[] {
  const tables = new Map(schema.tables.map((table) => [table.id, table]));
  return schema.collections.flatMap(({ name, table: id, key, system }) => {
    const table = tables.get(id);
    if (table === undefined || system !== undefined) return [];
    return [
      ...(key.length === 0 ? [withoutKey(name, table)] : []),
      ...(isStored(table) ? unindexedKeys(schema, table) : []),
      ...(isStored(table) ? unindexedRules(schema, name, table) : []),
      ...(isStored(table) ? examineGeometries(schema, table) : []),
    ];
  });
}

function isStored({ kind }: Table): boolean {
  return kind === 'table' || kind === 'partitioned' || kind === 'materializedView';
}

function withoutKey(collection: string, { kind, columns, uniques }: Table): Finding {
  const isView = kind === 'view' || kind === 'materializedView' || kind === 'foreign';
  const required = new Set(columns.filter(({ nullable }) => !nullable).map(({ name }) => name));
  const isUnique = uniques.some((key) => key.columns.every((column) => required.has(column)));
  return {
    check: 'no-key',
    severity: isView ? 'note' : 'warning',
    message: `"${collection}" has no key: it can only be listed.`,
    advice: isView
      ? 'Name one as "key" in platform.config.ts.'
      : `Add a primary key${isUnique ? ', or name the unique one as "key" in platform.config.ts' : ''}.`,
  };
}

/** Relations are followed from both sides, and rows that are deleted look for those that refer to them. */
function unindexedKeys({ dialect }: Schema, table: Table): readonly Finding[] {
  return table.foreignKeys
    .filter(({ columns }) => !hasIndex(table, columns))
    .map(({ columns, target }) => ({
      check: 'missing-index',
      severity: 'warning' as const,
      message: `No index of ${printTable(dialect, table.id)} begins with (${columns.join(', ')}), which refers to ${printTable(dialect, target)}.`,
      advice: indexSql(dialect, table, columns),
    }));
}

function unindexedRules(
  { dialect, permissions, collections }: Schema,
  collection: string,
  table: Table,
): readonly Finding[] {
  const rules = permissions.filter((rule) => rule.collection === collection && rule.action !== 'create');
  const fields = new Map(
    collections.find(({ name }) => name === collection)?.fields.map((field) => [field.name, field.column]),
  );
  const names = new Set(rules.flatMap(({ where }) => comparedFields(where)));
  const columns = [...names].flatMap((name) => fields.get(name) ?? []);
  return columns
    .filter((column) => !hasIndex(table, [column]))
    .map((column) => ({
      check: 'rule-index',
      severity: 'note' as const,
      message: `A rule for "${collection}" asks for ${column}, with which no index of ${printTable(dialect, table.id)} begins.`,
      advice: `Where few rows meet the rule: ${indexSql(dialect, table, [column])}`,
    }));
}

/** Fields of the row itself that an index could find. */
function comparedFields(condition: Condition): readonly string[] {
  if (condition.kind === 'and' || condition.kind === 'or') return condition.of.flatMap(comparedFields);
  if (condition.kind !== 'compare' || condition.function !== undefined || condition.path !== undefined) return [];
  return ['_eq', '_in', '_lt', '_lte', '_gt', '_gte', '_between'].includes(condition.operator) ? [condition.field] : [];
}

/** True if an index begins with these columns, in any order. */
function hasIndex({ primaryKey, uniques, indexes }: Table, columns: readonly string[]): boolean {
  const keys = [primaryKey, ...uniques, ...indexes.filter(({ predicate }) => predicate === null)];
  return keys.some((key) => columns.every((column) => key?.columns.slice(0, columns.length).includes(column)));
}

function indexSql(dialect: Schema['dialect'], table: Table, columns: readonly string[]): string {
  const name = quotedTable(dialect, table);
  const list = columns.map((column) => quotedName(dialect, column)).join(', ');
  return dialectFacts[dialect].namesIndexes
    ? `CREATE INDEX ON ${name} (${list});`
    : `ALTER TABLE ${name} ADD INDEX (${list});`;
}

/** Looks at the geometries of a stored table: shapes need an index, and distances on the earth one of geographies. */
function examineGeometries({ dialect }: Schema, table: Table): readonly Finding[] {
  const spatial = table.indexes.filter(({ method }) => /^(?:sp-?gist|gist|brin|spatial|rtree)$/i.test(method));
  const keys = spatial.flatMap(({ columns }) => columns);
  return table.columns
    .filter(({ type }) => type.portable === 'geometry')
    .flatMap((column) => {
      const finding = (purpose: string, expression: string): Finding => ({
        check: 'geo-index-missing',
        severity: 'note',
        message: `No index of ${printTable(dialect, table.id)} serves ${purpose} of "${column.name}".`,
        advice: needsOf(dialect, column) + spatialIndexSql(dialect, table, expression),
      });
      const name = quotedName(dialect, column.name);
      const isOfEarth = (key: string): boolean => /geography/.test(key) && key.includes(column.name);
      return [
        ...(keys.includes(column.name) ? [] : [finding('shapes and boxes', name)]),
        ...(isMeasured(column) && !keys.some(isOfEarth) ? [finding('distances', `(${name}::geography)`)] : []),
      ];
    });
}

/** True if distances are those of geographies that are made of the column. */
function isMeasured({ type: { category, base, geometry } }: Column): boolean {
  return category === 'extension' && geometry?.srid === 4326 && !/\bgeography"?$/.test(base);
}

/** The beginning of an advice: what the column needs before the server can have the index, and uses it. */
function needsOf(dialect: Schema['dialect'], { name, nullable, type }: Column): string {
  const { namesIndexes, hasSpatialReferences } = dialectFacts[dialect];
  if (namesIndexes) return '';
  const needs = [
    ...(nullable ? ['NOT NULL'] : []),
    ...(hasSpatialReferences && (type.geometry?.srid ?? null) === null ? ['an SRID'] : []),
  ];
  return needs.length === 0 ? '' : `Give ${quotedName(dialect, name)} ${needs.join(' and ')}, then: `;
}

function spatialIndexSql(dialect: Schema['dialect'], table: Table, expression: string): string {
  const name = quotedTable(dialect, table);
  return dialectFacts[dialect].namesIndexes
    ? `CREATE INDEX ON ${name} USING gist (${expression});`
    : `ALTER TABLE ${name} ADD SPATIAL INDEX (${expression});`;
}
