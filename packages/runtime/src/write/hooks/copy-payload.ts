/** Payloads as hooks see them: copies to change, in which numbers beyond those of JavaScript are texts, as the types say. */

import { toJson } from '../../extensions/shapes.ts';
import type { FilterObject } from '../../language/conditions/filter-syntax.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type {
  CollectionDescriptor,
  FieldDescriptor,
  JsonValue,
  ManyToAny,
  RelationDescriptor,
} from '../../language/index.ts';
import { isList, withNumberTexts } from '../../language/values/parse-text.ts';
import { type CollectionScope, keyFields, type Scope } from '../../sql/scope.ts';
import type { Keys } from '../decode/keys.ts';

/** Copies what a payload says of an item, with the items below it. Within JSON, numbers stay as they were written. */
export function copyPayload(open: Scope, collection: CollectionScope, payload: JsonValue): JsonValue {
  if (!isObject(payload)) return plain(payload);
  const members = Object.entries(payload).map(([name, value]) => {
    if (collection.fields.get(name)?.descriptor.type === 'json') return [name, toJson(value)] as const;
    const relation = collection.relations.get(name)?.descriptor;
    return [name, relation === undefined ? plain(value) : copyRelated(open, relation, value)] as const;
  });
  return Object.fromEntries(members);
}

function plain(value: JsonValue): JsonValue {
  return toJson(withNumberTexts(value));
}

function copyRelated(open: Scope, relation: RelationDescriptor, value: JsonValue): JsonValue {
  if (isList(value)) return value.map((member) => copyMember(open, relation, member));
  if (!isObject(value) || relation.kind === 'm2o') return copyMember(open, relation, value);
  const lists = Object.entries(value).map(
    ([name, members]) => [name, isList(members) ? copyRelated(open, relation, members) : plain(members)] as const,
  );
  return Object.fromEntries(lists);
}

function copyMember(open: Scope, relation: RelationDescriptor, value: JsonValue): JsonValue {
  const target = open.collections.get(relation.target);
  if (target === undefined || !isObject(value)) return plain(value);
  const copy = copyPayload(open, target, value);
  return relation.kind === 'm2a' && isObject(copy) ? { ...copy, ...copyItem(open, relation, value) } : copy;
}

/** The item of a link, in the collection that the link names. */
function copyItem(open: Scope, { itemField, collectionField }: ManyToAny, link: FilterObject): FilterObject {
  const { collection = link[collectionField] } = link;
  const target = typeof collection === 'string' ? open.collections.get(collection) : undefined;
  const names = ['item', itemField].filter((name) => Object.hasOwn(link, name));
  return Object.fromEntries(
    names.map((name) => {
      const value = link[name] ?? null;
      return [name, target === undefined ? plain(value) : copyPayload(open, target, value)];
    }),
  );
}

/** The keys in their order: each a value, or an object of the key fields where there are several. */
export function sentKeys(descriptor: CollectionDescriptor, keys: Keys): readonly JsonValue[] {
  const fields = keyFields(descriptor);
  const columns = keys.values.map((text) => (keys.many ? readArray(text) : [text]));
  return Array.from({ length: keys.count }, (_, row): JsonValue => {
    const parts = fields.map((field, index) => [field.name, sent(field, columns[index]?.[row] ?? '')] as const);
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only[1] : Object.fromEntries(parts);
  });
}

/** As `json/transcode.ts` sends it: small integers and floats as numbers, booleans, every other type as its text. */
function sent({ type }: FieldDescriptor, text: string): JsonValue {
  if (type === 'integer' || type === 'float') return Number.isFinite(Number(text)) ? Number(text) : text;
  return type === 'boolean' ? text.startsWith('t') : text;
}

/** The elements of an array's text form with one dimension: `{1,"a,b"}`. A key is never null. */
function readArray(text: string): readonly string[] {
  const elements = text.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^,]+/gs) ?? [];
  return elements.map((element) =>
    element.startsWith('"') ? element.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : element,
  );
}
