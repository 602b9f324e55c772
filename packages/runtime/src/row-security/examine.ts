/** Examination of a database that callers are passed on to: roles, ways to them, and privileges that rules count on. */
import type { Database } from '../database/database.ts';
import type { RoleFinding, RuledPrivilege } from '../database/row-context.ts';
import { serverOf } from '../dialects/index.ts';
import type { AccessClass, CollectionAccess, CompiledApi } from '../language/index.ts';
import { isSecret } from '../language/types/index.ts';

/** Parts of an API that decide about it. */
type SecuredApi = Pick<CompiledApi, 'rowSecurity' | 'dialect' | 'collections' | 'access'>;

/**
 * Examines it; nothing where callers are not passed on.
 * @example
 * const query = async () => [];
 * const findings = await examineRowSecurity(api, { query }, false);
 * for (const { message, advice } of findings) console.log(message, advice);
 */
export async function examineRowSecurity(
  api: SecuredApi,
  database: Pick<Database, 'query'>,
  isEmbedded: boolean,
): Promise<readonly RoleFinding[]> {
  if (api.rowSecurity === undefined) return [];
  const { roles } = api.rowSecurity;
  const privileges = roles === undefined ? [] : api.access.flatMap((access) => privilegesOf(api, access, roles));
  const examined = { roles: roles ?? {}, privileges: distinct(privileges), isEmbedded };
  return (await serverOf(api.dialect).examineRoles?.(database, examined)) ?? [];
}

/** Privileges that the rules of a class give to the roles of the database in its name. */
function privilegesOf(
  { collections }: SecuredApi,
  { admin, roles, collections: granted }: AccessClass,
  mapped: Readonly<Record<string, string>>,
): readonly RuledPrivilege[] {
  if (admin) return [];
  const databaseRoleOf = new Map(Object.entries(mapped));
  const databaseRoles = new Set(
    roles.flatMap((role) => databaseRoleOf.get(role) ?? databaseRoleOf.get('public') ?? []),
  );
  const byName = new Map(collections.map((descriptor) => [descriptor.name, descriptor]));
  const isLogged = collections.some(({ system }) => system === true);
  return granted.flatMap((access) => {
    const descriptor = byName.get(access.collection);
    if (descriptor === undefined) return [];
    const stored = descriptor.fields.filter(({ computed }) => computed === undefined);
    const columns = new Map(stored.map(({ name, column }) => [name, unquoted(column)]));
    const columnsOf = (names: readonly string[]): readonly string[] => names.flatMap((name) => columns.get(name) ?? []);
    // History holds items as they are stored.
    const isHeld = isLogged && descriptor.system !== true && descriptor.accountability === undefined;
    const images =
      isHeld && (access.create ?? access.update) !== undefined
        ? stored.flatMap(({ name, type }) => (isSecret(type) ? [] : name))
        : [];
    return [...databaseRoles].flatMap((role) =>
      actionPrivileges(access, images).map(({ privilege, fields }) => ({
        ...{ role, table: descriptor.table, privilege },
        columns: columnsOf([...new Set(fields)]),
      })),
    );
  });
}

function actionPrivileges(
  { read = [], create = [], update = [], delete: removal = [] }: CollectionAccess,
  images: readonly string[],
): readonly { readonly privilege: RuledPrivilege['privilege']; readonly fields: readonly string[] }[] {
  const written = (rules: typeof create): readonly string[] =>
    rules.flatMap(({ fields, presets }) => [...fields, ...presets.map(({ field }) => field)]);
  const seen = [...read.flatMap(({ fields }) => fields), ...images];
  return [
    ...(seen.length === 0 ? [] : [{ privilege: 'SELECT' as const, fields: seen }]),
    ...(create.length === 0 ? [] : [{ privilege: 'INSERT' as const, fields: written(create) }]),
    ...(update.length === 0 ? [] : [{ privilege: 'UPDATE' as const, fields: written(update) }]),
    ...(removal.length === 0 ? [] : [{ privilege: 'DELETE' as const, fields: [] }]),
  ];
}

/** Several classes may have the same role. */
function distinct(privileges: readonly RuledPrivilege[]): readonly RuledPrivilege[] {
  return [...new Map(privileges.map((privilege) => [JSON.stringify(privilege), privilege])).values()];
}

function unquoted(name: string): string {
  return name.replace(/^"|"$/g, '').replaceAll('""', '"');
}
