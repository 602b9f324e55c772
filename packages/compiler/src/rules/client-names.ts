/** The law of client packages: npm takes the name of each, and no two have one name. */
import type { Diagnostic } from '@tablewright/introspect';
import { didYouMean } from '@tablewright/introspect/did-you-mean';
import type { Api } from '../api.ts';
import { type ClientPackages, clientName } from '../client/package-name.ts';

/** Every name that npm refuses, and every name that several clients would have. */
export function checkClientNames(api: Api, { name, place: location }: ClientPackages): readonly Diagnostic[] {
  const problem = (message: string): Diagnostic => ({
    code: 'client-package',
    severity: 'error',
    place: location,
    message,
    hint,
  });
  const classesByName = Map.groupBy(api.access, ({ access }) => clientName(name, access.name));
  return [...classesByName].flatMap(([packageName, classes]) => {
    const names = classes.map(({ access }) => `"${access.name}"`);
    if (names.length > 1) return [problem(`The clients of ${names.join(', ')} would all be named "${packageName}".`)];
    const reason = refusal(packageName);
    return reason === null ? [] : [problem(`npm takes no package named "${packageName}": ${reason}.`)];
  });
}

const hint = "Set `client: { packageName: '@shop/api-{class}' }` in platform.config.ts.";

/** Characters of a name at most, its scope included. */
const maxLength = 214;

/** The reason why npm refuses a name for a new package, or null. */
function refusal(name: string): string | null {
  const [base = '', scope, ...rest] = name.split('/').reverse();
  if (name.length > maxLength) return `it is longer than ${maxLength} characters`;
  if (rest.length > 0 || (scope !== undefined && !/^@./.test(scope))) return 'a scope is written "@scope/name"';
  if ([scope?.slice(1) ?? 'a', base].some((part) => !/^[a-z0-9~][a-z0-9._~-]*$/.test(part))) {
    return 'it may hold a–z, 0–9, ".", "_" and "-", and begins with a letter or digit';
  }
  return ['node_modules', 'favicon.ico'].includes(name) ? 'the name is reserved' : null;
}

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
