/** Examination of a database that callers are passed on to: roles, ways to them, and privileges that rules count on. */
import type { Database } from '../database/database.ts';
import type { RoleFinding, RuledPrivilege } from '../database/row-context.ts';
import { serverOf } from '../dialects/index.ts';
import type { AccessClass, CollectionAccess, CompiledApi, Condition, Operand } from '../language/index.ts';
import { callerCollections } from '../language/index.ts';
import { isSecret } from '../language/types/index.ts';

type SecuredApi = Pick<CompiledApi, 'rowSecurity' | 'dialect' | 'collections' | 'access' | 'functions'>;

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
  { collections, functions = [] }: SecuredApi,
  { admin, roles, collections: granted, functions: calls = [] }: AccessClass,
  mapped: Readonly<Record<string, string>>,
): readonly RuledPrivilege[] {
  if (admin) return [];
  const databaseRoleOf = new Map(Object.entries(mapped));
  const databaseRoles = new Set(
    roles.flatMap((role) => databaseRoleOf.get(role) ?? databaseRoleOf.get('public') ?? []),
  );
  const byName = new Map(collections.map((descriptor) => [descriptor.name, descriptor]));
  const isLogged = collections.some(({ system }) => system === true);
  const called = new Map(functions.map((descriptor) => [descriptor.name, descriptor]));
  const callable = calls.flatMap(({ function: name }) => called.get(name) ?? []);
  const executed = callable.map(({ routine, arguments: taken }) => ({
    ...{ table: routine, privilege: 'EXECUTE' as const },
    columns: taken.map(({ column }) => unquoted(column)),
  }));
  const set = calls.flatMap(({ args = [] }) => args.map(({ value }) => value));
  const followed = [...set, ...granted.flatMap((access) => conditionsOf(access).flatMap(operandsOf))];
  const ofCallers = followed.flatMap((operand) => callerField(byName, operand) ?? []);
  const needed = [...executed, ...ofCallers];
  const ofRules = granted.flatMap((access) => {
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
      actionPrivileges(access, images, descriptor.softDelete?.field).map(({ privilege, fields }) => ({
        ...{ role, table: descriptor.table, privilege },
        columns: columnsOf([...new Set(fields)]),
      })),
    );
  });
  return [...ofRules, ...[...databaseRoles].flatMap((role) => needed.map((privilege) => ({ role, ...privilege })))];
}

function conditionsOf({ read = [], create = [], update = [], delete: removal = [] }: CollectionAccess) {
  const written = [...create, ...update].flatMap(({ check }) => check ?? []);
  return [...[...read, ...create, ...update, ...removal].map(({ where }) => where), ...written];
}

/** Values that a condition compares with, those of related rows among them. */
function operandsOf(condition: Condition): readonly Operand[] {
  if (condition.kind === 'compare') return [condition.operand];
  return condition.kind === 'related' ? operandsOf(condition.where) : condition.of.flatMap(operandsOf);
}

/** Fields of the rows themselves that a condition looks at. */
function comparedFields(condition: Condition): readonly string[] {
  if (condition.kind === 'compare') return [condition.field];
  return condition.kind === 'related' ? [] : condition.of.flatMap(comparedFields);
}

/** The right to read the first field of a path from the caller's own row. */
function callerField(
  collections: ReadonlyMap<string, SecuredApi['collections'][number]>,
  operand: Operand,
): Omit<RuledPrivilege, 'role'> | undefined {
  if (operand.kind !== 'caller') return undefined;
  const descriptor = collections.get(callerCollections[operand.of]);
  const field = descriptor?.fields.find(({ name }) => name === operand.path[0]);
  if (descriptor === undefined || field === undefined) return undefined;
  return { table: descriptor.table, privilege: 'SELECT', columns: [unquoted(field.column)] };
}

/** `archived` is the field that a soft delete sets, and that each statement looks at. */
function actionPrivileges(
  access: CollectionAccess,
  images: readonly string[],
  archived: string | undefined,
): readonly { readonly privilege: RuledPrivilege['privilege']; readonly fields: readonly string[] }[] {
  const { read = [], create = [], update = [], delete: removal = [] } = access;
  const written = (rules: typeof create): readonly string[] =>
    rules.flatMap(({ fields, presets }) => [...fields, ...presets.map(({ field }) => field)]);
  const state = archived === undefined ? [] : [archived];
  const looks = read.length + update.length + removal.length > 0;
  const compared = [...conditionsOf(access).flatMap(comparedFields), ...(looks ? state : [])];
  const purged = removal.filter(({ purge }) => archived === undefined || purge === true);
  const changed = [...written(update), ...(removal.length === 0 ? [] : state)];
  const seen = [...read.flatMap(({ fields }) => fields), ...compared, ...images];
  return [
    ...(seen.length === 0 ? [] : [{ privilege: 'SELECT' as const, fields: seen }]),
    ...(create.length === 0 ? [] : [{ privilege: 'INSERT' as const, fields: written(create) }]),
    ...(changed.length === 0 ? [] : [{ privilege: 'UPDATE' as const, fields: changed }]),
    ...(purged.length === 0 ? [] : [{ privilege: 'DELETE' as const, fields: [] }]),
  ];
}

/** Several classes may have the same role. */
function distinct(privileges: readonly RuledPrivilege[]): readonly RuledPrivilege[] {
  return [...new Map(privileges.map((privilege) => [JSON.stringify(privilege), privilege])).values()];
}

function unquoted(name: string): string {
  return name.replace(/^"|"$/g, '').replaceAll('""', '"');
}
