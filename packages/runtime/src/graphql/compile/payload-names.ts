/** Payloads under the names of a GraphQL schema, as payloads over REST. Source: API specification, sections 7 and 14.2. */

import { PlatformError } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { CollectionDescriptor, GraphqlCollection, GraphqlIndex, JsonValue } from '../../language/index.ts';

/**
 * Takes a payload's names to those of the API. Throws INVALID_PAYLOAD where a relation has both its items and its changes.
 * Keys of items, and the JSON that a link row holds, stay as they are.
 */
export function restPayload(index: GraphqlIndex, names: GraphqlCollection | undefined, payload: JsonValue): JsonValue {
  if (names === undefined || !isObject(payload)) return payload;
  const rest: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(payload)) {
    const member = names.input.get(key);
    const name = member?.name ?? key;
    if (Object.hasOwn(rest, name)) {
      throw new PlatformError('INVALID_PAYLOAD', `"${key}" says of a relation what another name has said.`);
    }
    const target = targetOf(index, names.descriptor, name);
    rest[name] = member?.kind === 'changes' ? changes(index, target, value) : related(index, target, value);
  }
  return rest;
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

function targetOf(
  index: GraphqlIndex,
  { relations }: CollectionDescriptor,
  name: string,
): GraphqlCollection | undefined {
  const relation = relations.find((candidate) => candidate.name === name);
  return relation === undefined ? undefined : index.byName(relation.target);
}
