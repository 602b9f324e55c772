/** Inviting users by mail. Source: API specification, sections 3.2, 3.3 and 7.1. */
import type { Caller } from '../caller.ts';
import type { AccessClass, CompiledApi } from '../contract/index.ts';
import type { Transaction } from '../database/database.ts';
import type { LinkEnvironment } from '../environment/mail.ts';
import { PlatformError } from '../errors.ts';
import { createAnswerWriter } from '../json/answer.ts';
import type { PlannedRead, Planner } from '../query/planner.ts';
import { isEveryRow } from '../write/late.ts';
import { firstRow } from '../write/own-rows.ts';
import { createInviteRights } from './invite-rights.ts';
import { makeMailedKey } from './mailed-token.ts';
import { mailedTokenStatements } from './mailed-token-sql.ts';

/** Who is invited, to what. */
export interface Invitation {
  readonly emails: readonly string[];
  /** Key of a role. */
  readonly role: string;
  /** Where the links lead; null: the page of the platform. */
  readonly url: URL | null;
}

/** Invites users in a transaction. Rejects with FORBIDDEN or FAILED_VALIDATION. */
export type Invite = (transaction: Transaction, caller: Caller, invitation: Invitation) => Promise<void>;

/** What it is made of; `schema` is quoted. */
export interface InviteOptions {
  readonly api: CompiledApi;
  readonly schema: string;
  readonly planner: Pick<Planner, 'read'>;
  readonly environment: LinkEnvironment;
}

/** Makes it. */
export function createInvite({ api, schema, planner, environment }: InviteOptions): Invite {
  const texts = mailedTokenStatements(schema);
  const ttl = `${environment.ttl} milliseconds`;
  const classes = new Map(api.access.map((one) => [one.name, one]));
  const rights = createInviteRights(api);

  /** The role may be given: it is there, the caller sees it, and it makes no administrator of anybody by somebody else. */
  async function checkRole(transaction: Transaction, caller: Caller, access: AccessClass, role: string): Promise<void> {
    const [, administrators] = (await firstRow(transaction, texts.role, [role])) ?? [];
    if (typeof administrators !== 'string')
      throw seesEveryRole(access) ? unknownRole() : new PlatformError('FORBIDDEN');
    if (access.admin) return;
    const visible = await countItems(transaction, planner.read(caller, { name: 'platform_roles' }, role, ''));
    if (administrators === 'true' || visible === 0) throw new PlatformError('FORBIDDEN');
  }

  return async function invite(transaction, caller, { emails, role, url }) {
    const access = classes.get(caller.accessClass);
    if (access === undefined) throw new Error(`There is no access class "${caller.accessClass}".`);
    rights.check(caller);
    await checkRole(transaction, caller, access, role);
    const list = JSON.stringify(emails);
    if (!access.admin && (await firstRow(transaction, texts.invitedAdministrator, [list])) !== undefined) {
      throw new PlatformError('FORBIDDEN');
    }
    const wanted = JSON.stringify(emails.map((email) => ({ email, key: makeMailedKey() })));
    const values = [wanted, role, ttl, url?.href ?? null, String(access.admin)];
    const [number, users] = (await firstRow(transaction, texts.invite, values)) ?? [];
    if (typeof number === 'string') transaction.identify(number);
    await rights.judge(transaction, caller, JSON.parse(users ?? '[]'));
  };
}

/** Tells whether a class reads every role, so that it may be told which one there is not. */
function seesEveryRole({ admin, collections }: AccessClass): boolean {
  const roles = collections.find(({ collection }) => collection === 'platform_roles');
  return admin || roles?.read?.some(({ where }) => isEveryRow(where)) === true;
}

function unknownRole(): PlatformError {
  const extensions = { collection: 'platform_users', field: 'role', type: 'foreign_key' };
  return new PlatformError('FAILED_VALIDATION', 'There is no such role.', extensions);
}

/** How many items a planned read finds in a transaction. */
async function countItems(transaction: Transaction, { plan, parameters }: PlannedRead): Promise<number> {
  const rows = createAnswerWriter(plan)();
  await transaction.run(plan.statement, parameters, rows);
  return rows.items;
}
