import { authResource, passwordResource } from './auth.ts';
import { type NamedOperation, operationsOf } from './operation.ts';
import { serverResource } from './server.ts';
import { ownUserResource, userResource } from './users.ts';
import { utilResource } from './utils.ts';

/** Resources by name, in the order of the OpenAPI document. */
export const resources = {
  server: serverResource,
  utils: utilResource,
  ownUser: ownUserResource,
  auth: authResource,
  passwords: passwordResource,
  users: userResource,
};

/** All operations. */
export const operations: readonly NamedOperation[] = Object.values(resources).flatMap(operationsOf);
