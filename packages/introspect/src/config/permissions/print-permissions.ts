import type { JsonValue } from '@tablewright/runtime/language';
import { Document, isCollection, isMap, isNode, isScalar, type Node, parseDocument, type ScalarTag, visit } from 'yaml';
import { compareText } from '../../order.ts';
import type { PermissionDocument } from './permission-document.ts';
import { type PlainRule, plainRules } from './plain-rules.ts';

/**
 * Prints a document as the permissions file that reads as the same again: sorted, so that a change shows as a diff. With the
 * text that the file has before, its comments stay where what they are about stays.
 */
export function printPermissions(document: PermissionDocument, before = ''): string {
  const roles = document.roles.toSorted((a, b) => compareText(a.name, b.name));
  const content = {
    ...(roles.length > 0 && {
      roles: Object.fromEntries(
        roles.map(({ name, description, admin, app }) => [
          name,
          { ...(description !== null && { description }), ...(admin && { admin }), ...(app && { app }) },
        ]),
      ),
    }),
    permissions: nested(plainRules(document)),
  };
  const yaml = new Document(content, { version: '1.2', customTags: (tags) => [number, ...tags] });
  // Roles and actions stand on lines of their own, what they are in one line each.
  visit(yaml, {
    Pair(_, pair, path) {
      const depth = path.filter((ancestor) => isCollection(ancestor)).length;
      if (!isCollection(pair.value)) return;
      if (depth >= deepestBlock || pair.value.items.length === 0) pair.value.flow = true;
    },
  });
  keepComments(yaml, before);
  return yaml.toString({ lineWidth: 120, flowCollectionPadding: true });
}

/** Numbers that a double does not hold are printed as they are written. */
const number: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => JSON.isRawJSON(value),
  resolve: (text) => text,
  stringify: ({ value }) => (JSON.isRawJSON(value) ? value.rawJSON : String(value)),
};

/** Levels down to the rules of a collection: section, role, collection. */
const deepestBlock = 4;

function nested(rules: readonly PlainRule[]): JsonValue {
  return tree(
    rules,
    ({ role }) => role,
    (ofRole) =>
      tree(
        ofRole,
        ({ collection }) => collection,
        (ofCollection) =>
          tree(
            ofCollection,
            ({ action }) => action,
            (ofAction) => {
              const written = ofAction.map(writtenRule);
              return written.length === 1 && written[0] !== undefined ? written[0] : written;
            },
          ),
      ),
  );
}

function tree(
  rules: readonly PlainRule[],
  nameOf: (rule: PlainRule) => string,
  contentOf: (rules: readonly PlainRule[]) => JsonValue,
): JsonValue {
  return Object.fromEntries([...Map.groupBy(rules, nameOf)].map(([name, group]) => [name, contentOf(group)]));
}

function writtenRule({ action, fields, filter, validation, presets }: PlainRule): JsonValue {
  const hasPresets = Object.keys(presets).length > 0;
  const isEverything = action === 'delete' ? fields === null : fields?.length === 1 && fields[0] === '*';
  if (isEverything && filter === null && validation === null && !hasPresets) return true;
  return {
    ...(fields !== null && { fields: fields.length === 1 && fields[0] === '*' ? '*' : fields }),
    ...(filter !== null && { filter }),
    ...(validation !== null && { validation }),
    ...(hasPresets && { presets }),
  };
}

/**
 * Brings the comments of an earlier text of a YAML file to a document that is about to take its place. These stand
 * above, beside or after entries that are still there under the same names. Those of what is gone go with it, as do
 * those within lists.
 */
function keepComments(document: Document, before: string): void {
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
