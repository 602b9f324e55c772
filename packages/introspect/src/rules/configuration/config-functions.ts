import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import { computedFields, findRoutines, functionName, whyUncallable } from '../../passes/functions.ts';
import { collectionsByName, defaultSchema, tablesById } from '../../passes/lookup.ts';
import type { Collection, Routine, Table } from '../../schema.ts';
import { configError, quotedList, type Rule } from '../rule.ts';

/** Every key under `functions` means one function that can be served, under a name of its own. */
export const configFunctions: Rule = ({ collections, tables }, { config, routines }) => {
  const keyless = new Set(collections.filter(({ key }) => key.length === 0).map(({ table }) => table));
  const fields = new Map(computedFields(tables, config, routines).map((found) => [found.key, found]));
  const taken = new Map<string, string>();
  return Object.entries(config.functions ?? {}).flatMap(
    ([key, { name, field: computedField }]): readonly Diagnostic[] => {
      const path = ['functions', key];
      const found = findRoutines(routines, key, defaultSchema(config));
      const [routine] = found;
      if (routine === undefined) {
        const namesOf = (row: Routine): readonly string[] => [row.name, `${row.schema}.${row.name}`, row.signature];
        const names = routines.flatMap(namesOf);
        const message = `There is no function or procedure "${key}".`;
        return [configError(path, 'function-unknown', message, suggest(key, names))];
      }
      if (found.length > 1) {
        const message = `"${key}" means several functions: ${quotedList(found.map(({ signature }) => signature))}.`;
        return [configError(path, 'function-ambiguous', message, 'Write the types of the arguments after the name.')];
      }
      const field = fields.get(key);
      if (field !== undefined && name !== undefined) {
        const message = '"name" applies to a function that is no field only.';
        return [
          configError([...path, 'name'], 'config-function', message, `The field has its name in "${computedField}".`),
        ];
      }
      if (field !== undefined)
        return 'column' in field ? definer(routine, path) : [configError(path, field.code, field.message, field.hint)];
      const uncallable = whyUncallable(routine);
      if (uncallable !== undefined)
        return [configError(path, 'function-unsupported', `"${routine.signature}" ${uncallable}.`)];
      const { returns, reads } = routine;
      if (returns.kind === 'rows' && !reads && keyless.has(returns.table)) {
        const message = `"${routine.signature}" changes something and returns rows of "${returns.table}", which has no key.`;
        return [configError(path, 'function-unsupported', message, 'Give the collection a `key`.')];
      }
      const served = name ?? functionName(routine, config);
      const before = taken.get(served);
      taken.set(served, key);
      if (before !== undefined) {
        const message = `The functions "${before}" and "${key}" have the same name "${served}".`;
        return [configError(path, 'function-name-taken', message, 'Give one of them another `name`.')];
      }
      return definer(routine, path);
    },
  );
};

/** A function with rights of its owner looks names up by the path of its caller, unless it sets its own. */
function definer(routine: Routine, path: readonly string[]): readonly Diagnostic[] {
  const { definer: kind, signature, schema, name } = routine;
  if (kind !== 'open') return [];
  const message = `"${signature}" is SECURITY DEFINER without a search_path of its own: other objects can take the place of those that it names.`;
  const quoted = [schema, name].map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
  const types = routine.arguments.map(({ nativeType }) => nativeType).join(', ');
  const hint = `ALTER ROUTINE ${quoted}(${types}) SET search_path = pg_catalog, pg_temp;`;
  return [{ ...configError(path, 'function-definer', message, hint), severity: 'warning' }];
}

/** A computed field sees the whole row, and so may tell something about columns that its readers cannot read. */
export const computedReads: Rule = ({ collections, tables, roles, permissions }, { permissions: { fileName } }) => {
  const byTable = tablesById(tables);
  const administrators = new Set(roles.filter(({ admin }) => admin).map(({ name }) => name));
  const ruled = permissions.filter(({ action, role }) => action === 'read' && !administrators.has(role));
  return [...collectionsByName(collections).values()].flatMap((collection) => {
    const table = byTable.get(collection.table);
    return computedNames(collection, table).flatMap((field) => {
      const partial = ruled.filter(
        ({ collection: name, fields }) =>
          name === collection.name && fields.includes(field) && !readsRow(collection, table, fields),
      );
      const readers = [...new Set(partial.map(({ role }) => role))];
      if (readers.length === 0) return [];
      const verb = readers.length > 1 ? 'read' : 'reads';
      return {
        code: 'computed-reads-hidden',
        severity: 'warning' as const,
        place: fileName,
        message: `${quotedList(readers)} ${verb} "${collection.name}.${field}", which sees the whole row, but not every column of it.`,
        hint: 'Grant it only where it tells nothing about the other columns.',
      };
    });
  });
};

function computedNames({ fields }: Collection, table: Table | undefined): readonly string[] {
  const computed = table?.columns.flatMap(({ name, computed: routine }) => (routine === undefined ? [] : [name]));
  return fields.flatMap(({ name, column }) => (computed?.includes(column) === true ? [name] : []));
}

/** True if the fields show every column that the database has. */
function readsRow({ fields }: Collection, table: Table | undefined, names: readonly string[]): boolean {
  const shown = new Set(fields.flatMap(({ name, column }) => (names.includes(name) ? [column] : [])));
  return table?.columns.every(({ name, computed }) => computed !== undefined || shown.has(name)) === true;
}
