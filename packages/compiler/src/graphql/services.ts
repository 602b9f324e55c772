/** Root fields that are no collection's: accounts and the server. Source: API specification, section 14.3. */
import type { AccessClass } from '@tablewright/runtime/language';
import { type Resource, resources } from '@tablewright/runtime/operations';
import { type SdlField, sdlEnum, sdlType } from '../print/sdl.ts';
import type { GraphqlCollection, GraphqlCollections } from './graphql-collections.ts';
import { operationFields, operationTypes } from './operations.ts';

const users = 'platform_users';

/** The root fields of the system scope; those of accounts where users are installed. */
export function serviceRoots(
  { collections }: GraphqlCollections,
  access: AccessClass,
  installed: boolean,
  changing: boolean,
  kind: 'query' | 'mutation',
): readonly SdlField[] {
  const userCollection = collections.get(users);
  const reads = (name: string): boolean => collections.get(name)?.view.readable === true;
  const fieldsOf = (resource: Resource): readonly SdlField[] => operationFields(resource, access, kind, reads);
  const accounts = accountResources.flatMap(fieldsOf);
  if (kind === 'query') {
    const accountQueries = installed ? [usersMe, ...accounts] : [];
    return [
      ...accountQueries,
      ...fieldsOf(resources.server),
      printSchema,
      ...modelQueries,
      ...fieldsOf(resources.utils),
    ];
  }
  if (!installed) return fieldsOf(resources.utils);
  return [
    ...(userCollection?.view.writes?.update
      ? [updateOwn(userCollection.types.update, userCollection.view.readable ? userCollection.types.item : 'Boolean')]
      : []),
    ...accounts,
    ...commentMutations(collections),
    ...importOf(collections.get('platform_files')),
    ...fieldsOf(resources.utils),
    ...(changing ? modelMutations : []),
  ];
}

/** The types that only these fields have. */
export function serviceTypes(installed: boolean): readonly string[] {
  return [
    sdlEnum('graphql_sdl_scope', ['items', 'system']),
    ...modelTypes,
    ...(installed ? Object.values(resources).flatMap(operationTypes) : []),
  ];
}

/** A class that reads no users still reads the own key. */
export function unreadUsers({ collections }: GraphqlCollections): readonly string[] {
  const readable = collections.get(users)?.view.readable === true;
  return readable ? [] : [sdlType('type', users, [{ name: 'id', type: 'ID!' }])];
}

const printSchema: SdlField = {
  name: 'server_specs_graphql',
  type: 'String',
  args: [{ name: 'scope', type: 'graphql_sdl_scope' }],
};

/** Queries of the model, as in section 12; JSON where the value is only passed on. */
const modelQueries: readonly SdlField[] = [
  { name: 'collections', type: '[platform_collection!]!' },
  { name: 'collections_by_name', type: 'platform_collection', args: texts('name') },
  { name: 'fields', type: '[platform_field!]!' },
  { name: 'fields_in_collection', type: '[platform_field!]!', args: texts('collection') },
  { name: 'fields_by_name', type: 'platform_field', args: texts('collection', 'field') },
  { name: 'relations', type: '[platform_relation!]!' },
  { name: 'relations_in_collection', type: '[platform_relation!]!', args: texts('collection') },
  { name: 'relations_by_name', type: 'platform_relation', args: texts('collection', 'field') },
];

const modelTypes: readonly string[] = [
  sdlType('type', 'platform_collection', [
    ...texts('collection'),
    { name: 'meta', type: 'JSON', note: 'The members of platform_collections.' },
    { name: 'schema', type: 'JSON', note: 'The table or view that holds its rows.' },
  ]),
  sdlType('type', 'platform_field', [
    ...texts('collection', 'field', 'type'),
    { name: 'meta', type: 'JSON', note: 'The members of platform_fields.' },
    { name: 'schema', type: 'JSON', note: 'The column; null for relations without one.' },
  ]),
  sdlType('type', 'platform_relation', [
    ...texts('collection', 'field'),
    { name: 'related_collection', type: 'String', note: 'Null where the items are of several collections.' },
    { name: 'schema', type: 'JSON', note: 'The foreign key; null where there is none.' },
    { name: 'meta', type: 'JSON', note: 'The members of platform_relations.' },
  ]),
];

