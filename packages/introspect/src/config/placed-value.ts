import type { JsonValue } from '@platform/runtime/contract';
import type { PlacedValue } from './permission-document.ts';
import type { SourceNode } from './source.ts';

/** Turns a part of a file into a JSON value that knows its places. */
export function placedValue(node: SourceNode): PlacedValue {
  const places = new Map<string, string>();
  return { value: readValue(node, [], places), place: node.place, places };
}

/** The place of the value at a path, or of the nearest one above it. */
export function placeAt({ place, places }: PlacedValue, path: readonly string[]): string {
  for (let length = path.length; length > 0; length--) {
    const found = places.get(JSON.stringify(path.slice(0, length)));
    if (found !== undefined) return found;
  }
  return place;
}

function readValue(node: SourceNode, path: readonly string[], places: Map<string, string>): JsonValue {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map((item, index) => {
        places.set(JSON.stringify([...path, String(index)]), item.place);
        return readValue(item, [...path, String(index)], places);
      });
    case 'map':
      // fromEntries defines own properties, so a key such as __proto__ is a key like any other.
      return Object.fromEntries(
        node.entries.map(({ key, value }) => {
          places.set(JSON.stringify([...path, key.name]), key.place);
          return [key.name, readValue(value, [...path, key.name], places)];
        }),
      );
  }
}
