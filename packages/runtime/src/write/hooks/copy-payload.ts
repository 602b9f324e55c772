/** Payloads and keys as hooks see them: copies to change, in which numbers beyond those of JavaScript are texts, as the types say. */

import { hasParts } from '../../dialects/fragment.ts';
import { toJson } from '../../extensions/shapes.ts';
import type { FilterObject } from '../../language/conditions/filter-syntax.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { CollectionDescriptor, JsonValue, ManyToAny, RelationDescriptor } from '../../language/index.ts';
import type { ValueFacts } from '../../language/types/definition.ts';
import { isList, parseExactly, withNumberTexts } from '../../language/values/parse-text.ts';
import type { ValueType } from '../../language/values/value-type.ts';
import { attributeType, elementOf } from '../../language/values/values.ts';
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
    const values = fields.map((field, index) => keyValue(field, columns[index]?.[row] ?? ''));
    const [only = null] = values;
    const [field, ...others] = fields;
    if (field === undefined || others.length > 0)
      return Object.fromEntries(fields.map(({ name }, index) => [name, values[index] ?? null]));
    // Alone, a list would be one of keys: it has the form of a path.
    return hasParts(field) ? JSON.stringify(only) : only;
  });
}

/** The elements of an array's text form with one dimension: `{1,"a,b"}`. A key is never null. */
function readArray(text: string): readonly string[] {
  const elements = text.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^,]+/gs) ?? [];
  return elements.map((element) =>
    element.startsWith('"') ? element.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : element,
  );
}

/** A moment as the database prints it, or as a path has been read: its zeros at the end and its zone differ. */
const moment = /^(\S+) ([\d:]+)(?:(\.\d*?[1-9])|\.)?0*(?:\+00(?::00)?)?( BC)?$/;

/** As `json/transcode.ts` sends it: small integers and floats as numbers, booleans, JSON and its like, others as texts. */
function keyValue(type: ValueType & Pick<ValueFacts, 'scale'>, text: string): JsonValue {
  switch (type.type) {
    case 'integer':
    case 'float':
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case 'boolean':
      return text.startsWith('t');
    case 'json':
      return toJson(withNumberTexts(parseExactly(text)));
    case 'dateTime':
      return text.replace(moment, '$1T$2$3$4');
    case 'timestamp':
      return text.replace(moment, '$1T$2$3+00:00$4');
    case 'binary':
      return Buffer.from(text.slice('\\x'.length), 'hex').toString('base64');
    case 'decimal':
      return withPlaces(text, type.scale ?? 0);
    case 'array':
      return arrayValue(elementOf(type) ?? { type: 'text' }, text);
    case 'composite':
      return recordValue(type, text);
    default:
      return text;
  }
}

/** A number with all places of its column, which paths may leave out. */
function withPlaces(text: string, scale: number): string {
  const [whole, places = ''] = text.split('.');
  return scale > 0 && /^-?\d/.test(text) ? `${whole}.${places.padEnd(scale, '0')}` : text;
}

/** Values of an array as the database prints it: `{1,NULL,"a b"}`, `{{1,2},{3,4}}`. */
function arrayValue(element: ValueType, text: string): JsonValue {
  return splitLiteral(text, true).map((part) => {
    if (part.isQuoted) return keyValue(element, part.text);
    if (part.text.startsWith('{')) return arrayValue(element, part.text);
    return part.text === 'NULL' ? null : keyValue(element, part.text);
  });
}

/** Members of a composite value as the database prints it: `(1,"a b",)`. */
function recordValue({ attributes = [] }: ValueType, text: string): JsonValue {
  const parts = splitLiteral(text, false);
  const members = attributes.map((attribute, index) => {
    const part = parts[index];
    const isNull = part === undefined || (part.text === '' && !part.isQuoted);
    return [attribute.name, isNull ? null : keyValue(attributeType(attribute), part.text)] as const;
  });
  return Object.fromEntries(members);
}

interface Part {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** Parts of a literal between its braces; arrays within an array stay literals. */
function splitLiteral(literal: string, isArray: boolean): readonly Part[] {
  const parts: Part[] = [];
  let [text, isQuoted, isOpen, depth] = ['', false, false, 0];
  const end = literal.length - 1;
  for (let index = 1; index < end; index++) {
    const letter = literal[index] ?? '';
    const isNested = depth > 0;
    if (isOpen && (letter === '\\' || (letter === '"' && !isArray && literal[index + 1] === '"'))) {
      index += 1;
      text += isNested ? letter + (literal[index] ?? '') : (literal[index] ?? '');
    } else if (letter === '"') {
      isOpen = !isOpen;
      isQuoted ||= !isNested;
      if (isNested) text += letter;
    } else if (letter === ',' && !isOpen && !isNested) {
      parts.push({ text, isQuoted });
      [text, isQuoted] = ['', false];
    } else {
      if (isArray && !isOpen) depth += letter === '{' ? 1 : letter === '}' ? -1 : 0;
      text += letter;
    }
  }
  return isArray && end === 1 ? parts : [...parts, { text, isQuoted }];
}
