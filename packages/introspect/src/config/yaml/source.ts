/** One value of a file that people write, with the place it stands at: `permissions.yaml:12:7`. */
export type SourceNode = SourceMap | SourceList | SourceScalar;

/** A mapping in the order of the file. Its keys are distinct. */
export interface SourceMap {
  readonly kind: 'map';
  readonly place: string;
  readonly entries: readonly SourceEntry[];
}

/** One key of a mapping with its value. */
export interface SourceEntry {
  readonly key: PlacedName;
  readonly value: SourceNode;
  /** Set where the value is the text of an earlier one, word for word. */
  readonly repeats?: Repetition;
}

/** Entry that says the same as a later one, and the number of lines between. */
export interface Repetition {
  readonly first: SourceEntry;
  readonly lines: number;
}

/** A sequence. */
export interface SourceList {
  readonly kind: 'list';
  readonly place: string;
  readonly items: readonly SourceNode[];
}

/** A text, number, boolean or null. Numbers that a JSON number would change are texts. */
export interface SourceScalar {
  readonly kind: 'scalar';
  readonly place: string;
  readonly value: string | number | boolean | null;
  /** True for the text of a number. */
  readonly digits?: true;
  /** True for a null that stands nowhere: a key or an item without a value. */
  readonly empty?: true;
}

/** A name and where it is written. */
export interface PlacedName {
  readonly name: string;
  readonly place: string;
}

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
