/**
 * `POST /utils/explain`, an addition for development: tells administrators the result of a read or a write in the name
 * of a role, and why one is refused. Off unless EXPLAIN says otherwise, and never there in production: reasons name
 * hidden facts.
 */
import type { Caller } from '../caller.ts';
import type { Database } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { explainRead, planRead } from '../explain/explain-read.ts';
import { explainWrite } from '../explain/explain-write.ts';
import type { WriteLimits } from '../explain/try-write.ts';
import { type Answer, createAnswerWriter } from '../json/answer.ts';
import type { AccessClass, CompiledApi, JsonValue } from '../language/index.ts';
import type { PlannedRead } from '../query/planner.ts';
import { type Answerer, mediaTypes } from './answer.ts';
import { bodyObject, optionalFlag, optionalText, requiredText } from './auth-body.ts';
import type { Endpoint, Handler } from './endpoints.ts';

/** Options of explaining. */
export interface ExplainOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'transaction' | 'read'>;
  readonly answerer: Answerer;
  /** Limits of the requests of this server. */
  readonly limits: WriteLimits;
}

/**
 * Makes the endpoint. The database is asked for items that are read by key, and writes are rehearsed there, in transactions
 * that are taken back.
 */
export function createExplainEndpoint({ api, database, answerer, limits }: ExplainOptions): Endpoint {
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));

  function accessOf(role: string): AccessClass {
    const found = api.access.find(({ roles }) => roles.includes(role));
    if (found === undefined) throw new PlatformError('INVALID_PAYLOAD', `There is no role "${role}".`);
    return found;
  }

  async function read({ plan, parameters, size }: PlannedRead): Promise<Answer> {
    const rows = createAnswerWriter(plan)(size);
    await database.read(plan.statement, parameters, rows);
    return rows;
  }

  /** The key of an item of the platform; null where there is none, undefined where the platform has no such items. */
  async function keyIn(path: string, collection: string, filter: JsonValue): Promise<string | null | undefined> {
    const admin = api.access.find((access) => access.admin);
    const isKept = api.collections.some(({ name }) => name === collection);
    if (admin === undefined || !isKept) return undefined;
    const target = `${path}?fields=id&filter=${encodeURIComponent(JSON.stringify(filter))}`;
    const found = await read(planRead(api, target, { accessClass: admin.name, user: null, role: null }));
    const { data }: { readonly data: readonly { readonly id: string }[] } = JSON.parse(found.end().toString('utf8'));
    return data[0]?.id ?? null;
  }

  /** Whom a server would make of a role and a user. */
  async function callerOf(role: string, user: string | null): Promise<Caller> {
    const { name: accessClass } = accessOf(role);
    if (user !== null && (await userKey(user)) === null) {
      throw new PlatformError('INVALID_PAYLOAD', `There is no user "${user}".`);
    }
    return { accessClass, user, role: (await keyIn('/roles', 'platform_roles', { name: { _eq: role } })) ?? null };
  }

  /** As `keyIn`; null for a text that cannot be a key. */
  async function userKey(user: string): Promise<string | null | undefined> {
    return keyIn('/users', 'platform_users', { id: { _eq: user } }).catch((error: unknown) => {
      if (error instanceof PlatformError && error.code === 'INVALID_QUERY') return null;
      throw error;
    });
  }

  async function explainAsked(payload: Readonly<Record<string, JsonValue>>): Promise<object> {
    const { method, target } = readRequest(requiredText(payload, 'request'));
    const caller = await callerOf(requiredText(payload, 'as'), optionalText(payload, 'user'));
    const rehearsed = optionalFlag(payload, 'rehearse');
    const countRows = async (planned: PlannedRead): Promise<number> => (await read(planned)).items;
    if (method === 'GET') return explainRead(api, target, caller, { ...limits, countRows });
    const body = payload.data === undefined ? '' : JSON.stringify(payload.data);
    return (await explainWrite(api, { method, target, body }, caller, rehearsed ? database : null, limits)).explained;
  }

  const explain: Handler = async (exchange, { caller }, body) => {
    if (!administrators.has(caller.accessClass)) throw new PlatformError('FORBIDDEN');
    const data = await explainAsked(bodyObject(body));
    answerer.send(exchange, { status: 200, type: mediaTypes.json, body: Buffer.from(JSON.stringify({ data })) });
  };

  return { url: '/utils/explain', handlers: new Map([['POST', explain]]) };
}

/** The parts of `GET /items/articles?limit=1`. Throws INVALID_PAYLOAD for anything but a request of items. */
function readRequest(request: string): {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly target: string;
} {
  const [, word, target] = /^(GET|POST|PATCH|DELETE) (\/items\/\S+)$/.exec(request) ?? [];
  const method = methods.find((candidate) => candidate === word);
  if (method === undefined || target === undefined) {
    throw new PlatformError('INVALID_PAYLOAD', '"request" must be like "GET /items/articles".');
  }
  return { method, target };
}

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
