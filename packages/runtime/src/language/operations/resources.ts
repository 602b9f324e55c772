import { authResource, passwordResource } from './auth.ts';
import { commentResource } from './comments.ts';
import { explainResource } from './explain.ts';
import { fileResource } from './files.ts';
import { modelResource } from './model.ts';
import { modelChangeResource } from './model-changes.ts';
import { type NamedOperation, operationsOf } from './operation.ts';
import { serverResource } from './server.ts';
import { ssoResource } from './sso.ts';
import { transferResource } from './transfers.ts';
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
