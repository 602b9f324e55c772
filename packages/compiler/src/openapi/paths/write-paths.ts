/** The operations that write. Source: API specification, sections 1.2, 4 and 9. */
import { commonFailures, type FailureName } from '@tablewright/runtime/operations';
import { anyOf, envelope, type JsonObject, listOf, meta, objectOf, type Parts, reference } from '../json.ts';
import { nameNaming } from '../keys.ts';
import { answerParameters, useHeader } from '../parameters.ts';
import { failuresByStatus } from '../responses.ts';
import type { Addressed } from './addressed.ts';
import { uploadContent } from './file-paths.ts';

const failures = [
  ...commonFailures.filter((name) => name !== 'InvalidQuery'),
  'InvalidWrite',
  'Forbidden',
  'RouteNotFound',
  'UnsupportedMediaType',
  'Unprocessable',
] as const satisfies readonly FailureName[];

export function collectionWrites(collection: Addressed): Parts {
  const { writes, singleton } = collection;
  if (writes === null) return [];
  if (singleton) return writes.update ? [['patch', updateItem(collection, 'Update the item')]] : [];
  return [
    ...(writes.create ? [['post', createItems(collection)] as const] : []),
    ...(writes.update ? [['patch', updateItems(collection)] as const] : []),
    ...(writes.delete ? [['delete', deleteItems(collection)] as const] : []),
  ];
}

export function itemWrites(collection: Addressed): Parts {
  const { writes, singleton } = collection;
  if (writes === null || singleton) return [];
  return [
    ...(writes.update ? [['patch', updateItem(collection, 'Update one item')] as const] : []),
    ...(writes.delete ? [['delete', deleteItem(collection)] as const] : []),
  ];
}

function createItems(collection: Addressed): JsonObject {
  const conflicts = collection.writes?.conflicts ?? null;
  const names = [collection.names.create, ...(conflicts === null ? [] : [collection.names.upsert])];
  const forms = names.map((name) => reference('schemas', name));
  return {
    ...head(collection, collection.names.createOperation, 'Create items'),
    ...parametersOf(collection, true, [
      ...(conflicts === null ? [] : [conflictParameter(conflicts)]),
      useHeader('idempotencyKey'),
    ]),
    requestBody: bodyOf(anyOf(...forms, listOf(anyOf(...forms))), uploadContent(collection, 'create')),
    responses: answers(collection, 'either'),
  };
}

function updateItem(collection: Addressed, summary: string): JsonObject {
  return {
    ...head(collection, collection.names.updateOne, summary),
    ...parametersOf(collection, false, [useHeader('ifMatch')]),
    requestBody: bodyOf(changesOfOne(collection), uploadContent(collection, 'update')),
    responses: answers(collection, 'one'),
  };
}

/** Its own key may stand in the body. */
function changesOfOne(collection: Addressed): JsonObject {
  const names = [collection.names.update, ...(canNameKey(collection) ? [collection.names.change] : [])];
  return anyOf(...names.map((name) => reference('schemas', name)));
}

function updateItems(collection: Addressed): JsonObject {
  const naming = nameNaming(collection);
  const forms: readonly JsonObject[] = [
    ...(naming === null ? [] : [sameChanges(naming, reference('schemas', collection.names.update))]),
    ...(canNameKey(collection) ? [listOf(reference('schemas', collection.names.change))] : []),
  ];
  return {
    ...head(collection, collection.names.updateMany, 'Update items'),
    ...parametersOf(collection, true),
    requestBody: bodyOf(anyOf(...forms)),
    responses: answers(collection, 'many'),
  };
}

function sameChanges(naming: string, data: JsonObject): JsonObject {
  return {
    type: 'object',
    allOf: [reference('schemas', naming)],
    properties: { data },
    required: ['data'],
    unevaluatedProperties: false,
  };
}

function deleteItem(collection: Addressed): JsonObject {
  return {
    ...head(collection, collection.names.deleteOne, 'Delete one item'),
    ...deleteParameters(collection, collection.readable ? [useHeader('ifMatch')] : []),
    responses: answers(collection, 'none'),
  };
}

function deleteItems(collection: Addressed): JsonObject {
  const naming = nameNaming(collection);
  return {
    ...head(collection, collection.names.deleteMany, 'Delete items'),
    ...deleteParameters(collection, []),
    requestBody: naming === null ? bodyOf(anyOf()) : reference('requestBodies', naming),
    responses: answers(collection, 'none'),
  };
}

/** Parameters of DELETE: callers who may remove archived items for good say so. */
function deleteParameters({ writes }: Addressed, others: readonly JsonObject[]): JsonObject {
  const purge: JsonObject = {
    name: 'purge',
    in: 'query',
    description: 'Removes the items for good, archived ones as well. Without it they are archived.',
    schema: { type: 'boolean', default: false },
  };
  const parameters = [...others, ...(writes?.purge ? [purge] : [])];
  return parameters.length > 0 ? { parameters } : {};
}

/** True if payloads can hold the key of their item. */
function canNameKey({ writes }: Addressed): boolean {
  return writes !== null && writes.key.length > 0;
}

export function head({ names }: Addressed, operationId: string, summary: string): JsonObject {
  return { operationId, tags: [names.tag], summary };
}

/** The answer is shaped as a read is, by those who may read. */
function parametersOf(collection: Addressed, many: boolean, ownParameters: readonly JsonObject[] = []): JsonObject {
  const parameters = [...(collection.readable ? answerParameters(collection, many) : []), ...ownParameters];
  return parameters.length > 0 ? { parameters } : {};
}

function conflictParameter(keys: readonly (readonly string[])[]): JsonObject {
  const names = keys.map((key) => `\`${key.join(',')}\``).join(', ');
  return {
    name: 'on_conflict',
    in: 'query',
    // The only field says it all.
    ...(keys.flat().length > 1 && { description: `The fields of one of these: ${names}.` }),
    explode: false,
    schema: { type: 'array', items: { type: 'string', enum: [...new Set(keys.flat())] }, minItems: 1 },
  };
}

function bodyOf(schema: JsonObject, others: JsonObject = {}): JsonObject {
  return { required: true, content: { 'application/json': { schema }, ...others } };
}

type AnswerForm = 'one' | 'many' | 'either' | 'none';

function answers({ readable, names }: Addressed, form: AnswerForm): JsonObject {
  const item = reference('schemas', names.item);
  const data = { one: item, many: listOf(item), either: anyOf(item, listOf(item)), none: null }[form];
  const schema = data && envelope(data, form === 'one' ? {} : meta);
  const written = { description: 'The written items.', content: { 'application/json': { schema } } };
  const nothing = { description: form === 'none' ? 'It is deleted.' : 'It cannot be read.' };
  return objectOf([
    ...(readable && schema !== null ? [['200', written] as const] : []),
    ['204', nothing],
    ...failuresByStatus(failures),
  ]);
}
