/** Functions of the database that a configuration names: those that are served, and those of a row, which compute fields. */
import { reservedPrefix } from '@tablewright/runtime/language';
import type { PlatformConfig } from '../config/config.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { suggest } from '../did-you-mean.ts';
import { sortedBy } from '../order.ts';
import type { Collection, Column, Routine, Schema, ServedFunction, Table, TableId } from '../schema.ts';
import { notServed } from '../table-names.ts';
import { defaultSchema } from './lookup.ts';
import { type NamedTable, nameCollections } from './names.ts';
import { systemOf, withSystemTables } from './system-tables.ts';

/**
 * Functions that a key of the configuration means: `name` or `schema.name`, with the types of the arguments where several
 * have one name. A name alone means those of the default schema, else every function of that name.
 */
export function findRoutines(routines: readonly Routine[], key: string, schema: string): readonly Routine[] {
  const [, name = '', types] = /^([^(]*)(\(.*\))?$/s.exec(key) ?? [];
  const signature = types?.replaceAll(/\s+/g, ' ').replaceAll(/ ?([(),]) ?/g, '$1');
  // Types of the default schema need not name it.
  const plain = (text: string): string => text.toLowerCase().replaceAll(`${schema.toLowerCase()}.`, '');
  const alike = routines.filter(
    (routine) => signature === undefined || plain(argumentsOf(routine)) === plain(signature),
  );
  const exact = alike.filter((routine) => `${routine.schema}.${routine.name}` === name.trim());
  if (exact.length > 0) return exact;
  const named = alike.filter((routine) => routine.name === name.trim());
  const preferred = named.filter((routine) => routine.schema === schema);
  return preferred.length > 0 ? preferred : named;
}

function argumentsOf({ arguments: args }: Routine): string {
  return `(${args.map(({ nativeType }) => nativeType).join(',')})`;
}

/** The functions of a schema as facts: those that its configuration named. */
export function routinesOf({ functions = [], tables }: Schema): readonly Routine[] {
  const fields = tables.flatMap(({ columns }) => columns.flatMap(({ computed }) => computed ?? []));
  return [...functions.map(({ routine }) => routine), ...fields];
}

/** Reason why a function cannot be called, as the end of a sentence; undefined where it can. */
export function whyUncallable({ unsupported, row, arguments: [first] }: Routine): string | undefined {
  return unsupported ?? (row !== undefined && first?.name === '' ? 'has an argument without a name' : undefined);
}

/** The functions that the configuration names, each once, sorted by name; those that cannot be served are left out. */
export function serveFunctions(
  routines: readonly Routine[],
  config: PlatformConfig,
  collections: readonly Collection[],
): readonly ServedFunction[] {
  const byTable = new Map(collections.map(({ table, name }) => [table, name]));
  const served = Object.entries(config.functions ?? {}).flatMap(([key, settings]): ServedFunction[] => {
    if (settings.field !== undefined) return [];
    const [routine, ...others] = findRoutines(routines, key, defaultSchema(config));
    if (routine === undefined || others.length > 0 || whyUncallable(routine) !== undefined) return [];
    const collection = routine.returns.kind === 'rows' ? byTable.get(routine.returns.table) : undefined;
    const name = settings.name ?? functionName(routine, config);
    return [{ name, routine, ...(collection !== undefined && { collection }) }];
  });
  const unique = new Map(served.map((entry) => [entry.name, entry] as const).reverse());
  return sortedBy([...unique.values()], ({ name }) => name);
}

/** Functions and procedures that the configuration does not name, a line per schema and kind. */
export function unservedFunctions(routines: readonly Routine[], served: readonly Routine[]): readonly Diagnostic[] {
  const signatures = new Set(served.map(({ signature }) => signature));
  const unserved = routines.filter(
    ({ name, signature }) => !signatures.has(signature) && !name.startsWith(reservedPrefix),
  );
  const groups = Map.groupBy(unserved, ({ schema, kind }) => `${kind} ${schema}`);
  return [...groups.values()].flatMap((group) => {
    const [{ schema, kind } = { schema: '', kind: '' }] = group;
    const names = new Set(sortedBy(group, ({ name }) => name).map(({ name }) => name));
    return notServed(`schema ${schema}`, kind, [...names]);
  });
}

/** The name of a function in the API, unless the configuration gives another one. */
export function functionName({ schema, name }: Routine, config: PlatformConfig): string {
  return schema === defaultSchema(config) ? name : `${schema}_${name}`;
}

/** Tables with the fields that the configuration makes of functions. Those that cannot be made are left to the rules. */
export function withComputed(
  tables: readonly Table[],
  config: PlatformConfig,
  routines: readonly Routine[],
): readonly Table[] {
  const stored = tables.map(storedTable);
  const made = computedFields(stored, config, routines).flatMap((found) => ('column' in found ? [found] : []));
  const byTable = Map.groupBy(made, ({ table }) => table);
  return stored.map((table) => {
    const columns = byTable.get(table.id)?.map(({ column }) => column);
    return columns === undefined ? table : { ...table, columns: [...table.columns, ...columns] };
  });
}

/** The table as the database has it. */
function storedTable(table: Table): Table {
  if (table.columns.every(({ computed }) => computed === undefined)) return table;
  return { ...table, columns: table.columns.filter(({ computed }) => computed === undefined) };
}

/** A field with its table, or the reason why there is none; by its key under `functions`. */
type ComputedField =
  | { readonly key: string; readonly table: TableId; readonly column: Column }
  | { readonly key: string; readonly code: string; readonly message: string; readonly hint: string | null };

/** The fields that the configuration asks for; keys that mean no function, or several, are left out. */
export function computedFields(
  tables: readonly Table[],
  config: PlatformConfig,
  routines: readonly Routine[],
): readonly ComputedField[] {
  const entries = Object.entries(config.functions ?? {}).flatMap(([key, { field }]) =>
    field === undefined ? [] : [{ key, field }],
  );
  if (entries.length === 0) return [];
  const named = nameCollections(tables.map(storedTable), withSystemTables(config, tables));
  const taken = new Set<string>();
  return entries.flatMap(({ key, field }): readonly ComputedField[] => {
    const [routine, ...others] = findRoutines(routines, key, defaultSchema(config));
    if (routine === undefined || others.length > 0) return [];
    const found = placeField(routine, field, named, config);
    if ('code' in found) return [{ key, hint: null, ...found }];
    const { table, name } = found;
    if (taken.has(`${table.id} ${name}`) || namesOf(found).includes(name)) {
      const message = `"${field}" is the name of another field.`;
      return [{ key, code: 'function-name-taken', message, hint: 'Give it another name in `field`.' }];
    }
    taken.add(`${table.id} ${name}`);
    return [{ key, table: table.id, column: columnOf(routine, name) }];
  });
}

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | null;
}

