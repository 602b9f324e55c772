import { reservedPrefix } from '@tablewright/runtime/language';
import type { PlatformConfig } from '../config/config.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { groupedBy, sortedBy } from '../order.ts';
import type { Collection, Routine, Schema, ServedFunction } from '../schema.ts';
import { notServed } from '../table-names.ts';
import { defaultSchema } from './lookup.ts';

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

/** Why a function cannot be called, as the end of a sentence; undefined where it can. */
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
  const groups = groupedBy(unserved, ({ schema, kind }) => `${kind} ${schema}`);
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
