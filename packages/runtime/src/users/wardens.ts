import type { Caller } from '../caller.ts';
import type { CompiledApi } from '../contract/index.ts';
import { systemSchemaOf } from '../system/schema.ts';
import type { Wardens } from '../write/warden.ts';
import { createRoleWarden } from './role-warden.ts';
import { createUserWarden } from './user-warden.ts';

/** The wardens of an API; none where the platform's own tables are not installed. */
export function createWardens(api: CompiledApi): Wardens {
  const schema = systemSchemaOf(api);
  if (schema === null) return new Map();
  const admins = new Set(api.access.flatMap(({ name, admin }) => (admin ? [name] : [])));
  const isAdmin = ({ accessClass }: Caller): boolean => admins.has(accessClass);
  return new Map([
    ['platform_users', createUserWarden(schema, isAdmin)],
    ['platform_roles', createRoleWarden(schema)],
  ]);
}
