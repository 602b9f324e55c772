/** Access to the platform's own collections beyond rules: invitations write users, uploads write files, and an administrator remains. */
import { type AccessClass, always, type CompiledApi, systemCollection, type WriteRule } from '../../language/index.ts';
import type { Row } from '../../sql/row.ts';
import type { WriteScope } from './scope.ts';

const users = 'platform_users';

/** The API as invitations see it. Only writes of users differ. */
export function invitingApi(api: CompiledApi): CompiledApi {
  return { ...api, access: api.access.map(invitingAccess) };
}

function invitingAccess(access: AccessClass): AccessClass {
  const collections = access.collections.map((granted) => {
    if (granted.collection !== users) return granted;
    const { update: _, ...others } = granted;
    const { create } = granted;
    return create === undefined
      ? others
      : { ...others, create: create.map(asInvited), update: create.map(asInvitedAgain) };
  });
  return { ...access, collections };
}

/** The platform's own presets stand before those of the rule. */
function asInvited(rule: WriteRule): WriteRule {
  const presets = rule.presets.filter(({ field }) => field !== 'status' && field !== 'password');
  return {
    ...rule,
    presets: [
      { field: 'status', value: { kind: 'literal', value: 'invited' } },
      { field: 'password', value: { kind: 'literal', value: null } },
      ...presets,
    ],
  };
}

/** A user who is invited again is checked like a new one, but keeps the values that it was given. */
function asInvitedAgain({ fields, where, check }: WriteRule): WriteRule {
  return { fields, where: always, check: check ?? where, presets: [] };
}

export const filesName = 'platform_files';

/** Problem of a file that has neither a type nor a content to tell it. */
export const untypedFile = 'is required for a file without content';

/** Fields of files that requests never write. */
export const serverOwnedOfFiles: readonly string[] = ownFields();

function ownFields(): readonly string[] {
  const owned = systemCollection(filesName)?.serverOwned ?? [];
  return owned === 'all' ? [] : owned;
}

/** The API as an upload sees it that fills in these fields. */
export function uploadingApi(api: CompiledApi, completed: readonly string[]): CompiledApi {
  const names = new Set(completed);
  return {
    ...api,
    collections: api.collections.map((collection) => {
      if (collection.name !== filesName || collection.system !== true) return collection;
      const fields = collection.fields.map((field) => (names.has(field.name) ? { ...field, writable: true } : field));
      return { ...collection, fields };
    }),
    access: api.access.map((access) => uploadingAccess(access, names)),
  };
}

function uploadingAccess(access: AccessClass, names: ReadonlySet<string>): AccessClass {
  const widened = (rules: readonly WriteRule[] | undefined): readonly WriteRule[] | undefined =>
    rules?.map((rule) => ({ ...rule, fields: [...new Set([...rule.fields, ...names])].sort() }));
  const collections = access.collections.map((granted) => {
    if (granted.collection !== filesName) return granted;
    const [create, update] = [widened(granted.create), widened(granted.update)];
    return { ...granted, ...(create && { create }), ...(update && { update }) };
  });
  return { ...access, collections };
}

/** Conditions under which a caller may write a user whom no key names: only administrators write administrators. */
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
