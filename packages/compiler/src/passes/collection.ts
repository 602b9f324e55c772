import type { Collection, Column, Table } from '@tablewright/introspect/schema';
import {
  type CollectionDescriptor,
  type ColumnPair,
  type ConstraintDescriptor,
  type ManyToOne,
  quoteName,
  quoteTable,
  type SearchDescriptor,
  type SoftDelete,
  systemCollection,
} from '@tablewright/runtime/language';
import type { ApiCollection, CollectionNames, Operation } from '../api.ts';
import type { Lookup } from '../cache/memo-cache.ts';
import { formulaOf, resolveFields } from './field.ts';
import { isDangling, resolveRelation } from './relation.ts';
import type { SchemaIndex } from './schema-index.ts';
import { storedKey, storedTable } from './stored.ts';

/** Resolves one collection: its descriptor, and what is printed beside it. */
export function resolveCollection(
  collection: Collection,
  index: SchemaIndex,
  names: Lookup<CollectionNames>,
): ApiCollection {
  const table = index.table(collection.table);
  const collectionNames = namesOf(names, collection.name);
  const fields = resolveFields(collection, table, index, collectionNames);
  const relations = collection.relations.map((relation) => ({
    descriptor: resolveRelation(relation, index),
    target: namesOf(names, relation.target),
    stored: storedKey(relation, table, index.table(index.collection(relation.target).table)),
    ...(relation.kind === 'm2o' && isDangling(relation, table, index) && { dangling: true as const }),
    ...(relation.deprecated !== undefined && { deprecated: relation.deprecated }),
  }));
  const descriptor: CollectionDescriptor = {
    name: collection.name,
    table: quoteTable(index.dialect, table),
    ...((table.kind === 'view' || table.kind === 'foreign') && { opaque: true as const }),
    ...(table.inherited && { inherited: true as const }),
    key: collection.key,
    singleton: collection.singleton,
    ...(collection.system && { system: true as const }),
    ...(collection.implied && { implied: collection.implied }),
    ...(collection.accountability && { accountability: collection.accountability }),
    ...(collection.softDelete && { softDelete: softDeleteOf(collection.softDelete) }),
    ...(collection.tenant !== undefined && { tenant: collection.tenant }),
    ...(collection.reads && { reads: collection.reads }),
    ...(collection.cache && { cache: collection.cache }),
    ...(collection.sort !== null && { sort: collection.sort }),
    ...(collection.search && { search: searchOf(collection.search) }),
    writable: isWritable(table) && (collection.system === undefined || collection.system.writes.length > 0),
    ...(index.passesCallers && table.rowSecurity.enabled && { policies: true as const }),
    ...(table.unlockable && { unlockable: true as const }),
    ...(isWritable(table) && table.amended && { amended: true as const }),
    fields: fields.map((field) => field.descriptor),
    relations: relations.map((relation) => relation.descriptor),
    ...(isWritable(table) && linksOf(collection, table, index)),
    ...(isWritable(table) && { constraints: resolveConstraints(collection, table, index) }),
  };
  return {
    descriptor,
    names: collectionNames,
    source: `${kindWords[table.kind]} ${table.id}`,
    stored: storedTable(collection, table),
    note: collection.note ?? table.comment,
    ...(collection.deprecated !== undefined && { deprecated: collection.deprecated }),
    operations: operationsOf(collection, table),
    fields,
    relations,
    anyItem: resolveAnyItem(collection.name, index, names),
  };
}

/** `restore` is for clients alone. */
function softDeleteOf({ field, value }: SoftDelete): SoftDelete {
  return { field, ...(value !== undefined && { value }) };
}

/** Members in one order: a schema file has them in another one than what was just resolved. */
function searchOf({ fields, language, document }: SearchDescriptor): SearchDescriptor {
  return { fields, language, document };
}

/** True if the database lets any role write the relation. */
function isWritable(table: Table): boolean {
  return table.writable.insert || table.writable.update || table.writable.delete;
}

const kindWords = {
  table: 'table',
  partitioned: 'partitioned table',
  view: 'view',
  materializedView: 'materialized view',
  foreign: 'foreign table',
} as const;

