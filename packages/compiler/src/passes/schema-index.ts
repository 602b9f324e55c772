import type { Collection, Column, Relation, Schema, Table } from '@platform/introspect/schema';

/** Look-ups over a schema, by the names its parts refer to each other with. */
export interface SchemaIndex {
  readonly dialect: Schema['dialect'];
  table(id: string): Table;
  column(table: Table, name: string): Column;
  /** The base column of a view's column; undefined where it is none or lies outside the schema. */
  source(column: Column): Column | undefined;
  collection(name: string): Collection;
  /** API name of the collection of a table; undefined when it has none. */
  collectionOf(table: string): string | undefined;
  /** Many-to-any relations whose link rows are those of the collection. */
  linkedBy(name: string): readonly (Relation & { readonly kind: 'm2a' })[];
}

/** Indexes a schema. A look-up throws when the name does not exist: the rules have refused such a schema before. */
export function indexSchema(schema: Schema): SchemaIndex {
  const tables = new Map(schema.tables.map((table) => [table.id, table]));
  const columns = new Map(schema.tables.map((table) => [table.id, new Map(table.columns.map((c) => [c.name, c]))]));
  const collections = new Map(schema.collections.map((collection) => [collection.name, collection]));
  const byTable = new Map(schema.collections.map(({ name, table }) => [table, name]));
  const links = schema.collections.flatMap(({ relations }) => relations.filter((relation) => relation.kind === 'm2a'));
  const linked = Map.groupBy(links, ({ target }) => target);
  return {
    dialect: schema.dialect,
    collectionOf: (table) => byTable.get(table),
    linkedBy: (name) => linked.get(name) ?? [],
    table: (id) => found(tables.get(id), `table ${id}`),
    column: (table, name) => found(columns.get(table.id)?.get(name), `column ${name} of ${table.id}`),
    source: ({ source }) => (source ? columns.get(source.table)?.get(source.column) : undefined),
    collection: (name) => found(collections.get(name), `collection ${name}`),
  };
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`The schema refers to ${what}, which it does not contain.`);
  return value;
}
