/** The paths of the model. Source: API specification, section 12. */

import { commonFailures } from '@tablewright/runtime/operations';
import { anyObject, type JsonObject, objectOf, reference } from './json.ts';
import { modelInputs, modelWrites } from './model-writes.ts';
import { failuresByStatus } from './responses.ts';
import { orNull } from './values.ts';

/** Tag of the operations. No collection has it: theirs have a slash. */
export const modelTag = 'model';

const failures = [...commonFailures, 'Forbidden'] as const;

interface Kind {
  readonly path: string;
  /** Begins the names of operations. */
  readonly name: string;
  /** Nouns for one and for several. */
  readonly words: readonly [string, string];
  readonly component: string;
}

const fields: Kind = { path: '/fields', name: 'Fields', words: ['field', 'fields'], component: 'ModelField' };
const relations: Kind = {
  path: '/relations',
  name: 'Relations',
  words: ['relation', 'relations'],
  component: 'ModelRelation',
};

/**
 * The paths with their operations: the same for everybody, who is answered what he may read; `changing` adds those that
 * change the model.
 */
export function modelPaths(changing: boolean): readonly (readonly [string, JsonObject])[] {
  const writes = changing ? modelWrites(modelTag) : {};
  return readPaths().map(([path, operations]) => [path, { ...operations, ...writes[path] }]);
}

function readPaths(): readonly (readonly [string, JsonObject])[] {
  const collection = parameter('collection', 'Name of a collection.');
  return [
    ['/collections', { get: list('modelCollections', 'collections', 'ModelCollection') }],
    [
      '/collections/{name}',
      {
        parameters: [parameter('name', 'Name of a collection.')],
        get: one('modelCollection', 'collection', 'ModelCollection'),
      },
    ],
    ...[fields, relations].flatMap(({ path, name, words: [word, words], component }) => [
      [path, { get: list(`model${name}`, words, component) }] as const,
      [
        `${path}/{collection}`,
        { parameters: [collection], get: list(`model${name}Below`, `${words} of a collection`, component) },
      ] as const,
      [
        `${path}/{collection}/{field}`,
        {
          parameters: [collection, parameter('field', 'Name of a field.')],
          get: one(`model${name}One`, word, component),
        },
      ] as const,
    ]),
  ];
}

/** The components that only these paths use, by name. */
export function modelSchemas(changing: boolean): readonly (readonly [string, JsonObject])[] {
  const text = { type: 'string' };
  const members = (description: string): JsonObject => orNull(anyObject(description));
  const described: JsonObject = {
    collection: text,
    meta: members('The members of platform_collections.'),
    schema: members('The table or view that holds its rows.'),
  };
  const field: JsonObject = {
    collection: text,
    field: text,
    type: { type: 'string', description: 'As values are written and read; `alias` for fields without a column.' },
    meta: members('The members of platform_fields.'),
    schema: members('The column; null for fields without one.'),
  };
  const relation: JsonObject = {
    collection: text,
    field: text,
    related_collection: { type: ['string', 'null'], description: 'Null where the items are of several collections.' },
    schema: members('The foreign key; null where there is none.'),
    meta: members('The members of platform_relations.'),
  };
  return [
    ['ModelCollection', whole(described)],
    ['ModelField', whole(field)],
    ['ModelRelation', whole(relation)],
    ...(changing ? modelInputs() : []),
  ];
}

function whole(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties) };
}

function parameter(name: string, description: string): JsonObject {
  return { name, in: 'path', required: true, description, schema: { type: 'string' } };
}

function list(operationId: string, what: string, component: string): JsonObject {
  const data = { type: 'array', items: reference('schemas', component) };
  return operation(operationId, `List ${what}`, `Those ${what} that the caller may read.`, data);
}

function one(operationId: string, what: string, component: string): JsonObject {
  const hidden = 'One that may not be read is as one that does not exist.';
  return operation(operationId, `Describe a ${what}`, hidden, reference('schemas', component));
}

function operation(operationId: string, summary: string, description: string, data: JsonObject): JsonObject {
  const schema = { type: 'object', properties: { data }, required: ['data'] };
  return {
    operationId,
    tags: [modelTag],
    summary,
    description,
    responses: objectOf([
      ['200', { description: 'As it was compiled.', content: { 'application/json': { schema } } }],
      ...failuresByStatus(failures),
    ]),
  };
}
