/** Root fields that are no collection's: accounts and the server. Source: API specification, section 14.3. */
import type { AccessClass } from '@tablewright/runtime/language';
import { type Resource, resources } from '@tablewright/runtime/operations';
import { type SdlField, sdlEnum, sdlType } from '../print/sdl.ts';
import type { GraphqlCollections } from './graphql-collections.ts';
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
  const fieldsOf = (resource: Resource): readonly SdlField[] => operationFields(resource, access, kind, collections);
  const accounts = accountResources.flatMap(fieldsOf);
  if (kind === 'query') {
    const accountQueries = installed ? [usersMe, ...accounts] : [];
    return [
      ...accountQueries,
      ...fieldsOf(resources.server),
      printSchema,
      ...fieldsOf(resources.model),
      ...fieldsOf(resources.utils),
    ];
  }
  if (!installed) return fieldsOf(resources.utils);
  return [
    ...(userCollection?.view.writes?.update
      ? [updateOwn(userCollection.types.update, userCollection.view.readable ? userCollection.types.item : 'Boolean')]
      : []),
    ...accounts,
    ...fieldsOf(resources.comments),
    ...fieldsOf(resources.files),
    ...fieldsOf(resources.utils),
    ...(changing ? fieldsOf(resources.modelChanges) : []),
  ];
}

/** The types that only these fields have. */
export function serviceTypes(installed: boolean): readonly string[] {
  return [
    sdlEnum('graphql_sdl_scope', ['items', 'system']),
    ...operationTypes(resources.model),
    ...(installed ? [resources.auth, resources.passwords, resources.users].flatMap(operationTypes) : []),
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

const accountResources = [resources.users, resources.auth, resources.passwords];

const usersMe: SdlField = { name: 'users_me', type: users };

function updateOwn(input: string, type: string): SdlField {
  return { name: 'update_users_me', type, args: [{ name: 'data', type: `${input}!` }] };
}
