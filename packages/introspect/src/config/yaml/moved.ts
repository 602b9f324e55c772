/** Parts of a file that stand in it once more, further down. */
import type { SourceNode } from './source.ts';

/** The place so many lines below another one. Places without a line stay. */
export function movedPlace(location: string, lines: number): string {
  const column = location.lastIndexOf(':');
  const line = location.lastIndexOf(':', column - 1);
  return `${location.slice(0, line)}:${Number(location.slice(line + 1, column)) + lines}${location.slice(column)}`;
}

/** A node with all its places so many lines below. */
export function movedNode(node: SourceNode, lines: number): SourceNode {
  const location = movedPlace(node.place, lines);
  switch (node.kind) {
    case 'scalar':
      return { ...node, place: location };
    case 'list':
      return { ...node, place: location, items: node.items.map((item) => movedNode(item, lines)) };
    case 'map':
      return {
        ...node,
        place: location,
        entries: node.entries.map(({ key, value }) => ({
          key: { name: key.name, place: movedPlace(key.place, lines) },
          value: movedNode(value, lines),
        })),
      };
  }
}
