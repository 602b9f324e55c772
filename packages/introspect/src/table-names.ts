/** Names of tables: their ids, patterns of names, and objects that are never served. */

import type { Diagnostic } from './diagnostic.ts';
import { compareText } from './order.ts';

export { tableId } from '@tablewright/runtime/language';

/** `schema.name`; a part that contains a dot or a double quote is in double quotes. */
export type TableId = string;

interface QualifiedName {
  readonly nspname: string;
  readonly relname: string;
}

/** True when the pattern (`name` or `schema.name`, `*` for any characters, parts with dots in quotes) names the row. */
export function matches(pattern: string, row: QualifiedName): boolean {
  const parts = patternParts(pattern);
  const [first = '', second] = parts;
  if (second === undefined) return partMatches(first, row.relname);
  return parts.length === 2 && partMatches(first, row.nspname) && partMatches(second, row.relname);
}

/** Reports the patterns that match no table. */
export function unmatchedPatterns(patterns: readonly string[], rows: readonly QualifiedName[]): Diagnostic[] {
  const idle = patterns.filter((pattern) => !rows.some((row) => matches(pattern, row)));
  return [...new Set(idle)].map((pattern) => ({
    code: 'pattern-without-match',
    severity: 'warning',
    place: 'platform.config.ts',
    message: `The pattern "${pattern}" matches no table.`,
    hint: 'Patterns are "name" or "schema.name", with "*" for any characters; a name with a dot stands in double quotes.',
  }));
}

function patternParts(pattern: string): readonly string[] {
  const parts = pattern.match(/(?:"(?:[^"]|"")*"|[^."]+)+/g) ?? [];
  return parts.map((part) => part.replaceAll(/"((?:[^"]|"")*)"/g, (_, quoted: string) => quoted.replaceAll('""', '"')));
}

function partMatches(pattern: string, name: string): boolean {
  const source = pattern.split('*').map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return new RegExp(`^${source.join('[\\s\\S]*')}$`, 'u').test(name);
}

/** Most names a message lists; the rest is counted. */
const maxNames = 50;

/** Lists names in double quotes, sorted, each once: `"a", "b" and 3 more`. */
export function quotedNames(names: readonly string[]): string {
  const sorted = [...new Set(names)].sort(compareText);
  const shown = sorted.slice(0, maxNames).map((name) => `"${name}"`);
  const rest = sorted.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}

/** Objects of one kind that the API leaves to the database. `kind` is a word in the singular, such as "trigger". */
export function notServed(location: string, kind: string, names: readonly string[]): Diagnostic {
  const code = `${kind.replaceAll(/[^a-z]+/g, '-')}-not-served`;
  const count = names.length === 1 ? `One ${kind} is` : `${names.length} ${plural(kind)} are`;
  const message = `${count} left to the database: ${quotedNames(names)}.`;
  return { code, severity: 'info', place: location, message, hint: null };
}

/** A foreign key to a table that is not served. */
export function foreignKeyOutside(table: string, name: string, target: string): Diagnostic {
  return {
    code: 'foreign-key-outside',
    severity: 'warning',
    place: `table ${table}`,
    message: `The foreign key "${name}" leads to "${target}", which is not served, so it is no relation.`,
    hint: 'Add the schema of the target to the list of schemas, or include the table.',
  };
}

function plural(kind: string): string {
  return kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}
