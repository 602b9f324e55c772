/** Parts of a file that stand in it once more, further down. */
import type { SourceNode } from './source.ts';

/** The place so many lines below another one. Places without a line stay. */
export function movedPlace(place: string, lines: number): string {
  const column = place.lastIndexOf(':');
  const line = place.lastIndexOf(':', column - 1);
  return `${place.slice(0, line)}:${Number(place.slice(line + 1, column)) + lines}${place.slice(column)}`;
}

/** A node with all its places so many lines below. */
export function movedNode(node: SourceNode, lines: number): SourceNode {
  const place = movedPlace(node.place, lines);
  switch (node.kind) {
    case 'scalar':
      return { ...node, place };
    case 'list':
      return { ...node, place, items: node.items.map((item) => movedNode(item, lines)) };
    case 'map':
      return {
        ...node,
        place,
        entries: node.entries.map(({ key, value }) => ({
          key: { name: key.name, place: movedPlace(key.place, lines) },
          value: movedNode(value, lines),
        })),
      };
  }
}
