/**
 * Reads PostgreSQL's node trees (`pg_node_tree`), the form in which it keeps the queries of views.
 *
 * A tree is written `{VAR :varno 3 :varattno 1 …}` with lists in parentheses, and `<>` for null. A backslash stands
 * before every character of a text that has a meaning in this form. Source: src/backend/nodes/read.c and outfuncs.c of
 * PostgreSQL.
 */

/** A node with its fields by name; a list; an atom; or null. */
export type NodeValue = TreeNode | readonly NodeValue[] | string | null;

/** A node: its tag in capitals and its fields. */
export interface TreeNode {
  readonly tag: string;
  readonly fields: ReadonlyMap<string, NodeValue>;
}

interface Reader {
  readonly tokens: readonly string[];
  next: number;
}

/** Levels that a tree may have; bounds the stack of those who read it. */
const maxDepth = 1_000;

/**
 * Parses one value. Text after it is ignored, a tree that breaks off ends its lists and nodes early. A tree of more than a
 * thousand levels reads as null.
 */
export function parseNodeTree(text: string): NodeValue {
  // Blanks and the brackets ( ) { } separate; a backslash takes the character after it into the word.
  const tokens = text.match(/[(){}]|(?:\\[\s\S]|[^\s(){}\\])+/gu) ?? [];
  return isTooDeep(tokens) ? null : readValue({ tokens, next: 0 });
}

function isTooDeep(tokens: readonly string[]): boolean {
  let depth = 0;
  for (const token of tokens) {
    if (token === '(' || token === '{') depth += 1;
    else if (token === ')' || token === '}') depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** The field of a node when it is a node. */
export function nodeField(node: TreeNode, name: string): TreeNode | null {
  return asNode(node.fields.get(name));
}

/** The nodes in a field that is a list of nodes; empty for null. */
export function nodesField(node: TreeNode, name: string): readonly TreeNode[] {
  const value = node.fields.get(name);
  return isList(value) ? value.flatMap((item) => asNode(item) ?? []) : [];
}

/** The field of a node when it is an atom. */
export function atomField(node: TreeNode, name: string): string | null {
  const value = node.fields.get(name);
  return typeof value === 'string' ? value : null;
}

/** The field of a node when it is a number; 0 when it is absent, as in PostgreSQL. */
export function numberField(node: TreeNode, name: string): number {
  return Number(atomField(node, name) ?? 0);
}

/** The value when it is a node. */
export function asNode(value: NodeValue | undefined): TreeNode | null {
  return value !== undefined && value !== null && typeof value === 'object' && 'tag' in value ? value : null;
}

/** True for a list. */
export function isList(value: NodeValue | undefined): value is readonly NodeValue[] {
  return Array.isArray(value);
}

function readValue(reader: Reader): NodeValue {
  const token = reader.tokens[reader.next];
  reader.next += 1;
  if (token === undefined || token === '<>') return null;
  if (token === '(') return readList(reader);
  if (token === '{') return readNode(reader);
  return token.replaceAll(/\\([\s\S])/gu, '$1');
}

function readList(reader: Reader): readonly NodeValue[] {
  const items: NodeValue[] = [];
  while (!atEnd(reader, ')')) items.push(readValue(reader));
  reader.next += 1;
  return items;
}

function readNode(reader: Reader): TreeNode {
  const tag = reader.tokens[reader.next] ?? '';
  reader.next += 1;
  const fields = new Map<string, NodeValue>();
  while (!atEnd(reader, '}')) readField(reader, fields);
  reader.next += 1;
  return { tag, fields };
}

/** The first token after a field's name is its value even if it begins with a colon: a column may be called so. */
function readField(reader: Reader, fields: Map<string, NodeValue>): void {
  const name = reader.tokens[reader.next]?.slice(1) ?? '';
  reader.next += 1;
  fields.set(name, readValue(reader));
  // Constants are several tokens: `:constvalue 4 [ 1 0 0 0 ]`. Their bytes are of no interest here.
  while (!atEnd(reader, '}') && !reader.tokens[reader.next]?.startsWith(':')) readValue(reader);
}

function atEnd(reader: Reader, bracket: string): boolean {
  const token = reader.tokens[reader.next];
  return token === undefined || token === bracket;
}
