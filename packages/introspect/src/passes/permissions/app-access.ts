/**
 * Permissions of a role with `app` on the platform's own collections without a rule. Source: API specification, section
 * 8.5.
 */
import { always, type Condition } from '@tablewright/runtime/language';
import type { Collection, Permission, Role } from '../../schema.ts';

/** One rule without the role that has it. `all` stands for every field. */
type Grant = Omit<Permission, 'role' | 'fields'> & { readonly fields: readonly string[] | 'all' };

/** The rules that roles have by app access, for the collections that are installed. Administrators need none. */
export function appAccess(roles: readonly Role[], collections: readonly Collection[]): readonly Permission[] {
  const installed = new Map(
    collections.filter(({ system }) => system !== undefined).map((collection) => [collection.name, collection]),
  );
  return roles
    .filter(({ app, admin }) => app && !admin)
    .flatMap(({ name }) =>
      grants.flatMap((grant) => {
        const collection = installed.get(grant.collection);
        return collection === undefined ? [] : [{ role: name, ...grant, fields: fieldsOf(grant, collection) }];
      }),
    );
}

function fieldsOf({ fields, action }: Grant, collection: Collection): readonly string[] {
  const available = collection.fields.filter(({ serverOwned }) => action === 'read' || serverOwned !== true);
  return fields === 'all' ? available.map(({ name }) => name) : fields;
}

const user = { kind: 'caller', of: 'user', path: [] } as const;
const role = { kind: 'caller', of: 'role', path: [] } as const;

function is(field: string, operand: typeof user | typeof role): Condition {
  return { kind: 'compare', field, operator: '_eq', operand };
}

function isNull(field: string): Condition {
  return { kind: 'compare', field, operator: '_null', operand: { kind: 'literal', value: true } };
}

function read(collection: string, where: Condition, fields: Grant['fields'] = 'all'): Grant {
  return { collection, action: 'read', fields, where, check: null, presets: [] };
}

function remove(collection: string, where: Condition): Grant {
  return { collection, action: 'delete', fields: [], where, check: null, presets: [] };
}

const ownAppFields = [
  'id',
  'first_name',
  'last_name',
  'last_page',
  'email',
  'password',
  'location',
  'title',
  'description',
  'tags',
  'avatar',
  'language',
  'theme',
  'tfa_secret',
  'status',
  'role',
];

const ownPreset = is('user', user);
const ownComment = is('user_created', user);

/** Several rules for one action and not one rule with alternatives: a caller without a role would match none of it. */
const grants: readonly Grant[] = [
  read('platform_users', is('id', user), ownAppFields),
  read('platform_roles', is('id', role)),
  read('platform_permissions', is('role', role)),
  read('platform_settings', always),
  read('platform_activity', is('user', user)),
  read('platform_presets', ownPreset),
  read('platform_presets', { kind: 'and', of: [isNull('user'), is('role', role)] }),
  read('platform_presets', { kind: 'and', of: [isNull('user'), isNull('role')] }),
  {
    collection: 'platform_presets',
    action: 'create',
    fields: 'all',
    where: always,
    check: ownPreset,
    presets: [{ field: 'user', value: user }],
  },
  { collection: 'platform_presets', action: 'update', fields: 'all', where: ownPreset, check: null, presets: [] },
  remove('platform_presets', ownPreset),
  {
    collection: 'platform_comments',
    action: 'create',
    fields: ['collection', 'item', 'comment'],
    where: always,
    check: null,
    presets: [],
  },
  read('platform_comments', ownComment),
  {
    collection: 'platform_comments',
    action: 'update',
    fields: ['comment'],
    where: ownComment,
    check: null,
    presets: [],
  },
  remove('platform_comments', ownComment),
];
