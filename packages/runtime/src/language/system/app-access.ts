/** Rules that a role with app access has without a row; `/permissions` lists them. Source: section 8.5. */
import type { JsonValue } from '../values/parse-text.ts';

/** One of them, as a row of `platform_permissions` would say it; the role is the one that has it. */
export interface ImpliedRule {
  readonly collection: string;
  readonly action: 'create' | 'read' | 'update' | 'delete';
  readonly permissions: JsonValue;
  readonly validation: JsonValue;
  readonly presets: { readonly [field: string]: JsonValue } | null;
  /** `all` stands for every field of the collection, which names no relation to many items. Null: the action has none. */
  readonly fields: readonly string[] | 'all' | null;
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

const user: JsonValue = { _eq: '$CURRENT_USER' };
const role: JsonValue = { _eq: '$CURRENT_ROLE' };
const nothing: JsonValue = { _null: true };

type Action = ImpliedRule['action'];
type Parts = Partial<Omit<ImpliedRule, 'collection' | 'action'>>;

function rule(collection: string, action: Action, permissions: JsonValue, parts: Parts = {}): ImpliedRule {
  return { collection, action, permissions, validation: null, presets: null, fields: 'all', ...parts };
}

/** Several rules for one action and not one rule with alternatives: a caller without a role would match none of it. */
export const impliedRules: readonly ImpliedRule[] = [
  rule('platform_users', 'read', { id: user }, { fields: ownAppFields }),
  rule('platform_roles', 'read', { id: role }),
  rule('platform_permissions', 'read', { role }),
  rule('platform_settings', 'read', null),
  rule('platform_activity', 'read', { user }),
  rule('platform_presets', 'read', { user }),
  rule('platform_presets', 'read', { _and: [{ user: nothing }, { role }] }),
  rule('platform_presets', 'read', { _and: [{ user: nothing }, { role: nothing }] }),
  rule('platform_presets', 'create', null, { validation: { user }, presets: { user: '$CURRENT_USER' } }),
  rule('platform_presets', 'update', { user }),
  rule('platform_presets', 'delete', { user }, { fields: null }),
  rule('platform_comments', 'create', null, { fields: ['collection', 'item', 'comment'] }),
  rule('platform_comments', 'read', { user_created: user }),
  rule('platform_comments', 'update', { user_created: user }, { fields: ['comment'] }),
  rule('platform_comments', 'delete', { user_created: user }, { fields: null }),
];

/** Fields of a collection that a rule names; `serverOwned` ones can be read only. */
export function impliedFields(
  { fields, action }: ImpliedRule,
  collection: readonly { readonly name: string; readonly serverOwned?: boolean }[],
): readonly string[] {
  if (fields !== 'all') return fields ?? [];
  return collection.filter(({ serverOwned }) => action === 'read' || serverOwned !== true).map(({ name }) => name);
}
