import { type Document, isMap, isNode, isScalar, type Node, parseDocument } from 'yaml';

/**
 * Brings the comments of an earlier text of a YAML file to a document that is about to take its place. These stand
 * above, beside or after entries that are still there under the same names. Those of what is gone go with it, as do
 * those within lists.
 */
export function keepComments(document: Document, before: string): void {
  const earlier = parseDocument(before);
  document.commentBefore = earlier.commentBefore;
  document.comment = earlier.comment;
  bring(earlier.contents, document.contents);
}

function bring(from: unknown, to: unknown): void {
  if (!isNode(from) || !isNode(to)) return;
  bringOwn(from, to);
  if (!isMap(from) || !isMap(to)) return;
  for (const { key, value } of to.items) {
    const same = from.items.find((pair) => isScalar(pair.key) && isScalar(key) && pair.key.value === key.value);
    if (same === undefined) continue;
    if (isNode(same.key) && isNode(key)) bringOwn(same.key, key);
    bring(same.value, value);
  }
}

function bringOwn(from: Node, to: Node): void {
  if (from.commentBefore) to.commentBefore = from.commentBefore;
  if (from.comment) to.comment = from.comment;
}
