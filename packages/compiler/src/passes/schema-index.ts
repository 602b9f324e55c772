import type { Collection, Column, GraphqlEnum, Relation, Schema, Table } from '@tablewright/introspect/schema';
import { defaultDialect, derivedOnce, systemCollection } from '@tablewright/runtime/language';
import type { ApiEnum } from '../api.ts';
import type { Lookup } from '../cache/memo-cache.ts';
import { createInterning } from '../cache/same.ts';

import { nameEnums } from './names.ts';

/** Look-ups over a schema, by the names its parts refer to each other with. */
export interface SchemaIndex {
  readonly dialect: Schema['dialect'];
  /** True if callers are passed on to policies. */
  readonly passesCallers: boolean;
  /** True if policies hide rows of a table. */
  hides(table: Table): boolean;
  table(id: string): Table;
  column(table: Table, name: string): Column;
  /** The base column of a view's column; undefined where it is none or lies outside the schema. */
  source(column: Column): Column | undefined;
  collection(name: string): Collection;
  /** API name of the collection of a table; undefined when it has none. */
  collectionOf(table: string): string | undefined;
  /** The enum type of an id, and the GraphQL enum of a type or column. */
  enumType(source: string): ApiEnum | undefined;
  graphqlEnum(source: string): GraphqlEnum | undefined;
  /** Many-to-any relations whose link rows are those of the collection. */
  linkedBy(name: string): readonly (Relation & { readonly kind: 'm2a' })[];
}

type Links = readonly (Relation & { readonly kind: 'm2a' })[];

/** Sources of the look-ups, each watched separately. */
export interface SchemaSources {
  readonly dialect: Lookup<Schema['dialect']>;
  readonly rowSecurity: Lookup<Schema['rowSecurity']>;
  readonly seesAllRows: Lookup<Schema['seesAllRows']>;
  readonly tables: Lookup<Table>;
  readonly collections: Lookup<Collection>;
  readonly byTable: Lookup<string>;
  /** By the names of link collections. */
  readonly linked: Lookup<Links>;
  /** By their sources. */
  readonly enumTypes: Lookup<ApiEnum>;
  readonly graphqlEnums: Lookup<GraphqlEnum>;
}

export function sourcesOf(schema: Schema, enums: readonly ApiEnum[]): SchemaSources {
  const links = schema.collections.flatMap(({ relations }) => relations.filter((relation) => relation.kind === 'm2a'));
  const linked = Map.groupBy(links, ({ target }) => target);
  return {
    dialect: new Map([['', schema.dialect]]),
    rowSecurity: new Map([['', schema.rowSecurity]]),
    seesAllRows: new Map([['', schema.seesAllRows]]),
    tables: new Map(schema.tables.map((table) => [table.id, table])),
    collections: new Map(schema.collections.map((collection) => [collection.name, collection])),
    byTable: new Map(schema.collections.map(({ name, table }) => [table, name])),
    linked: new Map([...linked].map(([name, group]) => [name, oneList(group[0] ?? group, group)])),
    enumTypes: new Map(enums.map((type) => [type.source, type])),
    graphqlEnums: new Map(schema.graphqlEnums?.map((found) => [found.source, found])),
  };
}

const oneList = createInterning<Links>();

/** Indexes a schema. A look-up throws when the name does not exist: the rules have refused such a schema before. */
export function indexSchema(schema: Schema): SchemaIndex {
  return indexOf(sourcesOf(schema, nameEnums(schema)));
}

export function indexOf(sources: SchemaSources): SchemaIndex {
  const { dialect, rowSecurity, seesAllRows, tables, collections, byTable, linked, enumTypes, graphqlEnums } = sources;
  return {
    enumType: (source) => enumTypes.get(source),
    graphqlEnum: (source) => graphqlEnums.get(source),
    dialect: dialect.get('') ?? defaultDialect,
    passesCallers: rowSecurity.get('') !== undefined,
    hides: (table) => table.rowSecurity.enabled && seesAllRows.get('') !== true,
    collectionOf: (table) => byTable.get(table),
    linkedBy: (name) => linked.get(name) ?? [],
    table: (id) => found(tables.get(id), `table ${id}`),
    column: (table, name) => found(columnsOf(table).get(name), `column ${name} of ${table.id}`),
    source({ source }) {
      const base = source === null ? undefined : tables.get(source.table);
      return base && source !== null ? columnsOf(base).get(source.column) : undefined;
    },
    collection: (name) => found(collections.get(name), `collection ${name}`),
  };
}

/** Stands for a column where a field tells the items that are no rows. */
export const impliedColumn: Column = {
  ...{ name: 'system', nativeType: 'boolean', nullable: false, updatable: false, fill: { kind: 'none' } },
  ...{ collation: null, comment: null, source: null },
  type: {
    ...{ portable: 'boolean', base: 'bool', category: 'base', domains: [], element: null },
    ...{ enum: null, values: null, maxLength: null, precision: null, scale: null },
  },
};

export const columnsOf = derivedOnce((table: Table): ReadonlyMap<string, Column> => {
  const implied = systemCollection(table.name)?.implied === undefined ? [] : [impliedColumn];
  return new Map([...table.columns, ...implied].map((column) => [column.name, column]));
});

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`The schema refers to ${what}, which it does not contain.`);
  return value;
}
