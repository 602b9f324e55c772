/**
 * `POST /utils/explain`, an addition for development. It tells administrators results of reads and writes in the name
 * of a role, and why they are refused. Off unless EXPLAIN says otherwise, never in production: reasons name hidden
 * facts.
 */
import type { Caller } from '../../caller.ts';
import type { Database } from '../../database/database.ts';
import { PlatformError } from '../../errors.ts';
import { explainRead, planRead } from '../../explain/explain-read.ts';
import { explainWrite } from '../../explain/explain-write.ts';
import type { WriteLimits } from '../../explain/try-write.ts';
import type { AccessClass, CompiledApi, JsonValue } from '../../language/index.ts';
import type { explainResource } from '../../language/operations/index.ts';
import { type Answer, createAnswerWriter } from '../../query/answer.ts';
import type { PlannedRead } from '../../query/planner.ts';
import { createRowContexts } from '../../row-security/contexts.ts';
import type { Implementations, OperationResult } from './bind.ts';

interface ExplainOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'transaction' | 'read'>;
  readonly limits: WriteLimits;
}

/** Explains requests: their reads are planned and run, their writes rehearsed in transactions that are taken back. */
export function explainOperations({ api, database, limits }: ExplainOptions): Implementations<typeof explainResource> {
  const rowContext = createRowContexts(api);

  async function read({ plan, statement, parameters, size }: PlannedRead): Promise<Answer> {
    const rows = createAnswerWriter(plan)(size);
    await database.read(statement, parameters, rows);
    return rows;
  }

  /** The key of an item of the platform; null where there is none, undefined where the platform has no such items. */
  async function keyIn(path: string, collection: string, filter: JsonValue): Promise<string | null | undefined> {
    const admin = api.access.find((access) => access.admin);
    const isKept = api.collections.some(({ name }) => name === collection);
    if (admin === undefined || !isKept) return undefined;
    const target = `${path}?fields=id&filter=${encodeURIComponent(JSON.stringify(filter))}`;
    const server: Caller = { accessClass: admin.name, user: null, role: null };
    const planned = planRead(api, target, server);
    const found = await read({ ...planned, statement: { ...planned.statement, runsAs: 'server' } });
    const { data }: { readonly data: readonly { readonly id: string }[] } = JSON.parse(found.end().toString('utf8'));
    return data[0]?.id ?? null;
  }

  /** Caller that a server would make of a role and a user. */
  async function callerOf(role: string, user: string | null): Promise<Caller> {
    const { name: accessClass, admin } = accessOf(api, role);
    if (user !== null && (await userKey(user)) === null) {
      throw new PlatformError('INVALID_PAYLOAD', `There is no user with the key "${user}".`);
    }
    const roleKey = (await keyIn('/roles', 'platform_roles', { name: { _eq: role } })) ?? null;
    return { accessClass, user, role: roleKey, ...rowContext({ role, admin, user, roleKey }) };
  }

  /** As `keyIn`; null for a text that cannot be a key. */
  async function userKey(user: string): Promise<string | null | undefined> {
    return keyIn('/users', 'platform_users', { id: { _eq: user } }).catch((error: unknown) => {
      if (error instanceof PlatformError && error.code === 'INVALID_QUERY') return null;
      throw error;
    });
  }

  return {
    async utilsExplain({ request, as, user = null, data: sent, rehearse = false }) {
      const { method, target } = readRequest(request);
      const caller = await callerOf(as, user);
      const countRows = async (planned: PlannedRead): Promise<number> => (await read(planned)).items;
      if (method === 'GET') return explained(explainRead(api, target, caller, { ...limits, countRows }));
      const body = sent === undefined ? '' : JSON.stringify(sent);
      return explained(
        explainWrite(api, { method, target, body }, caller, rehearse ? database : null, limits).then(
          (tried) => tried.explained,
        ),
      );
    },
  };
}

function accessOf(api: CompiledApi, role: string): AccessClass {
  const found = api.access.find(({ roles }) => roles.includes(role));
  if (found !== undefined) return found;
  const names = api.access.flatMap(({ roles }) => roles).sort();
  throw new PlatformError('INVALID_PAYLOAD', `There is no role "${role}": roles are ${names.join(', ')}.`);
}

async function explained(explaining: object | Promise<object>): Promise<OperationResult<never>> {
  return { value: Buffer.from(JSON.stringify({ data: await explaining })) };
}

/** The parts of `GET /items/articles?limit=1`. Throws INVALID_PAYLOAD for anything but a request of items. */
function readRequest(request: string): {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly target: string;
} {
  const [, word, target] = /^(GET|POST|PATCH|DELETE) (\/items\/\S.*)$/.exec(request) ?? [];
  const method = methods.find((candidate) => candidate === word);
  if (method === undefined || target === undefined) {
    throw new PlatformError('INVALID_PAYLOAD', '"request" must be like "GET /items/articles".');
  }
  return { method, target };
}

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
