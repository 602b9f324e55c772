/**
 * The rules by which an invitation writes users: those for creating them, for users who have no password yet. Source: API
 * specification, section 3.3.
 */
import { type AccessClass, always, type CompiledApi, type WriteRule } from '../../language/index.ts';

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
