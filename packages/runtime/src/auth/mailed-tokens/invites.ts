/** Inviting users by mail. Source: API specification, sections 3.2, 3.3 and 7.1. */
import type { Caller } from '../../caller.ts';
import type { Transaction } from '../../database/database.ts';
import { ServerError } from '../../database/errors.ts';
import { allRows, firstRow, identifiedRow, type OwnSql } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import type { LinkEnvironment } from '../../environment/mail.ts';
import { PlatformError } from '../../errors.ts';
import { type AccessClass, type AccessRule, arrayLiteral, type CompiledApi } from '../../language/index.ts';
import { createAnswerWriter } from '../../query/answer.ts';
import { createPlanner, type PlannedRead, type Planner } from '../../query/planner.ts';
import type { SystemPlace } from '../../system/place.ts';
import { isEveryRow } from '../../write/checks/check.ts';
import type { Keys } from '../../write/decode/keys.ts';
import { keyArray, type RequestOrigin } from '../../write/execute/running.ts';
import { Retry, type TransactionBody } from '../../write/execute/transaction-body.ts';
import type { WriteCommand } from '../../write/write-command.ts';
import type { Writer } from '../../write/writer.ts';
import { createTokenPurge, makeMailedKey } from './mailed-token.ts';

/** Addresses to invite, and the role that they get. */
interface Invitation {
  readonly emails: readonly string[];
  readonly role: string;
  /** Page that the links lead to; null: that of the platform. */
  readonly url: URL | null;
}

/** Returns the work of an invitation. Its run rejects with FORBIDDEN or FAILED_VALIDATION. */
export type Invite = (caller: Caller, sender: RequestOrigin, invitation: Invitation) => TransactionBody<void>;

interface InviteOptions {
  readonly api: CompiledApi;
  readonly place: SystemPlace;
  readonly planner: Pick<Planner, 'read'>;
  /** Writes users: with their rules, hooks and history, as every other request does. */
  readonly writer: Pick<Writer, 'workOf'>;
  readonly environment: LinkEnvironment;
}

export function createInvite({ api, place: location, planner, writer, environment }: InviteOptions): Invite {
  const texts = ownTables(location).statements.mailedTokens;
  const ttl = `${environment.ttl} milliseconds`;
  const classes = new Map(api.access.map((access) => [access.name, access]));
  const permissions = createInvitePermissions(api);
  const purgeOld = createTokenPurge(location);

  return function invite(caller, sender, { emails, role, url }) {
    const request = { caller, sender, collection: users, query: '', inviting: true, isPart: true } as const;
    let parts: readonly TransactionBody[] = [];
    const retry = new Retry();

    /** Writes as part of the invitation, and returns the keys of the written items. */
    async function write(transaction: Transaction, command: Omit<WriteCommand, 'request'>): Promise<Keys | null> {
      const work = await writer.workOf({ ...command, request: { ...request, judgesFirst: retry.judgesFirst } });
      parts = [...parts, work];
      return (await work.run(transaction)).keys;
    }

    async function run(transaction: Transaction): Promise<void> {
      parts = [];
      permissions.check(caller);
      await checkRole(transaction, planner, texts.role, caller, classes.get(caller.accessClass), role);
      const meant = await allRows(transaction, texts.meant, [JSON.stringify(emails)]);
      const unknown = meant.flatMap(([position, user]) => (user === null ? [emails[Number(position)] ?? ''] : []));
      const invitedUsers = meant.flatMap(([, user, invited]) =>
        typeof user === 'string' && invited === 'true' ? [user] : [],
      );
      const items = unknown.map((email) => ({ email, role }));
      const made = items.length === 0 ? null : await write(transaction, { action: 'create', body: items });
      if (invitedUsers.length > 0) {
        await write(transaction, { action: 'update', body: { keys: invitedUsers, data: { role } } });
        await permissions.decide(transaction, caller, invitedUsers);
      }
      const keys = Array.from({ length: (made?.count ?? 0) + invitedUsers.length }, makeMailedKey);
      const users = [made === null ? '{}' : keyArray(made), arrayLiteral(invitedUsers)];
      const values = [...users, arrayLiteral(keys), ttl, url?.href ?? null];
      await identifiedRow(transaction, texts.invite, values);
      await purgeOld(transaction);
    }

    return {
      run,
      affected: () => parts.flatMap((part) => part.affected()),
      isConflict(error) {
        const isRace = isInvitedMeanwhile(error) || parts.some((part) => part.isRace?.(error) === true);
        return retry.runsAgain(isRace, () => parts.some((part) => part.isConflict?.(error) === true));
      },
      committed() {
        for (const part of parts) part.committed();
      },
    };
  };
}

