/** Filters under the names of a GraphQL schema, as filters over REST. Source: API specification, sections 5.2 and 14.2. */
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { CollectionDescriptor, GraphqlCollection, GraphqlIndex, JsonValue } from '../../language/index.ts';

/**
 * Takes a filter's names to those of the API. `names` are those of the collection whose rows are described; without
 * them the keys are operators with their operands. A value that is no object stays as it is; the parser of filters
 * judges it.
 */
export function restFilter(index: GraphqlIndex, names: GraphqlCollection | undefined, filter: JsonValue): JsonValue {
  if (!isObject(filter)) return filter;
  const entries = Object.entries(filter).flatMap(([key, value]): readonly (readonly [string, JsonValue])[] => {
    const member = names?.filter.get(key);
    if (names === undefined || member === undefined) return operator(index, names, key, value);
    if (member.kind === 'functions') return functionCalls(index, member.name, value);
    return [[member.name, restFilter(index, targetOf(index, names.descriptor, member.name), value)]];
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

function targetOf(index: GraphqlIndex, { relations }: CollectionDescriptor, name: string) {
  const target = name.startsWith('item:')
    ? name.slice('item:'.length)
    : relations.find((candidate) => candidate.name === name)?.target;
  return target === undefined ? undefined : index.byName(target);
}
