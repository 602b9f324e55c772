/** Fields that functions of a row compute: they stand among the columns of their table, which has no such column. */
import type { CollectionConfig, PlatformConfig } from '../config/config.ts';
import { suggest } from '../did-you-mean.ts';
import type { Column, Routine, Table, TableId } from '../schema.ts';
import { defaultSchema } from './lookup.ts';
import { findRoutines } from './match-functions.ts';
import { type NamedTable, nameCollections } from './names.ts';
import { systemOf, withSystemTables } from './system-tables.ts';

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

interface Placed {
  readonly table: Table;
  readonly name: string;
  readonly config: CollectionConfig;
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
): Placed | Problem {
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

/** Names that fields of a table have already. */
function namesOf({ table, config: { fields = {} } }: Placed): readonly string[] {
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
