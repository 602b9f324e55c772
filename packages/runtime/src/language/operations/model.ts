/** The model: collections, fields and relations. Source: API specification, section 12. */
import { commonFailures } from './failures.ts';
import type { Resource } from './operation.ts';
import type { ValueSchema } from './schema.ts';

const failures = [...commonFailures, 'Forbidden'] as const;

export const text = { type: 'string' } as const satisfies ValueSchema;

/** Members that are only passed on; `note` tells of them in GraphQL. */
function membersOf(description: string, note = description) {
  return { type: ['object', 'null'], description, note, additionalProperties: true, graphql: 'JSON' } as const;
}

export const collectionSchema = {
  component: 'ModelCollection',
  graphql: 'platform_collection',
  members: {
    collection: text,
    meta: membersOf('The members of platform_collections.'),
    schema: membersOf('The table or view that holds its rows.'),
  },
} as const satisfies ValueSchema;

/** A field, or a relation that has no column. */
export const fieldSchema = {
  component: 'ModelField',
  graphql: 'platform_field',
  members: {
    collection: text,
    field: text,
    type: { type: 'string', description: 'As values are written and read; `alias` for fields without a column.' },
    meta: membersOf('The members of platform_fields.'),
    schema: membersOf('The column; null for fields without one.', 'The column; null for relations without one.'),
  },
} as const satisfies ValueSchema;

const relatedNote = 'Null where the items are of several collections.';

/** Name of the collection that a relation leads to. */
export const relatedSchema = { type: ['string', 'null'], graphql: 'String' } as const satisfies ValueSchema;

/** A relation as the side sees it that holds the key. */
export const relationSchema = {
  component: 'ModelRelation',
  graphql: 'platform_relation',
  members: {
    collection: text,
    field: text,
    related_collection: { ...relatedSchema, description: relatedNote, note: relatedNote },
    schema: membersOf('The foreign key; null where there is none.', 'The foreign key; null where there is none.'),
    meta: membersOf('The members of platform_relations.'),
  },
} as const satisfies ValueSchema;

/** Collection of a path. */
export const name = { type: 'string', description: 'Name of a collection.' } as const satisfies ValueSchema;

/** Collection of a path that goes on to a field. */
export const collection = name;

export const field = { type: 'string', description: 'Name of a field.' } as const satisfies ValueSchema;

const relationList = { type: 'array', items: relationSchema, graphql: '[platform_relation!]!' } as const;

const ofCaller = 'As it was compiled.';
const hidden = 'One that may not be read is as one that does not exist.';

/** Reads of the model: the same for everybody, who is answered what they may read. */
export const modelResource = {
  tag: 'model',
  installed: false,
  parametersOfPaths: true,
  operations: {
    modelCollections: {
      route: 'GET /collections',
      summary: 'List collections',
      description: 'Those collections that the caller may read.',
      access: 'anyone',
      output: {
        description: ofCaller,
        data: { type: 'array', items: collectionSchema, graphql: '[platform_collection!]!' },
      },
      failures,
      graphql: { query: 'collections' },
    },
    modelCollection: {
      route: 'GET /collections/{name}',
      summary: 'Describe a collection',
      description: hidden,
      access: 'anyone',
      input: { name },
      output: { description: ofCaller, data: collectionSchema },
      failures,
      graphql: { query: 'collections_by_name' },
    },
    modelFields: {
      route: 'GET /fields',
      summary: 'List fields',
      description: 'Those fields that the caller may read.',
      access: 'anyone',
      output: { description: ofCaller, data: { type: 'array', items: fieldSchema, graphql: '[platform_field!]!' } },
      failures,
      graphql: { query: 'fields' },
    },
    modelFieldsBelow: {
      route: 'GET /fields/{collection}',
      summary: 'List fields of a collection',
      description: 'Those fields of a collection that the caller may read.',
      access: 'anyone',
      input: { collection },
      output: { description: ofCaller, data: { type: 'array', items: fieldSchema, graphql: '[platform_field!]!' } },
      failures,
      graphql: { query: 'fields_in_collection' },
    },
    modelFieldsOne: {
      route: 'GET /fields/{collection}/{field}',
      summary: 'Describe a field',
      description: hidden,
      access: 'anyone',
      input: { collection, field },
      output: { description: ofCaller, data: fieldSchema },
      failures,
      graphql: { query: 'fields_by_name' },
    },
    modelRelations: {
      route: 'GET /relations',
      summary: 'List relations',
      description: 'Those relations that the caller may read.',
      access: 'anyone',
      output: { description: ofCaller, data: relationList },
      failures,
      graphql: { query: 'relations' },
    },
    modelRelationsBelow: {
      route: 'GET /relations/{collection}',
      summary: 'List relations of a collection',
      description: 'Those relations of a collection that the caller may read.',
      access: 'anyone',
      input: { collection },
      output: { description: ofCaller, data: relationList },
      failures,
      graphql: { query: 'relations_in_collection' },
    },
    modelRelationsOne: {
      route: 'GET /relations/{collection}/{field}',
      summary: 'Describe a relation',
      description: hidden,
      access: 'anyone',
      input: { collection, field },
      output: { description: ofCaller, data: relationSchema },
      failures,
      graphql: { query: 'relations_by_name' },
    },
  },
} as const satisfies Resource;
