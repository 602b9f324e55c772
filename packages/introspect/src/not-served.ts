import type { Diagnostic } from './diagnostic.ts';
import { quotedNames } from './patterns.ts';

/** Objects of one kind that the API leaves to the database. `kind` is a word in the singular, such as "trigger". */
export function notServed(location: string, kind: string, names: readonly string[]): Diagnostic {
  const code = `${kind.replaceAll(/[^a-z]+/g, '-')}-not-served`;
  const count = names.length === 1 ? `One ${kind} is` : `${names.length} ${plural(kind)} are`;
  const message = `${count} left to the database: ${quotedNames(names)}.`;
  return { code, severity: 'info', place: location, message, hint: null };
}

function plural(kind: string): string {
  return kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}