const discard: SdlField = { name: 'discard', type: 'Boolean', note: 'Says that items or values may be lost.' };

/** Mutations of the model, for administrators. */
const modelMutations: readonly SdlField[] = [
  { name: 'create_collections_item', type: 'platform_collection', args: [input('collection')] },
  {
    name: 'update_collections_item',
    type: 'platform_collection',
    args: [...texts('collection'), input('collection')],
  },
  { name: 'delete_collections_item', type: 'delete_collection', args: [...texts('collection'), discard] },
  { name: 'create_fields_item', type: 'platform_field', args: [...texts('collection'), input('field')] },
  {
    name: 'update_fields_item',
    type: 'platform_field',
    args: [...texts('collection', 'field'), input('field'), discard],
  },
  { name: 'delete_fields_item', type: 'delete_field', args: [...texts('collection', 'field'), discard] },
  { name: 'create_relations_item', type: 'platform_relation', args: [input('relation')] },
  {
    name: 'update_relations_item',
    type: 'platform_relation',
    args: [...texts('collection', 'field'), input('relation')],
  },
  { name: 'delete_relations_item', type: 'delete_field', args: texts('collection', 'field') },
];

function input(kind: 'collection' | 'field' | 'relation'): SdlField {
  return { name: 'data', type: `platform_${kind}_input!` };
}

const members: readonly SdlField[] = [
  { name: 'meta', type: 'JSON' },
  { name: 'schema', type: 'JSON' },
];

/** The types that only these fields have. */
export const modelChangeTypes: readonly string[] = [
  sdlType('type', 'delete_collection', texts('collection')),
  sdlType('type', 'delete_field', texts('collection', 'field')),
  sdlType('input', 'platform_collection_input', [
    { name: 'collection', type: 'String' },
    ...members,
    { name: 'fields', type: '[platform_field_input!]' },
  ]),
  sdlType('input', 'platform_field_input', [
    { name: 'collection', type: 'String' },
    { name: 'field', type: 'String' },
    { name: 'type', type: 'String' },
    ...members,
  ]),
  sdlType('input', 'platform_relation_input', [
    { name: 'collection', type: 'String' },
    { name: 'field', type: 'String' },
    { name: 'related_collection', type: 'String' },
    ...members,
  ]),
];

const accountResources = [resources.users, resources.auth, resources.passwords];

const usersMe: SdlField = { name: 'users_me', type: users };

/** Comments by the rows of activity that record them, as far as a class may write them. */
function commentMutations(collections: GraphqlCollections['collections']): readonly SdlField[] {
  const { create, update, delete: remove } = collections.get('platform_comments')?.view.writes ?? {};
  const activity = collections.get('platform_activity');
  const type = activity?.view.readable === true ? activity.types.item : 'Boolean';
  const id: SdlField = { name: 'id', type: 'ID!' };
  const made = [...texts('collection'), { name: 'item', type: 'ID!' }, ...texts('comment')];
  return [
    ...(create == null ? [] : [{ name: 'create_comment', type, args: made } as const]),
    ...(update == null ? [] : [{ name: 'update_comment', type, args: [id, ...texts('comment')] } as const]),
    ...(remove === true ? [{ name: 'delete_comment', type: 'delete_one', args: [id] } as const] : []),
  ];
}

/** For who may create files. */
function importOf(files: GraphqlCollection | undefined): readonly SdlField[] {
  if (!files?.view.writes?.create) return [];
  const args = [...texts('url'), { name: 'data', type: files.types.create }];
  return [{ name: 'import_file', type: files.view.readable ? files.types.item : 'Boolean', args }];
}

function updateOwn(input: string, type: string): SdlField {
  return { name: 'update_users_me', type, args: [{ name: 'data', type: `${input}!` }] };
}

function texts(...names: readonly string[]): readonly SdlField[] {
  return names.map((name) => ({ name, type: 'String!' }));
}
