/** The paths of collections and their operations. Source: API specification, section 4. */
import type { JsonValue } from '@tablewright/runtime/language';
import { commonFailures, type FailureName } from '@tablewright/runtime/operations';
import { isSame } from '../../cache/same.ts';
import type { RoleView } from '../../role-view/role-view.ts';
import { envelope, type JsonObject, meta, objectOf, type Parts, reference } from '../json.ts';
import { keyParameters, useKey } from '../keys.ts';
import {
  files,
  filterParameter,
  itemParameters,
  listParameters,
  singletonParameters,
  use,
  useHeader,
} from '../parameters.ts';
import { failuresByStatus } from '../responses.ts';
import { type Addressed, addressed } from './addressed.ts';
import { collectionWrites, head, itemWrites } from './write-paths.ts';

/**
 * The paths of a collection with their operations; none for one that is reached through relations only.
 *
 * OpenAPI 3.1 has no method SEARCH, so its operation stands beside GET under `x-platform-search`, in the form of an
 * operation.
 */
export function collectionPaths(collection: Addressed): Parts {
  const { operations, path, deprecated } = collection;
  if (operations.length === 0) return [];
  const marker = ([method, operation]: readonly [string, JsonObject]) =>
    [method, { ...operation, ...(deprecated && { deprecated }) }] as const;
  const whole = [...collectionReads(collection), ...collectionWrites(collection)].map(marker);
  const single = [...itemReads(collection), ...itemWrites(collection)].map(marker);
  return [
    ...(whole.length > 0 ? [[path, pathItem([], whole)] as const] : []),
    ...(single.length > 0 ? [[`${path}/{key}`, pathItem([useKey(collection)], single)] as const] : []),
  ];
}

/**
 * Operations of a path. Parameters of all answers stand there once, beside those of the address. A DELETE would seem to
 * take them, so beside one they stay.
 */
function pathItem(address: readonly JsonObject[], operations: Parts): JsonObject {
  const lists = operations.map(([, { parameters }]) => (Array.isArray(parameters) ? parameters : []));
  const [first = [], ...others] = lists.filter((list) => isIn(list, use('fields')));
  const isShared = others.length > 0 && operations.every(([method]) => method !== 'delete');
  const shared = isShared ? first.filter((parameter) => others.every((list) => isIn(list, parameter))) : [];
  const parameters = [...address, ...shared];
  const members = operations.map(([method, { parameters: _, ...operation }], index) => {
    const left = (lists[index] ?? []).filter((parameter) => !isIn(shared, parameter));
    return [method, left.length === 0 ? operation : { ...operation, parameters: left }] as const;
  });
  return { ...(parameters.length > 0 && { parameters }), ...objectOf(members) };
}

function isIn(list: readonly JsonValue[], parameter: JsonValue): boolean {
  return list.some((other) => isSame(other, parameter));
}

/** Components of parameters that several operations of a collection take. */
export function collectionParameters(collection: Addressed): Parts {
  const { names, operations, readable } = collection;
  return readable && operations.length > 0 ? [[names.filter, filterParameter(names.filter)]] : [];
}

/** Components of parameters that collections with such a key share. */
export function sharedParameters(collection: Addressed): Parts {
  return itemReads(collection).length + itemWrites(collection).length > 0 ? keyParameters(collection) : [];
}

function collectionReads(collection: Addressed): Parts {
  const { operations, readable } = collection;
  if (!readable) return [];
  const search = operations.includes('search') ? [['x-platform-search', searchItems(collection)] as const] : [];
  if (operations.includes('readSingleton')) return [['get', readSingleton(collection)], ...search];
  return [...(operations.includes('list') ? [['get', listItems(collection)] as const] : []), ...search];
}

function itemReads(collection: Addressed): Parts {
  const { operations, readable, key } = collection;
  return readable && operations.includes('read') && key.length > 0 ? [['get', readItem(collection)]] : [];
}

