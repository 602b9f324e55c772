/** The law of references: a schema contains everything that it names, although it may be edited by hand. */
import type { Diagnostic } from '@tablewright/introspect';
import type { Collection, Permission, Relation, Schema, Table } from '@tablewright/introspect/schema';
import { createFacts } from '../cache/same.ts';
import { columnsOf } from '../passes/schema-index.ts';

/** Every reference of a schema that leads nowhere, and every name that stands twice. */
export function checkReferences(schema: Schema): readonly Diagnostic[] {
  const tables = new Map(schema.tables.map((table) => [table.id, table]));
  const collections = new Map(schema.collections.map((collection) => [collection.name, collection]));
  const roles = new Set(['public', ...schema.roles.map(({ name }) => name)]);
  const lookUp: LookUp = {
    hasRole: (name) => roles.has(name),
    columnsOf: (collection) => columnNames(tables.get(collections.get(collection)?.table ?? '')),
    hasCollection: (name) => collections.has(name),
  };
  return [
    ...twice(schema.collections, 'schema', 'collection'),
    ...schema.collections.flatMap((collection) => checkCollection(collection, tables, lookUp)),
    ...schema.permissions.flatMap((permission) => checkPermission(permission, lookUp)),
    ...checkCalls(schema, lookUp),
  ];
}

function checkCalls({ functions = [], calls = [] }: Schema, lookUp: LookUp): readonly Diagnostic[] {
  const names = new Set(functions.map(({ name }) => name));
  return [
    ...twice(functions, 'schema', 'function'),
    ...functions.flatMap(({ name, collection }) =>
      collection === undefined || lookUp.hasCollection(collection)
        ? []
        : [dangling(`function ${name}`, `collection "${collection}"`)],
    ),
    ...calls.flatMap(({ role, function: called }) => [
      ...(lookUp.hasRole(role) ? [] : [dangling(`function ${called}`, `role "${role}"`)]),
      ...(names.has(called) ? [] : [dangling(`role ${role}`, `function "${called}"`)]),
    ]),
  ];
}

interface LookUp {
  /** True for `public`, too. */
  hasRole(name: string): boolean;
  /** Column names of the collection's table; empty when either is missing. */
  columnsOf(collection: string): ReadonlySet<string>;
  hasCollection(name: string): boolean;
}

function checkCollection(
  collection: Collection,
  tables: ReadonlyMap<string, Table>,
  lookUp: LookUp,
): readonly Diagnostic[] {
  const location = `collection ${collection.name}`;
  const table = tables.get(collection.table);
  if (!table) return [dangling(location, `table "${collection.table}"`)];
  const columns = columnNames(table);
  const fields = new Set(collection.fields.map(({ name }) => name));
  const sources = collection.fields.filter(({ column }) => !columns.has(column));
  const keys = [...collection.key, ...(collection.sort === null ? [] : [collection.sort])];
  const others = collection.relations.filter((relation) => relation.kind !== 'm2o' || relation.field === null);
  return [
    ...sources.map(({ column }) => dangling(location, `column "${column}"`)),
    ...keys.filter((name) => !fields.has(name)).map((name) => dangling(location, `field "${name}"`)),
    ...twice([...collection.fields, ...others], location, 'field or relation'),
    ...collection.relations.flatMap((relation) => checkRelation(relation, location, columns, lookUp)),
  ];
}

function checkRelation(
  relation: Relation,
  location: string,
  columns: ReadonlySet<string>,
  lookUp: LookUp,
): readonly Diagnostic[] {
  const relationLocation = `${location}, relation ${relation.name}`;
  const names = [relation.target, ...(relation.kind === 'm2m' ? [relation.junction] : [])];
  const allowed = relation.kind === 'm2a' ? relation.allowed : [];
  const unknown = [...names, ...allowed].filter((name) => !lookUp.hasCollection(name));
  if (unknown.length > 0) return unknown.map((name) => dangling(relationLocation, `collection "${name}"`));
  const target = lookUp.columnsOf(relation.target);
  if (relation.kind !== 'm2m') return checkPairs(relation.on, relationLocation, columns, target);
  const junction = lookUp.columnsOf(relation.junction);
  return [
    ...checkPairs(relation.near, relationLocation, columns, junction),
    ...checkPairs(relation.far, relationLocation, junction, target),
  ];
}

function checkPairs(
  pairs: readonly { readonly from: string; readonly to: string }[],
  location: string,
  left: ReadonlySet<string>,
  right: ReadonlySet<string>,
): readonly Diagnostic[] {
  return pairs.flatMap(({ from, to }) => [
    ...(left.has(from) ? [] : [dangling(location, `column "${from}"`)]),
    ...(right.has(to) ? [] : [dangling(location, `column "${to}"`)]),
  ]);
}

function checkPermission({ role, collection }: Permission, lookUp: LookUp): readonly Diagnostic[] {
  const [isRole, isCollection] = [lookUp.hasRole(role), lookUp.hasCollection(collection)];
  if (isRole && isCollection) return [];
  const location = `permissions of ${role} on ${collection}`;
  return [
    ...(isRole ? [] : [dangling(location, `role "${role}"`)]),
    ...(isCollection ? [] : [dangling(location, `collection "${collection}"`)]),
  ];
}

function twice(items: readonly { readonly name: string }[], location: string, what: string): readonly Diagnostic[] {
  if (new Set(items.map(({ name }) => name)).size === items.length) return [];
  const groups = Map.groupBy(items, ({ name }) => name);
  return [...groups]
    .filter(([, group]) => group.length > 1)
    .map(([name]) => ({
      code: 'name-collision',
      severity: 'error',
      place: location,
      message: `There is more than one ${what} "${name}".`,
      hint: 'Rename all but one in platform.config.ts.',
    }));
}

function columnNames(table: Table | undefined): ReadonlySet<string> {
  return table === undefined ? noColumns : columnsIn(table, () => new Set(columnsOf(table).keys()));
}

const columnsIn = createFacts<Table, ReadonlySet<string>>();
const noColumns: ReadonlySet<string> = new Set();

function dangling(location: string, what: string): Diagnostic {
  return {
    code: 'dangling-reference',
    severity: 'error',
    place: location,
    message: `The schema refers to ${what}, which it does not contain.`,
    hint: 'Run `platform introspect` to write platform.schema.json anew.',
  };
}
