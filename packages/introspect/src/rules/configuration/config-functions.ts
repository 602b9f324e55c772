import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import { computedFields } from '../../passes/computed-fields.ts';
import { defaultSchema } from '../../passes/lookup.ts';
import { findRoutines, functionName, whyUncallable } from '../../passes/match-functions.ts';
import type { Routine } from '../../schema.ts';
import type { Rule } from '../rule.ts';
import { quotedList } from '../rule.ts';
import { configError } from './config-problem.ts';

/** Every key under `functions` means one function that can be served, under a name of its own. */
export const configFunctions: Rule = ({ collections, tables }, { config, routines }) => {
  const keyless = new Set(collections.filter(({ key }) => key.length === 0).map(({ table }) => table));
  const fields = new Map(computedFields(tables, config, routines).map((found) => [found.key, found]));
  const taken = new Map<string, string>();
  return Object.entries(config.functions ?? {}).flatMap(([key, { name }]): readonly Diagnostic[] => {
    const path = ['functions', key];
    const found = findRoutines(routines, key, defaultSchema(config));
    const [routine] = found;
    if (routine === undefined) {
      const names = routines.flatMap((candidate) => [candidate.name, candidate.signature]);
      const message = `There is no function or procedure "${key}".`;
      return [configError(path, 'function-unknown', message, suggest(key, names))];
    }
    if (found.length > 1) {
      const message = `"${key}" means several functions: ${quotedList(found.map(({ signature }) => signature))}.`;
      return [configError(path, 'function-ambiguous', message, 'Write the types of the arguments after the name.')];
    }
    const field = fields.get(key);
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
  });
};

/** A function with rights of its owner looks names up by the path of its caller, unless it sets its own. */
function definer({ definer: kind, signature }: Routine, path: readonly string[]): readonly Diagnostic[] {
  if (kind !== 'open') return [];
  const message = `"${signature}" is SECURITY DEFINER without a search_path of its own: other objects can take the place of those that it names.`;
  const hint = `ALTER FUNCTION ${signature} SET search_path = pg_catalog, pg_temp.`;
  return [{ ...configError(path, 'function-definer', message, hint), severity: 'warning' }];
}
