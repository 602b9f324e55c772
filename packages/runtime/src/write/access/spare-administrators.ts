/** Administrators among the users that a query selects. Source: API specification, sections 3.2 and 8.2. */
import type { Row } from '../../sql/row.ts';
import type { WriteScope } from './scope.ts';

/**
 * Conditions under which a caller may write a user that no key names: only administrators write administrators. The
 * hook of users checks users that became administrators meanwhile.
 */
export function sparesAdministrators({ admin, open }: WriteScope, row: Row): readonly string[] {
  const { descriptor } = row.collection;
  const roles = open.collections.get('platform_roles')?.descriptor;
  if (admin || descriptor.system !== true || descriptor.name !== 'platform_users' || roles === undefined) return [];
  const role = row.statement.alias();
  const roleColumn = row.column('"role"');
  return [
    `NOT EXISTS (SELECT 1 FROM ${roles.table} ${role} WHERE ${role}."id" = ${roleColumn} AND ${role}."admin_access")`,
  ];
}
