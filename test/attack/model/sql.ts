/** A world as SQL, configuration and permissions: what its users would have written. */
import type { Column, Json, Relation, Row, Rows, Table, World } from './world.ts';
import { labels } from './world.ts';

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const nativeTypes: Readonly<Record<Column['type'], string>> = {
  integer: 'integer',
  bigInteger: 'bigint',
  decimal: 'numeric(8,2)',
  text: 'text',
  string: 'varchar(20)',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'timestamptz',
  uuid: 'uuid',
  enum: 'level',
  json: 'jsonb',
  array: 'text[]',
  secret: 'text',
};

/** Creates the tables. */
export function schemaSql({ tables }: World): string {
  const all = [...tables.values()];
  const created = all.map(
    (table) => `CREATE TABLE ${quoted(table.name)} (${table.columns.map(columnSql).join(', ')});`,
  );
  const type = `CREATE TYPE level AS ENUM (${labels.map(literal).join(', ')});`;
  return [type, ...created, ...all.flatMap(keysSql), ...all.flatMap(foreignKeysSql)].join('\n');
}

function columnSql({ name, type, nullable, default: value }: Column): string {
  const filled = value === undefined ? '' : ` DEFAULT ${valueSql(type, value)}`;
  return `${quoted(name)} ${nativeTypes[type]}${nullable ? '' : ' NOT NULL'}${filled}`;
}

const listed = (names: readonly string[]): string => names.map(quoted).join(', ');

function keysSql({ name, key, unique }: Table): readonly string[] {
  const primary = `ALTER TABLE ${quoted(name)} ADD PRIMARY KEY (${listed(key)});`;
  return unique === undefined ? [primary] : [primary, `ALTER TABLE ${quoted(name)} ADD UNIQUE (${listed(unique)});`];
}

function foreignKeysSql({ name, foreignKeys }: Table): readonly string[] {
  return foreignKeys.map(({ target, on }) => {
    const [from, to] = [listed(on.map((pair) => pair.from)), listed(on.map((pair) => pair.to))];
    return `ALTER TABLE ${quoted(name)} ADD FOREIGN KEY (${from}) REFERENCES ${quoted(target)} (${to});`;
  });
}

/** Fills the tables, in the order of the rows. Foreign keys are checked when all rows are there. */
export function rowsSql({ tables }: World, rows: Rows): string {
  const inserts = [...tables.values()].flatMap((table) => {
    const values = (rows.get(table.name) ?? []).map((row) => `(${rowSql(table, row)})`);
    return values.length === 0 ? [] : [`INSERT INTO ${quoted(table.name)} VALUES ${values.join(', ')};`];
  });
  return ['SET session_replication_role = replica;', ...inserts, 'RESET session_replication_role;'].join('\n');
}

function rowSql({ columns }: Table, row: Row): string {
  return columns.map(({ name, type }) => valueSql(type, row[name] ?? null)).join(', ');
}

function valueSql(type: Column['type'], value: Json): string {
  if (value === null) return 'NULL';
  if (type === 'json') return `${literal(JSON.stringify(value))}::jsonb`;
  if (Array.isArray(value)) return `ARRAY[${value.map((element) => literal(String(element))).join(', ')}]::text[]`;
  return literal(String(value));
}

/** The configuration, as `defineConfig` takes it. */
export function configOf({ tables }: World): { readonly [key: string]: Json } {
  const all = [...tables.values()];
  return {
    collections: Object.fromEntries(all.map((table) => [table.name, collectionConfig(table)])),
    relations: Object.fromEntries(all.flatMap((table) => table.relations.flatMap((one) => relationConfig(table, one)))),
    manyToMany: all.flatMap(({ relations }) => relations.flatMap((one) => junctionConfig(all, one))),
    manyToAny: all.flatMap((table) => table.relations.flatMap((one) => linkConfig(table, one))),
  };
}

function collectionConfig({ columns, sort, singleton }: Table): Json {
  const secrets = columns
    .filter(({ type }) => type === 'secret')
    .map(({ name }) => [name, { type: 'secret' }] as const);
  return {
    fields: Object.fromEntries(secrets),
    ...(sort !== undefined && { sort }),
    ...(singleton && { singleton }),
  };
}

function relationConfig(table: Table, relation: Relation): readonly (readonly [string, Json])[] {
  if (relation.kind !== 'o2m' || relation.sort === undefined) return [];
  return [[`${table.name}.${relation.name}`, { sort: relation.sort }]];
}

/** Each junction is declared once, from its first direction: `m0`, whose other direction is `w0`. */
function junctionConfig(all: readonly Table[], relation: Relation): readonly Json[] {
  if (relation.kind !== 'm2m' || !relation.name.startsWith('m')) return [];
  const junction = all.find(({ name }) => name === relation.junction);
  const nameOf = (columns: readonly string[]): string =>
    junction?.relations.find((one) => one.kind === 'm2o' && one.on.map(({ from }) => from).join() === columns.join())
      ?.name ?? '';
  return [
    {
      junction: relation.junction,
      near: nameOf(relation.near.map(({ to }) => to)),
      far: nameOf(relation.far.map(({ from }) => from)),
      name: relation.name,
      inverseName: relation.name.replace('m', 'w'),
      ...(relation.sort !== undefined && { sort: relation.sort }),
    },
  ];
}

function linkConfig(table: Table, relation: Relation): readonly Json[] {
  if (relation.kind !== 'm2a') return [];
  const { name, target, on, kindField, itemField, allowed, sort } = relation;
  const linkField = on[0]?.to ?? '';
  const link = {
    collection: table.name,
    field: name,
    link: target,
    linkField,
    collectionField: kindField,
    itemField,
    allowed,
  };
  return [{ ...link, ...(sort !== undefined && { sort }) }];
}

/** The permissions file, in JSON, which is YAML too. */
export function permissionsOf({ rules }: World): string {
  const own = [...rules].filter(([, list]) => list.length > 0);
  const collections = own.map(([name, list]) => [
    name,
    { read: list.map(({ fields, filter }) => ({ fields, ...(filter && { filter }) })) },
  ]);
  return JSON.stringify({ roles: { reader: {} }, permissions: { reader: Object.fromEntries(collections) } }, null, 1);
}