const readFailures = [...commonFailures, 'Forbidden', 'RouteNotFound'] as const;
const searchFailures = [
  ...readFailures.filter((name) => name !== 'InvalidQuery'),
  'InvalidSearch',
  'UnsupportedMediaType',
] as const;

function listItems(collection: Addressed): JsonObject {
  return {
    ...head(collection, collection.names.list, 'List items'),
    parameters: listParameters(collection),
    responses: objectOf([['200', listAnswer(collection)], ...failuresByStatus(readFailures)]),
  };
}

/** Lists have what this leaves out in common with GET, as the description of the document says. */
function searchItems(collection: Addressed): JsonObject {
  const { names, operations } = collection;
  const requestBody = { content: { 'application/json': { schema: reference('schemas', names.search) } } };
  if (operations.includes('list')) {
    return { operationId: names.searchOperation, requestBody, responses: objectOf(failuresByStatus(searchFailures)) };
  }
  return {
    ...head(collection, names.searchOperation, 'Read the item by a body'),
    requestBody,
    responses: answers('The item.', singletonBody(collection), searchFailures, files),
  };
}

function readItem(collection: Addressed): JsonObject {
  return {
    ...head(collection, collection.names.single, 'Read one item'),
    parameters: [...itemParameters(collection), useHeader('ifNoneMatch')],
    responses: tagged(answers('The item.', envelope(reference('schemas', collection.names.item)), readFailures)),
  };
}

function readSingleton(collection: Addressed): JsonObject {
  return {
    ...head(collection, collection.names.list, 'Read the item'),
    parameters: [...singletonParameters(collection), useHeader('ifNoneMatch')],
    responses: tagged(answers('The item.', singletonBody(collection), readFailures, files), 'FileETag'),
  };
}

/** Items, or aggregate rows where the request has `aggregate` or `groupBy`; nothing around them in a file. */
function listAnswer({ names }: Addressed): JsonObject {
  const rows = reference('schemas', names.rows);
  const content = { 'application/json': { schema: { anyOf: [envelope(rows, meta), rows] } }, ...files };
  return { description: 'Items, or aggregate rows.', content };
}

/** The item and the counts that were asked for; nothing around it in a file, which is a list of it. */
function singletonBody({ names }: Addressed): JsonObject {
  const item = reference('schemas', names.item);
  return { anyOf: [envelope(item, meta), { type: 'array', items: item }] };
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
  const unchanged = tag === 'ETag' ? reference('responses', 'NotModified') : { ...notModified, headers };
  return { 200: { ...found, headers }, 304: unchanged, ...others };
}

const notModified = { description: 'It has not changed.' };

export function sharedResponses(): Parts {
  return [['NotModified', { ...notModified, headers: { ETag: reference('headers', 'ETag') } }]];
}

const failures = [...commonFailures, 'Forbidden'] as const;

/** Tag of the operations: the one of users. */
export const ownUserTag = 'users';

/** The paths with their operations, as far as an access class may use them: every caller is a user. */
export function ownUserPaths({ collections }: RoleView): Parts {
  const users = collections.find(({ name }) => name === 'platform_users');
  const [[, read] = ['get', readKey()] as const] = users === undefined ? [] : itemReads(addressed(users));
  const changes = users === undefined ? [] : itemWrites(addressed(users)).filter(([method]) => method === 'patch');
  const readOperation = { ...read, operationId: 'usersMe', summary: 'Read the user who asks' };
  const changed = changes.map(([method, operation]) => {
    return [method, { ...operation, operationId: 'usersMeUpdate', summary: 'Update the user who asks' }] as const;
  });
  return [['/users/me', pathItem([], [['get', readOperation], ...changed])]];
}

/** For those who read nothing else of users. */
function readKey(): JsonObject {
  const data = { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] };
  const schema = envelope(data);
  return {
    tags: [ownUserTag],
    description: 'Returns the key alone, because nothing else of users can be read.',
    responses: objectOf([
      ['200', { description: 'The key of the user.', content: { 'application/json': { schema } } }],
      ...failuresByStatus(failures),
    ]),
  };
}
