import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import type { PlacedName, SourceEntry, SourceNode } from './source.ts';

/** The entries of a mapping; any other node has none, and is reported. An empty node is an empty mapping. */
export function entriesOf(node: SourceNode, what: string, diagnostics: Diagnostic[]): readonly SourceEntry[] {
  if (node.kind === 'map') return node.entries;
  if (!isNothing(node)) diagnostics.push(formError(node.place, `${what} must be a mapping.`));
  return [];
}

/** False, reported with the nearest key, when a key is none of the known ones. */
export function isKnownKey(key: PlacedName, knownKeys: readonly string[], diagnostics: Diagnostic[]): boolean {
  if (knownKeys.includes(key.name)) return true;
  const message = `The key "${key.name}" is unknown.`;
  const hint = suggest(key.name, knownKeys) ?? `Known keys are ${knownKeys.map((name) => `"${name}"`).join(', ')}.`;
  diagnostics.push({ code: 'permissions-key', severity: 'error', place: key.place, message, hint });
  return false;
}

/** Something in the file that is not of the documented form. */
export function formError(location: string, message: string, hint: string | null = null): Diagnostic {
  return { code: 'permissions-form', severity: 'error', place: location, message, hint };
}

/** True for a key without a value. */
export function isNothing(node: SourceNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/** The value of a key that must be true or false; `fallback`, reported, for anything else. */
export function booleanOf(node: SourceNode, fallback: boolean, diagnostics: Diagnostic[]): boolean {
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
  diagnostics.push(formError(node.place, 'The value must be true or false.'));
  return fallback;
}

/** A text, or null, reported, for anything else. */
export function textOf(node: SourceNode, diagnostics: Diagnostic[]): string | null {
  if (node.kind === 'scalar' && typeof node.value === 'string') return node.value;
  const hint = 'Write it in quotes when it looks like a number, a boolean or null.';
  diagnostics.push(formError(node.place, 'The value must be a text.', hint));
  return null;
}
