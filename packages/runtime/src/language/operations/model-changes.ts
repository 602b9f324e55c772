/** Changes of the model. Source: API specification, section 12.4. */
import {
  collection,
  collectionSchema,
  field,
  fieldSchema,
  modelResource,
  name,
  relatedSchema,
  relationSchema,
  text,
} from './model.ts';
import type { Resource } from './operation.ts';
import type { ValueSchema } from './schema.ts';

const failuresOfChanges = [
  ...(['Unauthorized', 'RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'Forbidden'] as const),
  ...(['InvalidWrite', 'UnsupportedMediaType', 'Unprocessable'] as const),
] as const;

const anyMembers = { type: ['object', 'null'], additionalProperties: true, graphql: 'JSON' } as const;

/** Members that describe a part of the model, beside its names. */
const described = { 'meta?': anyMembers, 'schema?': anyMembers } as const;

/** Collections are named so where they are changed. */
const changedName = { ...name, argument: 'collection' } as const satisfies ValueSchema;

const fieldInput = {
  component: 'ModelFieldInput',
  graphql: 'platform_field_input',
  members: { 'collection?': text, field: text, type: text, ...described },
  additionalProperties: false,
} as const satisfies ValueSchema;

const fieldChange = {
  component: 'ModelFieldChange',
  graphql: 'platform_field_input',
  members: { 'collection?': text, 'field?': text, 'type?': text, ...described },
  additionalProperties: false,
} as const satisfies ValueSchema;

const collectionInput = {
  component: 'ModelCollectionInput',
  graphql: 'platform_collection_input',
  members: {
    collection: text,
    ...described,
    'fields?': { type: 'array', items: fieldInput, minItems: 1, graphql: '[platform_field_input!]' },
  },
  additionalProperties: false,
} as const satisfies ValueSchema;

const collectionChange = {
  component: 'ModelCollectionChange',
  graphql: 'platform_collection_input',
  members: { 'collection?': text, ...described },
  additionalProperties: false,
} as const satisfies ValueSchema;

const relationInput = {
  component: 'ModelRelationInput',
  graphql: 'platform_relation_input',
  members: { collection: text, field: text, 'related_collection?': relatedSchema, ...described },
  additionalProperties: false,
} as const satisfies ValueSchema;

const relationChange = {
  component: 'ModelRelationChange',
  graphql: 'platform_relation_input',
  members: { 'collection?': text, 'field?': text, 'related_collection?': relatedSchema, ...described },
  additionalProperties: false,
} as const satisfies ValueSchema;

/** Some objects. */
function someOf<const Single extends ValueSchema>(items: Single) {
  return { type: 'array', items, minItems: 1 } as const;
}

/** One object, or some; GraphQL takes one. */
function oneOrSomeOf<const Single extends ValueSchema>(single: Single) {
  return { anyOf: [single, someOf(single)] } as const;
}

const discard = {
  type: 'boolean',
  description: 'Says that items or values may be lost.',
  note: 'Says that items or values may be lost.',
  flag: ['data', 'discard'],
} as const satisfies ValueSchema;

const change = {
  description: 'The API is compiled again: the next request finds it changed.',
  access: 'administrator',
  failures: failuresOfChanges,
} as const;
const compiledNow = 'As it is compiled now.';
const gone = { description: 'It is gone.' } as const;

/** Changes of the model, where it can be changed. */
export const modelChangeResource = {
  ...modelResource,
  operations: {
    modelCollectionsCreate: {
      ...change,
      route: 'POST /collections',
      keyed: true,
      summary: 'Make collections',
      body: { ...oneOrSomeOf(collectionInput), graphql: 'platform_collection_input!' },
      output: { description: compiledNow, data: oneOrSomeOf(collectionSchema) },
      graphql: { mutation: 'create_collections_item', type: 'platform_collection', body: 'data' },
    },
    modelCollectionsManyUpdate: {
      ...change,
      route: 'PATCH /collections',
      summary: 'Change collections',
      body: someOf(collectionChange),
      output: { description: compiledNow, data: someOf(collectionSchema) },
    },
    modelCollectionsUpdate: {
      ...change,
      route: 'PATCH /collections/{name}',
      summary: 'Change a collection',
      input: { name: changedName },
      body: collectionChange,
      output: { description: compiledNow, data: collectionSchema },
      graphql: { mutation: 'update_collections_item', type: 'platform_collection', body: 'data' },
    },
    modelCollectionsDelete: {
      ...change,
      route: 'DELETE /collections/{name}',
      summary: 'Drop a collection',
      input: { name: changedName, 'discard?': discard },
      output: gone,
      graphql: { mutation: 'delete_collections_item', type: 'delete_collection', value: ['name'] },
    },
    modelFieldsCreate: {
      ...change,
      route: 'POST /fields/{collection}',
      keyed: true,
      summary: 'Make fields',
      input: { collection },
      body: { ...oneOrSomeOf(fieldInput), graphql: 'platform_field_input!' },
      output: { description: compiledNow, data: oneOrSomeOf(fieldSchema) },
      graphql: { mutation: 'create_fields_item', type: 'platform_field', body: 'data' },
    },
    modelFieldsManyUpdate: {
      ...change,
      route: 'PATCH /fields/{collection}',
      summary: 'Change fields',
      input: { collection, 'discard?': discard },
      body: someOf(fieldChange),
      output: { description: compiledNow, data: someOf(fieldSchema) },
    },
    modelFieldsUpdate: {
      ...change,
      route: 'PATCH /fields/{collection}/{field}',
      summary: 'Change a field',
      input: { collection, field, 'discard?': discard },
      body: fieldChange,
      output: { description: compiledNow, data: fieldSchema },
      graphql: {
        mutation: 'update_fields_item',
        type: 'platform_field',
        body: 'data',
        order: ['collection', 'field', 'data', 'discard'],
      },
    },
    modelFieldsDelete: {
      ...change,
      route: 'DELETE /fields/{collection}/{field}',
      summary: 'Drop a field',
      input: { collection, field, 'discard?': discard },
      output: gone,
      graphql: { mutation: 'delete_fields_item', type: 'delete_field', value: ['collection', 'field'] },
    },
    modelRelationsCreate: {
      ...change,
      route: 'POST /relations',
      keyed: true,
      summary: 'Make relations',
      body: { ...oneOrSomeOf(relationInput), graphql: 'platform_relation_input!' },
      output: { description: compiledNow, data: oneOrSomeOf(relationSchema) },
      graphql: { mutation: 'create_relations_item', type: 'platform_relation', body: 'data' },
    },
    modelRelationsUpdate: {
      ...change,
      route: 'PATCH /relations/{collection}/{field}',
      summary: 'Change a relation',
      input: { collection, field },
      body: relationChange,
      output: { description: compiledNow, data: relationSchema },
      graphql: { mutation: 'update_relations_item', type: 'platform_relation', body: 'data' },
    },
    modelRelationsDelete: {
      ...change,
      route: 'DELETE /relations/{collection}/{field}',
      summary: 'Drop a relation',
      input: { collection, field },
      output: gone,
      graphql: { mutation: 'delete_relations_item', type: 'delete_field', value: ['collection', 'field'] },
    },
  },
} as const satisfies Resource;
