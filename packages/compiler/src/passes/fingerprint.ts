/**
 * Objects of the database that the compiled API relies on: every table it reads with the columns it uses.
 * A collection depends on its own table and on the junctions of its many-to-many relations. It does not depend on the
 * tables at the other end of a relation: when those drift, they close and it stays open.
 */

import type { Collection, Column, ColumnType, Schema, Table } from '@tablewright/introspect/schema';
import {
  deepestMember,
  derivedOnce,
  type Fingerprint,
  type FingerprintColumn,
  type FingerprintMember,
  type FingerprintObject,
  tableId,
} from '@tablewright/runtime/language';
import { createInterning } from '../cache/same.ts';
import { canonicalJson, sha256 } from '../print/json.ts';
import { isComposite } from './composite-form.ts';
import type { SchemaIndex } from './schema-index.ts';

/** The fingerprint of all that the collections of a schema use, computed at the first access. */
export function fingerprintOf(schema: Schema, index: SchemaIndex): Fingerprint {
  let taken: Fingerprint | undefined;
  const add = (): Fingerprint => {
    taken ??= takeFingerprint(schema, index);
    return taken;
  };
  return {
    get hash() {
      return add().hash;
    },
    get objects() {
      return add().objects;
    },
  };
}

function takeFingerprint(schema: Schema, index: SchemaIndex): Fingerprint {
  const uses = schema.collections.flatMap((collection) => usesOf(collection, index));
  const enums = new Map(schema.enums.map((type) => [tableId(type.schema, type.name), type.labels]));
  const objects = [...Map.groupBy(uses, ({ table }) => table.id).values()]
    .flatMap((group) => describe(group, enums))
    .map((object) =>
      object.rowSecurity && schema.seesAllRows ? { ...object, rowSecurity: 'unbound' as const } : object,
    )
    .sort((a, b) => compare(a.schema, b.schema) || compare(a.name, b.name));
  return { hash: sha256(`[${objects.map((object) => textOf(object).canonical).join(',')}]`), objects };
}

export function hashObject(object: FingerprintObject): string {
  return textOf(object).hash;
}

const textOf = derivedOnce((object: FingerprintObject) => {
  const canonical = canonicalJson(object);
  return { canonical, hash: sha256(canonical) };
});

/** The last description of a table, which shares no type of its columns: it is the same as long as its uses are. */
const last = new WeakMap<Table, { readonly uses: string; readonly object: FingerprintObject }>();

/** Otherwise what says the same is one object, so what was made of it is found again. */
const oneObject = createInterning<FingerprintObject>(4);

interface Use {
  readonly collection: string;
  readonly table: Table;
  readonly columns: readonly string[];
}

function usesOf(collection: Collection, index: SchemaIndex): readonly Use[] {
  const columns = collection.fields.map(({ column }) => column);
  const joins = collection.relations.flatMap((relation) =>
    (relation.kind === 'm2m' ? relation.near : relation.on).map(({ from }) => from),
  );
  const use: Use = {
    collection: collection.name,
    table: index.table(collection.table),
    columns: [...columns, ...joins],
  };
  return [use, ...collection.relations.flatMap((relation) => farUses(collection, relation, index))];
}

function farUses({ name }: Collection, relation: Collection['relations'][number], index: SchemaIndex): readonly Use[] {
  const target = index.table(index.collection(relation.target).table);
  if (relation.kind !== 'm2m') {
    return [{ collection: relation.target, table: target, columns: relation.on.map(({ to }) => to) }];
  }
  const junction = index.table(index.collection(relation.junction).table);
  const columns = [...relation.near.map(({ to }) => to), ...relation.far.map(({ from }) => from)];
  return [
    { collection: name, table: junction, columns },
    { collection: relation.target, table: target, columns: relation.far.map(({ to }) => to) },
  ];
}

function describe(uses: readonly Use[], enums: ReadonlyMap<string, readonly string[]>): readonly FingerprintObject[] {
  const table = uses[0]?.table;
  if (!table) return [];
  if (enums.size > 0 && table.columns.some((column) => enumOf(column) !== null))
    return [describeTable(table, uses, enums)];
  const usesText = uses.map(({ collection, columns }) => `${collection}\0${columns.join('\0')}`).join('\0\0');
  const cached = last.get(table);
  if (cached?.uses === usesText) return [cached.object];
  const object = describeTable(table, uses, enums);
  last.set(table, { uses: usesText, object });
  return [object];
}

function describeTable(
  table: Table,
  uses: readonly Use[],
  enums: ReadonlyMap<string, readonly string[]>,
): FingerprintObject {
  const used = new Set(uses.flatMap(({ columns }) => columns));
  return oneObject(table, {
    schema: table.schema,
    name: table.name,
    kind: kinds[table.kind],
    collections: [...new Set(uses.map(({ collection }) => collection))].sort(compare),
    rowSecurity: table.rowSecurity.enabled,
    // A view's key is inherited or configured: the catalog has none to compare with.
    key: isView(table) ? [] : (table.primaryKey?.columns ?? []),
    columns: table.columns
      .filter(({ name, computed }) => used.has(name) && computed === undefined)
      .map((column) => describeColumn(table, column, enums)),
  });
}

/** The enum that a column takes its values from, itself or in an array. */
function enumOf({ type }: Column): string | null {
  return type.enum ?? type.element?.enum ?? null;
}

/** Nullability is that of `pg_attribute`, which knows no column of a view as not nullable. */
function describeColumn(
  table: Table,
  column: Column,
  enums: ReadonlyMap<string, readonly string[]>,
): FingerprintColumn {
  const type = enumOf(column);
  const labels = type === null ? undefined : enums.get(type);
  return {
    name: column.name,
    type: column.nativeType,
    nullable: isView(table) || column.nullable,
    ...(labels && { labels }),
    ...(isComposite(column.type) && { members: membersOf(column.type, '', 1) }),
  };
}

function membersOf(type: ColumnType, path: string, depth: number): readonly FingerprintMember[] {
  const { attributes = [] } = type;
  if (type.element !== null) return membersOf(type.element, path, depth);
  return attributes.flatMap(({ name, nativeType, type: member }): readonly FingerprintMember[] => {
    const below = isComposite(member) && depth < deepestMember;
    const inside = below ? membersOf(member, path === '' ? name : `${path}/${name}`, depth + 1) : [];
    return [[path, name, nativeType], ...inside];
  });
}

const kinds = { table: 'r', partitioned: 'p', view: 'v', materializedView: 'm', foreign: 'f' } as const;

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function isView({ kind }: Table): boolean {
  return kind === 'view' || kind === 'materializedView';
}
