/** The paths of the user who asks. Source: API specification, section 3.1. */

import { commonFailures } from '@tablewright/runtime/operations';
import type { RoleView } from '../../role-view/role-view.ts';
import { type JsonObject, objectOf } from '../json.ts';
import { failuresByStatus } from '../responses.ts';
import { addressed } from './addressed.ts';
import { itemReads } from './paths.ts';
import { itemWrites } from './write-paths.ts';

const failures = [...commonFailures, 'Forbidden'] as const;

/** Tag of the operations: the one of users. */
export const ownUserTag = 'users';

/** The paths with their operations, as far as an access class may use them: every caller is a user. */
export function ownUserPaths({ collections }: RoleView): readonly (readonly [string, JsonObject])[] {
  const users = collections.find(({ name }) => name === 'platform_users');
  const [[, read] = ['get', readKey()] as const] = users === undefined ? [] : itemReads(addressed(users));
  const changes = users === undefined ? [] : itemWrites(addressed(users)).filter(([method]) => method === 'patch');
  const readOperation = { get: { ...read, operationId: 'usersMe', summary: 'Read the user who asks' } };
  const changed = changes.map(([method, operation]) => {
    return [method, { ...operation, operationId: 'usersMeUpdate', summary: 'Update the user who asks' }] as const;
  });
  return [['/users/me', { ...readOperation, ...objectOf(changed) }]];
}

/** For those who read nothing else of users. */
function readKey(): JsonObject {
  const data = { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] };
  const schema = { type: 'object', properties: { data }, required: ['data'] };
  return {
    tags: [ownUserTag],
    description: 'Returns the key alone, because nothing else of users can be read.',
    responses: objectOf([
      ['200', { description: 'The key of the user.', content: { 'application/json': { schema } } }],
      ...failuresByStatus(failures),
    ]),
  };
}
