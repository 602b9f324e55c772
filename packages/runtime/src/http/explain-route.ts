/**
 * `POST /utils/explain`, an addition for development: tells administrators what becomes of a read or a write in the name of
 * a role, and why one is refused. Off unless EXPLAIN says otherwise, and never there in production: reasons name what is
 * hidden.
 */
import type { AccessClass, CompiledApi, JsonValue } from '../contract/index.ts';
import type { Database } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { explainRead } from '../explain/explain-read.ts';
import { explainWrite } from '../explain/explain-write.ts';
import { type Answerer, mediaTypes } from './answer.ts';
import { bodyObject, optionalFlag, optionalText, requiredText } from './auth-body.ts';
import type { Endpoint, Handler } from './endpoints.ts';

/** Makes the endpoint. Writes are rehearsed on the database, in transactions that are taken back. */
export function createExplainEndpoint(
  api: CompiledApi,
  database: Pick<Database, 'transaction'>,
  answerer: Answerer,
): Endpoint {
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));

  function accessOf(role: string): AccessClass {
    const found = api.access.find(({ roles }) => roles.includes(role));
    if (found === undefined) throw new PlatformError('INVALID_PAYLOAD', `There is no role "${role}".`);
    return found;
  }

  async function explainAsked(payload: Readonly<Record<string, JsonValue>>): Promise<object> {
    const { method, target } = readRequest(requiredText(payload, 'request'));
    const { name: accessClass } = accessOf(requiredText(payload, 'as'));
    const caller = { accessClass, user: optionalText(payload, 'user'), role: null };
    const rehearsed = optionalFlag(payload, 'rehearse');
    if (method === 'GET') return explainRead(api, target, caller);
    const body = payload.data === undefined ? '' : JSON.stringify(payload.data);
    return (await explainWrite(api, { method, target, body }, caller, rehearsed ? database : null)).explained;
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
  const method = methods.find((one) => one === word);
  if (method === undefined || target === undefined) {
    throw new PlatformError('INVALID_PAYLOAD', '"request" must be like "GET /items/articles".');
  }
  return { method, target };
}

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
