import type { GraphqlServices } from '../descriptors/graphql.ts';
import { authResource, passwordResource, ssoResource } from './auth.ts';
import { commentResource } from './comments.ts';
import { explainResource } from './explain.ts';
import { fileResource, transferResource } from './files.ts';
import { modelResource } from './model.ts';
import { modelChangeResource } from './model-changes.ts';
import { type NamedOperation, operationsOf } from './operation.ts';
import { serverResource } from './server.ts';
import { ownUserResource, userResource } from './users.ts';
import { utilResource } from './utils.ts';

/** Resources by name, in the order of the OpenAPI document. */
export const resources = {
  server: serverResource,
  utils: utilResource,
  explain: explainResource,
  model: modelResource,
  modelChanges: modelChangeResource,
  comments: commentResource,
  files: fileResource,
  transfers: transferResource,
  ownUser: ownUserResource,
  auth: authResource,
  sso: ssoResource,
  passwords: passwordResource,
  users: userResource,
};

/** All operations. */
export const operations: readonly NamedOperation[] = Object.values(resources).flatMap(operationsOf);

/** Root fields of the system scope that are no collection's; their names are what they do. */
export const graphqlServiceRoots: GraphqlServices = {
  query: [...operations.flatMap(({ graphql }) => graphql?.query ?? []), 'users_me', 'server_specs_graphql'],
  mutation: [...operations.flatMap(({ graphql }) => graphql?.mutation ?? []), 'update_users_me'],
};

/** Operations with a mutation that answers an item, by the name of the mutation. */
export const itemMutations: ReadonlyMap<string, NamedOperation['output']> = new Map(
  operations.flatMap(({ graphql, output }) =>
    graphql?.mutation !== undefined && output.item !== undefined ? [[graphql.mutation, output]] : [],
  ),
);
