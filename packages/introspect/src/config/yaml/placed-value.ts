import { type JsonValue, parseExactly, withNumberTexts } from '@tablewright/runtime/language';
import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import type { PlacedValue } from '../permissions/permission-document.ts';
import { movedPlace, type PlacedName, type SourceEntry, type SourceNode } from './source.ts';

/** Turns a part of a file into a JSON value that knows its places. */
export function placedValue(node: SourceNode): PlacedValue {
  return { ...plainValue(jsonOf(node)), place: node.place, source: node, lines: 0 };
}

/** A value as plain data: threads pass nothing else. */
export function plainValue(exact: JsonValue): Pick<PlacedValue, 'value' | 'exact'> {
  const value = withNumberTexts(exact);
  const text = JSON.stringify(exact);
  return text === JSON.stringify(value) ? { value } : { value, exact: text };
}

/** The value with every digit of its numbers. */
export function exactValue({ value, exact }: PlacedValue): JsonValue {
  return exact === undefined ? value : parseExactly(exact);
}

function jsonOf(node: SourceNode): JsonValue {
  switch (node.kind) {
    case 'scalar':
      return node.digits === true ? JSON.rawJSON(String(node.value)) : node.value;
    case 'list':
      return node.items.map(jsonOf);
    case 'map':
      // fromEntries defines own properties, so a key such as __proto__ is a key like any other.
      return Object.fromEntries(node.entries.map(({ key, value }) => [key.name, jsonOf(value)]));
  }
}

/** Place of the part that a path of keys leads to (`["author_id", "name"]`), or of the nearest one above it. */
export function placeIn({ place: location, source, lines }: PlacedValue, path: readonly string[]): string {
  if (source === null) return location;
  let found: Part = { place: source.place, node: source };
  for (const step of path) {
    const inner = partOf(found.node, step);
    if (inner === undefined) break;
    found = inner;
  }
  return movedPlace(found.place, lines);
}

interface Part {
  /** Place of a member's key. */
  readonly place: string;
  readonly node: SourceNode;
}

function partOf(node: SourceNode, step: string): Part | undefined {
  if (node.kind === 'list') {
    const item = node.items.find((_, index) => String(index) === step);
    return item && { place: item.place, node: item };
  }
  const entry = node.kind === 'map' ? node.entries.find(({ key }) => key.name === step) : undefined;
  return entry && { place: entry.key.place, node: entry.value };
}

/** The entries of a mapping; any other node has none, and is reported. An empty node is an empty mapping. */
export function entriesOf(
  node: SourceNode,
  what: string,
  diagnostics: Diagnostic[],
  hint: string | null = null,
): readonly SourceEntry[] {
  if (node.kind === 'map') return node.entries;
  if (!isNothing(node)) diagnostics.push(formError(node.place, `${what} must be a mapping.`, hint));
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