function placeField(
  routine: Routine,
  field: string,
  named: readonly NamedTable[],
  config: PlatformConfig,
): NamedTable | Problem {
  const { signature, row, reads, returns, unsupported } = routine;
  const refuse = (message: string): Problem => ({
    code: 'function-unsupported',
    message: `"${signature}" ${message}.`,
  });
  if (unsupported !== undefined) return refuse(unsupported);
  if (row === undefined) return refuse('does not take a row of a table as its one argument');
  if (!reads) return refuse('may change something: a field is computed by a stable function');
  if (returns.kind !== 'value' || returns.many) return refuse('does not return a single value');
  const dot = field.lastIndexOf('.');
  const [collection, name] = [field.slice(0, Math.max(dot, 0)), field.slice(dot + 1)];
  const owner = named.find((candidate) => candidate.name === collection);
  if (owner === undefined || name === '') {
    const names = named.map((candidate) => candidate.name);
    const message = `"${field}" is no field of a collection.`;
    return { code: 'unknown-name', message, hint: suggest(collection, names) };
  }
  if (owner.table.id !== row)
    return refuse(`takes rows of "${row}", and "${collection}" has those of "${owner.table.id}"`);
  if (systemOf(owner.table, config) !== undefined) return refuse('takes rows of a table of the platform');
  if (owner.config.key?.includes(name) === true) return refuse(`computes "${name}", which is part of the key`);
  return { table: owner.table, name, config: owner.config };
}

function namesOf({ table, config: { fields = {} } }: NamedTable): readonly string[] {
  return [...table.columns.map((column) => column.name), ...Object.values(fields).flatMap((field) => field.name ?? [])];
}

function columnOf(routine: Routine, name: string): Column {
  const value = routine.returns.kind === 'value' ? routine.returns.value : undefined;
  if (value === undefined) throw new Error(`"${routine.signature}" returns no value`);
  return {
    name,
    nativeType: value.nativeType,
    type: value.type,
    nullable: true,
    fill: { kind: 'generated', expression: routine.signature, stored: false },
    collation: null,
    comment: routine.comment,
    source: null,
    updatable: false,
    computed: routine,
  };
}
