/** Small schemas for tests, written by what differs from the ordinary. */
import type {
  Collection,
  Column,
  ColumnType,
  Field,
  Permission,
  Relation,
  Schema,
  Table,
} from '@tablewright/introspect/schema';
import { always, type PortableType, tableId } from '@tablewright/runtime/language';

/** A column type by its base and portable names. */
export function typeOf(base: string, portable: PortableType, more: Partial<ColumnType> = {}): ColumnType {
  return {
    portable,
    base,
    category: 'base',
    domains: [],
    element: null,
    enum: null,
    values: null,
    maxLength: null,
    precision: null,
    scale: null,
    ...more,
  };
}

/** An array of a type. */
export function arrayOf(element: ColumnType): ColumnType {
  return typeOf(`_${element.base}`, 'array', { category: 'array', element });
}

/** A column; its native type is written as its base. */
export function columnOf(name: string, type: ColumnType, more: Partial<Column> = {}): Column {
  return {
    name,
    nativeType: type.base,
    type,
    nullable: true,
    fill: { kind: 'none' },
    collation: null,
    comment: null,
    source: null,
    updatable: true,
    ...more,
  };
}

/** A table of the schema `public` whose key is its first column. */
export function tableOf(name: string, columns: readonly Column[], more: Partial<Table> = {}): Table {
  const [first] = columns;
  return {
    id: tableId(more.schema ?? 'public', name),
    schema: 'public',
    name,
    kind: 'table',
    comment: null,
    owner: 'owner',
    rowSecurity: { enabled: false, forced: false },
    inherits: [],
    writable: { insert: true, update: true, delete: true },
    columns,
    primaryKey: first
      ? { name: `${name}_pkey`, columns: [first.name], deferrable: false, nullsNotDistinct: false }
      : null,
    uniques: [],
    foreignKeys: [],
    checks: [],
    indexes: [],
    ...more,
  };
}

/** The collection of a table, with a field for every column. */
export function collectionOf(
  table: Table,
  relations: readonly Relation[] = [],
  more: Partial<Collection> = {},
): Collection {
  return {
    name: table.name,
    table: table.id,
    note: null,
    singleton: false,
    key: table.primaryKey?.columns ?? [],
    sort: null,
    archive: null,
    fields: table.columns.map(fieldOf),
    relations,
    ...more,
  };
}

function fieldOf({ name, type, nullable, fill }: Column): Field {
  return { name, column: name, type: type.portable, note: null, required: !nullable && fill.kind === 'none' };
}

/** A rule that grants every row. */
export function ruleOf(
  role: string,
  collection: string,
  action: Permission['action'],
  fields: readonly string[],
  more: Partial<Permission> = {},
): Permission {
  return { role, collection, action, fields, where: always, check: null, presets: [], ...more };
}

/** A schema of tables and collections without roles. */
export function schemaOf(
  tables: readonly Table[],
  collections: readonly Collection[],
  more: Partial<Schema> = {},
): Schema {
  return { version: 1, dialect: 'postgres', tables, enums: [], collections, roles: [], permissions: [], ...more };
}
