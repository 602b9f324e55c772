/** The paths of collections and their operations. Source: API specification, section 4. */

import { commonFailures, type FailureName } from '@tablewright/runtime/operations';
import { files } from '../exports.ts';
import { type JsonObject, objectOf, reference } from '../json.ts';
import { hiddenKey, keyParameter } from '../keys.ts';
import { itemParameters, listParameters, singletonParameters, useHeader } from '../parameters.ts';
import { failuresByStatus } from '../responses.ts';
import type { Addressed } from './addressed.ts';
import { collectionWrites, itemWrites } from './write-paths.ts';

/**
 * The paths of a collection with their operations; none for one that is reached through relations only.
 *
 * OpenAPI 3.1 has no method SEARCH, so its operation stands beside GET under `x-platform-search`, in the form of an
 * operation.
 */
export function collectionPaths(collection: Addressed): readonly (readonly [string, JsonObject])[] {
  const { operations, key, path, deprecated } = collection;
  if (operations.length === 0) return [];
  const marker = ([method, operation]: readonly [string, JsonObject]) =>
    [method, { ...operation, ...(deprecated && { deprecated }) }] as const;
  const whole = [...collectionReads(collection), ...collectionWrites(collection)].map(marker);
  const single = [...itemReads(collection), ...itemWrites(collection)].map(marker);
  const parameters = [key.length > 0 ? keyParameter(key) : hiddenKey];
  return [
    ...(whole.length > 0 ? [[path, objectOf(whole)] as const] : []),
    ...(single.length > 0 ? [[`${path}/{key}`, { parameters, ...objectOf(single) }] as const] : []),
  ];
}

function collectionReads(collection: Addressed): readonly (readonly [string, JsonObject])[] {
  const { operations, readable } = collection;
  if (!readable) return [];
  const search = operations.includes('search') ? [['x-platform-search', searchItems(collection)] as const] : [];
  if (operations.includes('readSingleton')) return [['get', readSingleton(collection)], ...search];
  return [...(operations.includes('list') ? [['get', listItems(collection)] as const] : []), ...search];
}

/** Reads on the path of one item. */
export function itemReads(collection: Addressed): readonly (readonly [string, JsonObject])[] {
  const { operations, readable, key } = collection;
  return readable && operations.includes('read') && key.length > 0 ? [['get', readItem(collection)]] : [];
}

const readFailures = [...commonFailures, 'Forbidden', 'RouteNotFound'] as const;
const searchFailures = [
  ...readFailures.filter((name) => name !== 'InvalidQuery'),
  'InvalidSearch',
  'UnsupportedMediaType',
] as const;

const listed = 'The items, or their aggregate rows, and the counts that were asked for.';

function listItems(collection: Addressed): JsonObject {
  const searched = collection.operations.includes('search')
    ? ' The method SEARCH on the same path takes the parameters as a JSON body; see `x-platform-search`.'
    : '';
  return {
    operationId: collection.names.list,
    tags: [collection.names.tag],
    summary: `List items of ${quoted(collection)}`,
    description: `Returns the items of ${quoted(collection)} that match.${searched}`,
    parameters: listParameters(collection),
    responses: answers(listed, listBody(collection), readFailures, files),
  };
}

function searchItems(collection: Addressed): JsonObject {
  const singleton = collection.operations.includes('readSingleton');
  const success = singleton
    ? answers('The item.', singletonBody(collection), searchFailures, files)
    : answers(listed, listBody(collection), searchFailures, files);
  const body = { schema: reference('schemas', collection.names.search) };
  return {
    operationId: collection.names.searchOperation,
    tags: [collection.names.tag],
    summary: singleton ? `Read ${quoted(collection)} by a body` : `Search items of ${quoted(collection)}`,
    description: 'Answers as GET does. Send it with the method SEARCH; parameters in the URL do not count.',
    requestBody: { content: { 'application/json': body } },
    responses: success,
  };
}

function readItem(collection: Addressed): JsonObject {
  return {
    operationId: collection.names.single,
    tags: [collection.names.tag],
    summary: `Read one item of ${quoted(collection)}`,
    description: `Returns the item of ${quoted(collection)} that has the key. One that does not exist is forbidden.`,
    parameters: [...itemParameters(collection), useHeader('ifNoneMatch')],
    responses: tagged(answers('The item.', itemBody(collection), readFailures)),
  };
}

function readSingleton(collection: Addressed): JsonObject {
  return {
    operationId: collection.names.list,
    tags: [collection.names.tag],
    summary: `Read ${quoted(collection)}`,
    description: `Returns the only item of ${quoted(collection)}; before it is written first, its defaults.`,
    parameters: [...singletonParameters(collection), useHeader('ifNoneMatch')],
    responses: tagged(answers('The item.', singletonBody(collection), readFailures, files), 'FileETag'),
  };
}

/** Items, or aggregate rows where the request has `aggregate` or `groupBy`; nothing around them in a file. */
function listBody({ names }: Addressed): JsonObject {
  const rows = [names.item, names.aggregate].map((name) => ({ type: 'array', items: reference('schemas', name) }));
  const data: JsonObject = { anyOf: rows };
  const body: JsonObject = {
    type: 'object',
    properties: { data, meta: reference('schemas', 'Meta') },
    required: ['data'],
  };
  return { anyOf: [body, ...rows] };
}

function itemBody({ names }: Addressed): JsonObject {
  return { type: 'object', properties: { data: reference('schemas', names.item) }, required: ['data'] };
}

/** The item and the counts that were asked for; nothing around it in a file, which is a list of it. */
function singletonBody({ names }: Addressed): JsonObject {
  const item = reference('schemas', names.item);
  const body: JsonObject = {
    type: 'object',
    properties: { data: item, meta: reference('schemas', 'Meta') },
    required: ['data'],
  };
  return { anyOf: [body, { type: 'array', items: item }] };
}

function answers(
  description: string,
  schema: JsonObject,
  failures: readonly FailureName[],
  others: JsonObject = {},
): JsonObject {
  const succeeded = { description, content: { 'application/json': { schema }, ...others } };
  return objectOf([['200', succeeded], ...failuresByStatus(failures)]);
}

/** Answers whose tag tells whether they have changed. */
function tagged({ 200: succeeded, ...others }: JsonObject, tag: 'ETag' | 'FileETag' = 'ETag'): JsonObject {
  const headers = { ETag: reference('headers', tag) };
  const found = typeof succeeded === 'object' ? succeeded : {};
  return { 200: { ...found, headers }, 304: { description: 'It has not changed.', headers }, ...others };
}

function quoted({ names }: Addressed): string {
  return `"${names.collection}"`;
}
