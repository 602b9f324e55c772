import type { CallSource, PermissionDocument } from '../../config/permissions/permission-document.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import { sortedBy } from '../../order.ts';
import type { CallPermission, Collection, Column, RoutineArgument, ServedFunction, Table } from '../../schema.ts';
import { collectionsByName } from '../lookup.ts';
import { filterNames } from './filter-names.ts';
import { readPresets } from './resolve-rules.ts';

/** Rights to call functions with every name looked up, and what could not be found. */
interface ResolvedCalls {
  readonly calls: readonly CallPermission[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Looks up the names of the section `functions`. A role that names a function twice has the right that stands last. */
export function resolveCalls(
  { functions: sources = [] }: PermissionDocument,
  functions: readonly ServedFunction[],
  collections: readonly Collection[],
  tables: readonly Table[],
): ResolvedCalls {
  const diagnostics: Diagnostic[] = [];
  if (sources.length === 0) return { calls: [], diagnostics };
  const names = { collections: collectionsByName(collections), filter: filterNames(collections, tables) };
  const byName = new Map(functions.map((entry) => [entry.name, entry]));
  const calls = sources.flatMap((source): CallPermission[] => {
    const {
      role,
      function: { name, place: location },
    } = source;
    const found = byName.get(name);
    if (found === undefined) {
      const message = `There is no function "${name}" in the API.`;
      const hint = suggest(name, byName.keys()) ?? 'Name it under `functions` in platform.config.ts.';
      diagnostics.push({ code: 'function-unknown', severity: 'error', place: location, message, hint });
      return [];
    }
    diagnostics.push(...unknownArguments(source, found));
    const args = source.args.filter(isArgumentOf(found));
    const columns = found.routine.arguments.map(columnOf);
    const presets = readPresets(args, fieldsOf(found), columns, names, diagnostics, 'argument');
    return [{ role: role.name, function: name, args: presets.map(({ field, value }) => ({ name: field, value })) }];
  });
  const unique = new Map(calls.map((call) => [JSON.stringify([call.role, call.function]), call]));
  return {
    calls: sortedBy(
      [...unique.values()],
      ({ role }) => role,
      (call) => call.function,
    ),
    diagnostics,
  };
}

function isArgumentOf({ routine }: ServedFunction) {
  return ({ field }: CallSource['args'][number]): boolean => routine.arguments.some(({ name }) => name === field.name);
}

function unknownArguments({ args }: CallSource, served: ServedFunction): readonly Diagnostic[] {
  const isKnown = isArgumentOf(served);
  const names = served.routine.arguments.map(({ name }) => name);
  return args
    .filter((arg) => !isKnown(arg))
    .map(({ field: { name, place: location } }) => ({
      code: 'function-argument',
      severity: 'error',
      place: location,
      message: `The function "${served.name}" has no argument "${name}".`,
      hint: suggest(name, names),
    }));
}

/** An argument as a column, whose type decides its values. */
function columnOf({ name, nativeType, type }: RoutineArgument): Column {
  const nothing = { fill: { kind: 'none' }, collation: null, comment: null, source: null } as const;
  return { name, nativeType, type, nullable: true, updatable: true, ...nothing };
}

/** The arguments as fields, whose values have the same rules. */
function fieldsOf({ name, routine }: ServedFunction): Collection {
  const field = (argument: RoutineArgument) => ({
    name: argument.name,
    column: argument.name,
    type: argument.type.portable,
    note: null,
    required: false,
  });
  const fields = routine.arguments.map(field);
  return { name, table: '', note: null, singleton: false, key: [], sort: null, archive: null, fields, relations: [] };
}
