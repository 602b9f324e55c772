/** Access class of a user in the compiled API. */
import type { AccessClass, CompiledApi } from '../index.ts';

/** Names of the access classes, by the source that decides them. */
export interface AccessNames {
  readonly public: string;
  readonly admin: string;
  /** Name of the access class of a user with this role; null: the user has no role. */
  of(role: { readonly name: string; readonly adminAccess: boolean } | null): string;
}

/**
 * Finds the classes. Throws when the compiled API lacks one of the two built-in roles.
 *
 * A role is an administrator's by `admin_access` of its row and by nothing else. Every other role has the rules that
 * were compiled under its name. One that no rule file names, or names an administrator's, has those of the public role.
 */
export function accessNames(api: Pick<CompiledApi, 'access'>): AccessNames {
  const open = classOf(api.access, 'public').name;
  const admin = classOf(api.access, 'admin').name;
  const named = api.access
    .filter((access) => !access.admin)
    .flatMap(({ name, roles }) => roles.map((role) => [role, name]));
  const byRole = new Map(named.map(([role = '', name = '']) => [role, name]));
  return {
    public: open,
    admin,
    of(role) {
      if (role === null) return open;
      return role.adminAccess ? admin : (byRole.get(role.name) ?? open);
    },
  };
}

function classOf(access: readonly AccessClass[], role: string): AccessClass {
  const found = access.find(({ roles }) => roles.includes(role));
  if (found === undefined) throw new Error(`The compiled API has no access class for the role "${role}".`);
  return found;
}
