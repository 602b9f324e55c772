import { type JsonValue, parseExactly, withNumberTexts } from '@tablewright/runtime/language';
import type { PlacedValue } from '../permissions/permission-document.ts';
import { movedPlace } from './moved.ts';
import type { SourceNode } from './source.ts';

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
