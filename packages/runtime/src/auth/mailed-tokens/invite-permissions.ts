/**
 * Permission to invite: the permission to create users with an address and a role. Source: API specification, sections
 * 3.3 and 8.3.
 *
 * The conditions of a rule on written rows are checked by reading the invited users as if the rules for creating were
 * rules for reading. A field that comes back was granted by a rule that the row satisfies.
 */
import type { Caller } from '../../caller.ts';
import type { Transaction } from '../../database/database.ts';
import { PlatformError } from '../../errors.ts';
import type { AccessClass, AccessRule, CompiledApi } from '../../language/index.ts';
import { createAnswerWriter } from '../../query/answer.ts';
import { createPlanner } from '../../query/planner.ts';

/** Checks invitations. Both functions throw or reject with FORBIDDEN. */
export interface InvitePermissions {
  /** Before anything is written. */
  check(caller: Caller): void;
  /** The users of these keys, who were invited before, when they have the role. */
  decide(transaction: Transaction, caller: Caller, users: readonly string[]): Promise<void>;
}

const users = 'platform_users';

/** Fields that an invitation writes in the name of its sender; the platform itself sets the status. */
const written = ['email', 'role'] as const;

/** Makes the checks of a compiled API. */
export function createInvitePermissions(api: CompiledApi): InvitePermissions {
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));
  const rules = new Map(api.access.map((access) => [access.name, rulesOf(access)]));
  const planner = createPlanner({ ...api, access: api.access.map((access) => readAsCreated(access, rulesOf(access))) });

  return {
    check({ accessClass }) {
      if (administrators.has(accessClass)) return;
      const fields = new Set(rules.get(accessClass)?.flatMap((rule) => rule.fields));
      if (!written.every((field) => fields.has(field))) throw new PlatformError('FORBIDDEN');
    },
    async decide(transaction, caller, keys) {
      if (administrators.has(caller.accessClass) || keys.length === 0) return;
      const query = { fields: [...written], limit: -1 };
      const { plan, statement, parameters } = planner.search(caller, { name: users }, { keys, query });
      const rows = createAnswerWriter(plan)();
      await transaction.run(statement, parameters, rows);
      const { data }: { readonly data: readonly Readonly<Record<string, unknown>>[] } = JSON.parse(
        rows.end().toString(),
      );
      const granted = data.filter((user) => written.every((field) => user[field] !== null));
      if (granted.length < keys.length) throw new PlatformError('FORBIDDEN');
    },
  };
}

/** The rules by which a class creates users. */
function rulesOf({ collections }: AccessClass): readonly AccessRule[] {
  const created = collections.find(({ collection }) => collection === users)?.create ?? [];
  return created.map(({ fields, where, check }) => ({ fields, where: check ?? where }));
}

function readAsCreated(access: AccessClass, read: readonly AccessRule[]): AccessClass {
  const others = access.collections.filter(({ collection }) => collection !== users);
  const collections = [...others, { collection: users, read }];
  return { ...access, collections: collections.sort((first, other) => (first.collection < other.collection ? -1 : 1)) };
}
