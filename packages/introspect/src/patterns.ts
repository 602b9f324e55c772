import { compareText } from './order.ts';

/** A relation by the two parts of its name. */
export interface QualifiedName {
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