/** Checks that the role exists, that the caller sees it, and that only administrators give an administrator's role. */
async function checkRole(
  transaction: Transaction,
  planner: InviteOptions['planner'],
  sql: OwnSql,
  caller: Caller,
  access: AccessClass | undefined,
  role: string,
): Promise<void> {
  if (access === undefined) throw new Error(`There is no access class "${caller.accessClass}".`);
  const [, administrators] = (await firstRow(transaction, sql, [role])) ?? [];
  if (typeof administrators !== 'string') throw seesEveryRole(access) ? unknownRole() : new PlatformError('FORBIDDEN');
  if (access.admin) return;
  const visible = await countItems(transaction, planner.read(caller, { name: 'platform_roles' }, role, ''));
  if (administrators === 'true' || visible === 0) throw new PlatformError('FORBIDDEN');
}

/** True if another request created one of the users since we looked. */
function isInvitedMeanwhile(error: unknown): boolean {
  return (
    error instanceof PlatformError &&
    error.cause instanceof ServerError &&
    error.cause.sqlstate === '23505' &&
    error.cause.about.constraint === 'platform_users_email_key'
  );
}

/** True if a class reads every role, so that an error may name the missing one. */
function seesEveryRole({ admin, collections }: AccessClass): boolean {
  const roles = collections.find(({ collection }) => collection === 'platform_roles');
  return admin || roles?.read?.some(({ where }) => isEveryRow(where)) === true;
}

function unknownRole(): PlatformError {
  const extensions = { collection: 'platform_users', field: 'role', type: 'foreign_key' };
  return new PlatformError('FAILED_VALIDATION', 'There is no such role.', extensions);
}

async function countItems(transaction: Transaction, { plan, statement, parameters }: PlannedRead): Promise<number> {
  const rows = createAnswerWriter(plan)();
  await transaction.run(statement, parameters, rows);
  return rows.items;
}

const users = 'platform_users';

/** Fields that an invitation writes in the name of its sender; the platform itself sets the status. */
const written = ['email', 'role'] as const;

function createInvitePermissions(api: CompiledApi) {
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));
  const rules = new Map(api.access.map((access) => [access.name, rulesOf(access)]));
  const planner = createPlanner({ ...api, access: api.access.map((access) => readAsCreated(access, rulesOf(access))) });

  return {
    /** Before anything is written. */
    check({ accessClass }: Caller): void {
      if (administrators.has(accessClass)) return;
      const fields = new Set(rules.get(accessClass)?.flatMap((rule) => rule.fields));
      if (!written.every((field) => fields.has(field))) throw new PlatformError('FORBIDDEN');
    },
    /** The users of these keys, who were invited before, when they have the role. */
    async decide(transaction: Transaction, caller: Caller, keys: readonly string[]): Promise<void> {
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

function rulesOf({ collections }: AccessClass): readonly AccessRule[] {
  const created = collections.find(({ collection }) => collection === users)?.create ?? [];
  return created.map(({ fields, where, check }) => ({ fields, where: check ?? where }));
}

function readAsCreated(access: AccessClass, read: readonly AccessRule[]): AccessClass {
  const others = access.collections.filter(({ collection }) => collection !== users);
  const collections = [...others, { collection: users, read }];
  return { ...access, collections: collections.sort((first, other) => (first.collection < other.collection ? -1 : 1)) };
}
