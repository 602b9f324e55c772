/** The routes of the model: collections, fields and relations as they were compiled. Source: API specification, section 12. */
import type { Caller } from '../caller.ts';
import type { CompiledApi, ModelDocument } from '../contract/index.ts';
import { PlatformError } from '../errors.ts';
import { type Answerer, type Exchange, mediaTypes } from './answer.ts';
import type { Endpoint, Handler, Method } from './endpoints.ts';
import { readPathTexts, splitTarget } from './target.ts';

/** What the routes work with. */
export interface ModelEndpointsOptions {
  readonly api: CompiledApi;
  readonly answerer: Answerer;
  /** What collections of the platform may begin with instead of `platform_`; null: nothing else. */
  readonly aliasPrefix: string | null;
}

/** Finds what an address means in the model of the caller; undefined for what he may not see, and what is not there. */
type Find = (model: ModelDocument, texts: ReadonlyMap<string, string>) => unknown;

const finds: readonly (readonly [string, Find])[] = [
  ['/collections', ({ collections }) => collections],
  ['/collections/:name', ({ collections }, texts) => collections.find((one) => one.collection === texts.get('name'))],
  ['/fields', ({ fields }) => fields],
  ['/fields/:collection', ({ collections, fields }, texts) => belowOf(collections, fields, texts)],
  ['/fields/:collection/:field', ({ fields }, texts) => fields.find((one) => isNamed(one, texts))],
  ['/relations', ({ relations }) => relations],
  ['/relations/:collection', ({ collections, relations }, texts) => belowOf(collections, relations, texts)],
  ['/relations/:collection/:field', ({ relations }, texts) => relations.find((one) => isNamed(one, texts))],
];

/** Makes the endpoints. Reading is for everybody, as far as he may read what they tell of. */
export function createModelEndpoints({ api, answerer, aliasPrefix }: ModelEndpointsOptions): readonly Endpoint[] {
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));

  function read(pattern: string, find: Find): Handler {
    return async (exchange, { caller }) => {
      const found = find(await api.model(caller.accessClass), textsOf(pattern, exchange, aliasPrefix));
      if (found === undefined) throw new PlatformError('FORBIDDEN');
      const body = Buffer.from(JSON.stringify({ data: found }));
      answerer.send(exchange, { status: 200, type: mediaTypes.json, body });
    };
  }

  async function refuse(_: Exchange, { caller }: { readonly caller: Caller }): Promise<void> {
    if (!administrators.has(caller.accessClass)) throw new PlatformError('FORBIDDEN');
    throw new PlatformError('UNPROCESSABLE_ENTITY', compiled);
  }

  return finds.map(([url, find]) => ({
    url,
    handlers: new Map<Method, Handler>([
      ['GET', read(url, find)],
      ['POST', refuse],
      ['PATCH', refuse],
      ['DELETE', refuse],
    ]),
  }));
}

const compiled =
  'The API is compiled. Change the database or platform.config.ts, run `platform generate`, and start the server again.';

function textsOf(pattern: string, { request }: Exchange, aliasPrefix: string | null): ReadonlyMap<string, string> {
  const read = readPathTexts(pattern, splitTarget(request.url ?? '').path) ?? new Map<string, readonly string[]>();
  return new Map([...read].map(([name, [text = '']]) => [name, name === 'field' ? text : nameOf(text, aliasPrefix)]));
}

function nameOf(text: string, aliasPrefix: string | null): string {
  const aliased = aliasPrefix !== null && text.startsWith(aliasPrefix);
  return aliased ? `platform_${text.slice(aliasPrefix.length)}` : text;
}

/** Those of one collection, which may be none. */
function belowOf<One extends { readonly collection: string }>(
  collections: ModelDocument['collections'],
  all: readonly One[],
  texts: ReadonlyMap<string, string>,
): readonly One[] | undefined {
  const name = texts.get('collection');
  const known = collections.some(({ collection }) => collection === name);
  return known ? all.filter(({ collection }) => collection === name) : undefined;
}

function isNamed(
  one: { readonly collection: string; readonly field: string },
  texts: ReadonlyMap<string, string>,
): boolean {
  return one.collection === texts.get('collection') && one.field === texts.get('field');
}
