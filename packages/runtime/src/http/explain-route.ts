/**
 * `POST /utils/explain`, an addition for development: tells administrators what becomes of a read in the name of a role, and
 * why one is refused. Off unless EXPLAIN says otherwise, and never there in production: reasons name what is hidden.
 */
import type { AccessClass, CompiledApi, JsonValue } from '../contract/index.ts';
import { PlatformError } from '../errors.ts';
import { explainRead } from '../explain/explain-read.ts';
import { type Answerer, mediaTypes } from './answer.ts';
import { bodyObject, optionalText, requiredText } from './auth-body.ts';
import type { Endpoint, Handler } from './endpoints.ts';

/** Makes the endpoint. */
export function createExplainEndpoint(api: CompiledApi, answerer: Answerer): Endpoint {
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));

  function accessOf(role: string): AccessClass {
    const found = api.access.find(({ roles }) => roles.includes(role));
    if (found === undefined) throw new PlatformError('INVALID_PAYLOAD', `There is no role "${role}".`);
    return found;
  }

  const explain: Handler = async (exchange, { caller }, body) => {
    if (!administrators.has(caller.accessClass)) throw new PlatformError('FORBIDDEN');
    const payload = bodyObject(body);
    const target = readTarget(requiredText(payload, 'request'));
    const { name: accessClass } = accessOf(requiredText(payload, 'as'));
    const user = optionalText(payload, 'user');
    const explained = explainRead(api, target, { accessClass, user, role: null });
    const data: JsonValue =
      explained.kind === 'read' ? { ...explained, parameters: explained.parameters } : { ...explained };
    answerer.send(exchange, { status: 200, type: mediaTypes.json, body: Buffer.from(JSON.stringify({ data })) });
  };

  return { url: '/utils/explain', handlers: new Map([['POST', explain]]) };
}

/** The address of `GET /items/articles?limit=1`. Throws INVALID_PAYLOAD for anything but a read of items. */
function readTarget(request: string): string {
  const target = /^GET (\/items\/\S+)$/.exec(request)?.[1];
  if (target === undefined) throw new PlatformError('INVALID_PAYLOAD', '"request" must be like "GET /items/articles".');
  return target;
}
