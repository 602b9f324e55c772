import type { PortableType } from '@tablewright/runtime/language';
import type { SchemaFacts } from '../facts.ts';
import { sortedBy } from '../order.ts';
import type { Column, ForeignKey, Key, Table } from '../schema.ts';
import { tableId } from '../table-names.ts';

/** Facts of a table that a test states; everything else is as in a plain table of plain columns. */
export interface TableSketch {
  readonly schema?: string;
  readonly kind?: Table['kind'];
  readonly comment?: string;
  /** `id!` is not null, `id!=` not null with a default, `n:integer` of a type; text where none is given. */
  readonly columns: readonly string[];
  readonly key?: readonly string[];
  readonly uniques?: readonly (readonly string[])[];
  /** `author_id > authors.id`, `a,b > public.targets.x,y`. Named `<table>_<columns>_<target>`. */
  readonly foreignKeys?: readonly string[];
  readonly rowSecurity?: boolean;
  readonly readOnly?: boolean;
}

/** Facts with the tables sketched, by name. */
export function facts(tables: Readonly<Record<string, TableSketch>>): SchemaFacts {
  return { tables: Object.entries(tables).map(([name, sketch]) => table(name, sketch)), enums: [], diagnostics: [] };
}

/** One table from a sketch. */
export function table(name: string, sketch: TableSketch): Table {
  const schema = sketch.schema ?? 'public';
  const columns = sketch.columns.map(column);
  const mayWrite = sketch.readOnly !== true;
  return {
    id: tableId(schema, name),
    schema,
    name,
    kind: sketch.kind ?? 'table',
    comment: sketch.comment ?? null,
    owner: 'owner',
    rowSecurity: { enabled: sketch.rowSecurity ?? false, forced: false },
    inherits: [],
    writable: { insert: mayWrite, update: mayWrite, delete: mayWrite },
    columns,
    primaryKey: sketch.key === undefined ? null : key(`${name}_pkey`, sketch.key),
    uniques: (sketch.uniques ?? []).map((unique) => key(`${name}_${unique.join('_')}_key`, unique)),
    foreignKeys: sortedBy(
      (sketch.foreignKeys ?? []).map((text) => foreignKey(name, schema, text)),
      (item) => item.name,
    ),
    checks: [],
    indexes: [],
  };
}

const nativeTypes = new Map<string, { readonly portable: PortableType; readonly base: string }>([
  ['integer', { portable: 'integer', base: 'int4' }],
  ['bigint', { portable: 'bigInteger', base: 'int8' }],
  ['numeric', { portable: 'decimal', base: 'numeric' }],
  ['timestamptz', { portable: 'timestamp', base: 'timestamptz' }],
  ['boolean', { portable: 'boolean', base: 'bool' }],
  ['uuid', { portable: 'uuid', base: 'uuid' }],
  ['char(36)', { portable: 'string', base: 'char' }],
  ['jsonb', { portable: 'json', base: 'jsonb' }],
  ['text', { portable: 'text', base: 'text' }],
  ['vector', { portable: 'vector', base: 'public.vector' }],
]);

function column(text: string): Column {
  const [, name = '', bang, fill, type = 'text'] = /^([^!:=]*)(!?)(=?)(?::(.*))?$/.exec(text) ?? [];
  const native = nativeTypes.get(type) ?? { portable: 'unknown' as const, base: type };
  return {
    name,
    nativeType: type,
    type: {
      ...native,
      category: 'base',
      domains: [],
      element: null,
      enum: null,
      values: null,
      maxLength: null,
      precision: null,
      scale: null,
    },
    nullable: bang === '',
    fill: fill === '=' ? { kind: 'default', expression: 'anything()' } : { kind: 'none' },
    collation: null,
    comment: null,
    source: null,
    updatable: true,
  };
}

function key(name: string, columns: readonly string[]): Key {
  return { name, columns, deferrable: false, nullsNotDistinct: false };
}

function foreignKey(table: string, schema: string, text: string): ForeignKey {
  const [from = '', to = ''] = text.split('>').map((part) => part.trim());
  const parts = to.split('.');
  const columns = from.split(',');
  return {
    name: `${table}_${columns.join('_')}_${parts.slice(0, -1).join('_')}`,
    columns,
    target: parts.length > 2 ? `${parts[0]}.${parts[1]}` : tableId(schema, parts[0] ?? ''),
    targetColumns: (parts.at(-1) ?? '').split(','),
    onDelete: 'no action',
    onUpdate: 'no action',
    deferrable: false,
    initiallyDeferred: false,
    validated: true,
  };
}
