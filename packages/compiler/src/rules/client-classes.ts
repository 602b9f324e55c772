/** The law of `generate --clients-only --classes`: each name is that of an access class. */
import type { Diagnostic } from '@tablewright/introspect';
import { didYouMean } from '@tablewright/introspect/did-you-mean';
import type { Api } from '../api.ts';

/** Every name that no access class has. */
export function checkClasses(api: Api, names: readonly string[] | 'all' = 'all'): readonly Diagnostic[] {
  const classes = api.access.map(({ access }) => access);
  const knownNames = classes.map(({ name }) => name);
  const unknown = names === 'all' ? [] : names.filter((name) => !knownNames.includes(name));
  return unknown.map((name) => {
    const likely = classes.find(({ roles }) => roles.includes(name))?.name ?? didYouMean(name, knownNames);
    const suggestion = likely === null ? '' : `Did you mean "${likely}"? `;
    return {
      code: 'unknown-class',
      severity: 'error',
      place: '--classes',
      message: `There is no access class "${name}".`,
      hint: `${suggestion}The classes are ${knownNames.join(', ')}.`,
    };
  });
}