/** API specification, section 4: a collection without a key is only listed; a singleton is one object, without keys. */
function operationsOf({ name, key, singleton, system }: Collection, { writable }: Table): readonly Operation[] {
  const path = system === undefined ? `/items/${encodeURIComponent(name)}` : systemCollection(name)?.path;
  if (path === undefined) return [];
  const stored = { create: writable.insert, update: writable.update, delete: writable.delete };
  const can = (action: keyof typeof stored): boolean =>
    stored[action] && (system === undefined || system.writes.includes(action));
  const byKey = `${path}/:key`;
  const search: Operation = { kind: 'search', method: 'SEARCH', path };
  const changed: Operation = { kind: 'updateSingleton', method: 'PATCH', path };
  const isKeyed = key.length > 0;
  if (singleton) {
    const patched = isKeyed && can('update') ? [changed] : [];
    return [{ kind: 'readSingleton', method: 'GET', path }, search, ...patched];
  }
  const lists: readonly Operation[] = [{ kind: 'list', method: 'GET', path }, search];
  if (!isKeyed) return lists;
  const created: readonly Operation[] = [{ kind: 'create', method: 'POST', path }];
  const updated: readonly Operation[] = [
    { kind: 'update', method: 'PATCH', path: byKey },
    { kind: 'updateMany', method: 'PATCH', path },
  ];
  const deleted: readonly Operation[] = [
    { kind: 'delete', method: 'DELETE', path: byKey },
    { kind: 'deleteMany', method: 'DELETE', path },
  ];
  return [
    ...lists,
    { kind: 'read', method: 'GET', path: byKey },
    ...(can('create') ? created : []),
    ...(can('update') ? updated : []),
    ...(can('delete') ? deleted : []),
  ];
}

/** A link collection learns from its owners what its rows may point at. */
function resolveAnyItem(name: string, index: SchemaIndex, names: Lookup<CollectionNames>): ApiCollection['anyItem'] {
  const owners = index.linkedBy(name);
  const [first] = owners;
  const allowed = [...new Set(owners.flatMap((relation) => relation.allowed))].sort();
  return first ? { field: first.itemField, targets: allowed.map((target) => namesOf(names, target)) } : null;
}

function namesOf(names: Lookup<CollectionNames>, collection: string): CollectionNames {
  const found = names.get(collection);
  if (!found) throw new Error(`The schema refers to collection ${collection}, which it does not contain.`);
  return found;
}

