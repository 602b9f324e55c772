/** Filters and payloads under the names of a GraphQL schema, as filters and payloads over REST. */
import { PlatformError } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import {
  type Attribute,
  type CollectionDescriptor,
  type GraphqlCollection,
  type GraphqlIndex,
  graphqlName,
  type JsonValue,
} from '../../language/index.ts';

/**
 * Takes a filter's names to those of the API. `names` are those of the collection whose rows are described; without
 * them keys are operators with operands. A value that is no object stays; the parser of filters judges it.
 */
export function restFilter(index: GraphqlIndex, names: GraphqlCollection | undefined, filter: JsonValue): JsonValue {
  if (!isObject(filter)) return filter;
  const entries = Object.entries(filter).flatMap(([key, value]): readonly (readonly [string, JsonValue])[] => {
    const member = names?.filter.get(key);
    if (names === undefined || member === undefined) return operator(index, names, key, value);
    if (member.kind === 'functions') return functionCalls(index, member.name, value);
    return [[member.name, restFilter(index, filterTarget(index, names.descriptor, member.name), value)]];
  });
  return Object.fromEntries(entries);
}

/** A key that is no field or relation: an operator, a quantifier, or a list of filters of the same rows. */
function operator(
  index: GraphqlIndex,
  names: GraphqlCollection | undefined,
  key: string,
  value: JsonValue,
): readonly (readonly [string, JsonValue])[] {
  if ((key === '_and' || key === '_or') && Array.isArray(value)) {
    return [[key, value.map((condition) => restFilter(index, names, condition))]];
  }
  if (key === '_some' || key === '_none') return [[key, restFilter(index, names, value)]];
  if (key === '_at' && isObject(value)) return Object.entries(value);
  return [[key, value]];
}

/** `{ published_at_func: { year: … } }` is `{ "year(published_at)": … }`. */
function functionCalls(index: GraphqlIndex, name: string, value: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (!isObject(value)) return [[name, value]];
  return Object.entries(value).map(([call, inner]) => [`${call}(${name})`, restFilter(index, undefined, inner)]);
}

function filterTarget(index: GraphqlIndex, { relations }: CollectionDescriptor, name: string) {
  const target = name.startsWith('item:')
    ? name.slice('item:'.length)
    : relations.find((candidate) => candidate.name === name)?.target;
  return target === undefined ? undefined : index.byName(target);
}

/** Takes a payload's names to those of the API. Throws INVALID_PAYLOAD where a relation has items and changes. */
export function restPayload(index: GraphqlIndex, names: GraphqlCollection | undefined, payload: JsonValue): JsonValue {
  if (names === undefined || !isObject(payload)) return payload;
  const rest: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(payload)) {
    const member = names.input.get(key);
    const name = member?.name ?? key;
    if (Object.hasOwn(rest, name)) {
      throw new PlatformError('INVALID_PAYLOAD', `"${key}" says of a relation what another name has said.`);
    }
    const target = payloadTarget(index, names.descriptor, name);
    const attributes = names.descriptor.fields.find((field) => field.name === name)?.attributes;
    const renamed = restMembers(attributes, value);
    rest[name] = member?.kind === 'changes' ? changes(index, target, renamed) : related(index, target, renamed);
  }
  return rest;
}

/** Takes the names of members of composite values to those of the database. */
export function restMembers(attributes: readonly Attribute[] | undefined, value: JsonValue): JsonValue {
  if (attributes === undefined) return value;
  if (Array.isArray(value)) return value.map((element) => restMembers(attributes, element));
  if (!isObject(value)) return value;
  const members = new Map(attributes.map((attribute) => [graphqlName(attribute.name), attribute]));
  const entries = Object.entries(value).map(([key, inner]): [string, JsonValue] => {
    const member = members.get(key);
    return [member?.name ?? key, restMembers(member?.attributes, inner)];
  });
  return Object.fromEntries(entries);
}

function related(index: GraphqlIndex, target: GraphqlCollection | undefined, value: JsonValue): JsonValue {
  if (target === undefined) return value;
  return Array.isArray(value)
    ? value.map((item) => restPayload(index, target, item))
    : restPayload(index, target, value);
}

/** The detailed form: lists of payloads, and of keys. */
function changes(index: GraphqlIndex, target: GraphqlCollection | undefined, value: JsonValue): JsonValue {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([kind, items]): [string, JsonValue] => [
    kind,
    kind === 'delete' ? items : related(index, target, items),
  ]);
  return Object.fromEntries(entries.filter(([, items]) => items !== null));
}

function payloadTarget(
  index: GraphqlIndex,
  { relations }: CollectionDescriptor,
  name: string,
): GraphqlCollection | undefined {
  const relation = relations.find((candidate) => candidate.name === name);
  return relation === undefined ? undefined : index.byName(relation.target);
}
