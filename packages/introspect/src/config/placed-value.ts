import type { JsonValue } from '@platform/runtime/contract';
import type { PlacedValue } from './permission-document.ts';
import type { SourceNode } from './source.ts';

/** Turns a part of a file into a JSON value that knows its places. */
export function placedValue(node: SourceNode): PlacedValue {
  return { value: jsonOf(node), place: node.place, placeAt: (path) => placeIn(node, path) };
}

function jsonOf(node: SourceNode): JsonValue {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(jsonOf);
    case 'map':
      // fromEntries defines own properties, so a key such as __proto__ is a key like any other.
      return Object.fromEntries(node.entries.map(({ key, value }) => [key.name, jsonOf(value)]));
  }
}

function placeIn(root: SourceNode, path: readonly string[]): string {
  let found: Part = { place: root.place, node: root };
  for (const step of path) {
    const inner = partOf(found.node, step);
    if (inner === undefined) break;
    found = inner;
  }
  return found.place;
}

interface Part {
  /** Of a member that of its key. */
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