/** The constraints that a write to a collection can violate, by name: those of its table, or of the tables a view shows. */
function resolveConstraints(collection: Collection, table: Table, index: SchemaIndex): readonly ConstraintDescriptor[] {
  // A unique index on an expression may be one on a column that is no field.
  const fixedUniques = collection.system === undefined ? {} : (systemCollection(collection.name)?.uniques ?? {});
  const places = collection.fields.map(({ name, column }) => ({
    name,
    ...baseOf(table, index.column(table, column), index),
  }));
  const groups = Map.groupBy(places, (field) => field.table);
  const found = [...groups].flatMap(([base, fields]) => {
    const byColumn = new Map(fields.map(({ name, column }) => [column, name]));
    return constraintsOf(base, byColumn, index).filter(({ name }) => !Object.hasOwn(fixedUniques, name));
  });
  for (const [name, fields] of Object.entries(fixedUniques))
    found.push({ name, type: 'unique', fields, incomplete: true });
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Links by foreign keys of the table, or of the tables that a view shows, which no relation of the collection has. */
function linksOf(
  { fields, relations }: Collection,
  table: Table,
  index: SchemaIndex,
): Pick<CollectionDescriptor, 'links'> {
  const placeOf = (target: string, on: readonly ColumnPair[]): string =>
    JSON.stringify([target, on.map(({ from, to }) => [from, to])]);
  const quoted = relations.map((relation) => resolveRelation(relation, index));
  const related = new Set(quoted.flatMap((link) => (link.kind === 'm2o' ? [placeOf(link.target, link.on)] : [])));
  const isField = (name: string): boolean => fields.some(({ column }) => column === name);
  const places = table.columns.map((column) => ({ shown: column.name, ...baseOf(table, column, index) }));
  const links = [...Map.groupBy(places, (column) => column.table)].flatMap(([base, columns]) => {
    const viewNames = new Map(columns.map(({ column, shown }) => [quoteName(column), quoteName(shown)]));
    return base.foreignKeys.flatMap((key): readonly ManyToOne[] => {
      const target = index.collectionOf(key.target);
      const on = key.columns.flatMap((name, part): readonly ColumnPair[] => {
        const from = viewNames.get(quoteName(name));
        const to = quoteName(key.targetColumns[part] ?? '');
        const formula =
          base === table && isField(name) ? undefined : formulaOf(index.column(base, name), base, index.dialect);
        const inputs = formula?.map((text, position) => (position % 2 === 0 ? text : viewNames.get(text)));
        if (inputs?.every((text) => text !== undefined))
          return [{ from: from ?? quoteName(name), to, formula: inputs }];
        return from === undefined ? [] : [{ from, to }];
      });
      if (target === undefined || on.length < key.columns.length || related.has(placeOf(target, on))) return [];
      return [{ kind: 'm2o', name: key.name, target, on, nullable: true }];
    });
  });
  return links.length === 0 ? {} : { links };
}

/** The table and column that a value is stored in. */
function baseOf(table: Table, column: Column, index: SchemaIndex): { readonly table: Table; readonly column: string } {
  const base = index.source(column);
  if (column.source === null || base === undefined) return { table, column: column.name };
  return baseOf(index.table(column.source.table), base, index);
}

function constraintsOf(
  table: Table,
  fields: ReadonlyMap<string, string>,
  index: SchemaIndex,
): readonly ConstraintDescriptor[] {
  const named = (columns: readonly string[]) => columns.flatMap((column) => fields.get(column) ?? []);
  const keys = [...(table.primaryKey === null ? [] : [table.primaryKey]), ...table.uniques];
  return [
    ...keys.map(({ name, columns }) => {
      const uniqueFields = named(columns);
      const incomplete = uniqueFields.length < columns.length;
      return { name, type: 'unique' as const, fields: uniqueFields, ...(incomplete && { incomplete }) };
    }),
    ...table.foreignKeys.map(({ name, columns, target, validated, deferrable, initiallyDeferred }) => {
      const collection = index.collectionOf(target);
      const details = {
        ...(collection && { target: collection }),
        ...(!validated && { unchecked: true as const }),
        ...(deferrable && { deferrable: true as const }),
        ...(initiallyDeferred && { deferred: true as const }),
      };
      return { name, type: 'foreign_key' as const, fields: named(columns), ...details };
    }),
    ...table.checks.map(({ name, columns, expression }) => {
      const exclusive = expression.startsWith('EXCLUDE ');
      return { name, type: 'check' as const, fields: named(columns), ...(exclusive && { exclusive }) };
    }),
    ...domainChecks(table, named),
    ...partialUniques(table, named),
  ];
}

/** Unique indexes of some rows or of expressions: no keys of items, but errors name their fields. */
function partialUniques(
  { columns, primaryKey, uniques, indexes }: Table,
  named: (columns: readonly string[]) => readonly string[],
): readonly ConstraintDescriptor[] {
  const keys = new Set([...(primaryKey === null ? [] : [primaryKey]), ...uniques].map(({ name }) => name));
  const names = new Set(columns.map(({ name }) => name));
  const used = (text: string) => (names.has(text) ? [text] : (text.match(/[\p{L}_][\p{L}\p{N}_$]*/gu) ?? []));
  return indexes
    .filter(({ name, unique }) => unique && !keys.has(name))
    .map(({ name, columns: indexed }) => {
      const fields = named([...new Set(indexed.flatMap(used))]);
      return { name, type: 'check' as const, fields, exclusive: true as const };
    });
}

/** Domains of columns under their own names: an error of one names it, and neither table nor column. */
function domainChecks(
  { columns }: Table,
  named: (columns: readonly string[]) => readonly string[],
): readonly ConstraintDescriptor[] {
  const uses = columns.flatMap(({ name, type }) =>
    [...type.domains, ...(type.element?.domains ?? [])]
      .filter(({ checks, notNull }) => checks.length > 0 || notNull)
      .map((domain) => ({ domain: domain.name, name })),
  );
  return [...Map.groupBy(uses, ({ domain }) => domain)]
    .map(([name, users]) => ({ name, type: 'check' as const, fields: named(users.map((use) => use.name)) }))
    .filter(({ fields }) => fields.length > 0);
}
