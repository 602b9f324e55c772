/**
 * The routes of the model: collections, fields and relations as they were compiled, and as they are changed. Source: API
 * specification, section 12.
 */
import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../errors.ts';
import type { ChangeModel, PlanChange } from '../generations/change-model.ts';
import type { CompiledApi, JsonValue, ModelDocument } from '../language/index.ts';
import { invalidPayload } from '../write/problems.ts';
import type { RequestOrigin } from '../write/write-plan.ts';
import { type Answerer, type Exchange, mediaTypes } from './answer.ts';
import type { Endpoint, Handler, Method } from './endpoints.ts';
import { type Change, modelChanges } from './model-changes.ts';
import { plainParameters } from './plain-parameters.ts';
import { readPathTexts, splitTarget } from './target.ts';

/** Options of the model routes. */
export interface ModelEndpointsOptions {
  readonly api: CompiledApi;
  readonly answerer: Answerer;
  /** Prefix that collections of the platform may have instead of `platform_`; null: no other. */
  readonly aliasPrefix: string | null;
  /** Makes changes; rejects where the model stays as it was compiled. */
  readonly changeModel: ChangeModel;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/** Finds the object of an address in the model of the caller; undefined if it is hidden or missing. */
type Find = (model: ModelDocument, texts: ReadonlyMap<string, string>) => unknown;

const finds: readonly (readonly [string, Find])[] = [
  ['/collections', ({ collections }) => collections],
  [
    '/collections/:name',
    ({ collections }, texts) => collections.find((entry) => entry.collection === texts.get('name')),
  ],
  ['/fields', ({ fields }) => fields],
  ['/fields/:collection', ({ collections, fields }, texts) => belowOf(collections, fields, texts)],
  ['/fields/:collection/:field', ({ fields }, texts) => fields.find((field) => isNamed(field, texts))],
  ['/relations', ({ relations }) => relations],
  ['/relations/:collection', ({ collections, relations }, texts) => belowOf(collections, relations, texts)],
  ['/relations/:collection/:field', ({ relations }, texts) => relations.find((relation) => isNamed(relation, texts))],
];

/**
 * Makes the endpoints. Every caller may read the model of the collections it may read; only administrators may write.
 */
export function createModelEndpoints({
  api,
  answerer,
  aliasPrefix,
  changeModel,
  senderOf,
}: ModelEndpointsOptions): readonly Endpoint[] {
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));

  function read(pattern: string, find: Find): Handler {
    return async (exchange, { caller }) => {
      const found = find(await api.model(caller.accessClass), textsOf(pattern, exchange, aliasPrefix));
      if (found === undefined) throw new PlatformError('FORBIDDEN');
      const body = Buffer.from(JSON.stringify({ data: found }));
      answerer.send(exchange, { status: 200, type: mediaTypes.json, body });
    };
  }

  function write(pattern: string, method: Method, change: Change): Handler {
    return async (exchange, { caller, query }, body) => {
      if (!administrators.has(caller.accessClass)) throw new PlatformError('FORBIDDEN');
      const texts = textsOf(pattern, exchange, aliasPrefix);
      const discard = plainParameters(query, ['data']).get('data') === 'discard';
      const origin = { user: caller.user, ...senderOf(exchange.request) };
      const plan: PlanChange = (model) => change(model, texts, bodyOf(method, body));
      const answer = await changeModel(plan, discard, origin);
      if (answer === null) return answerer.send(exchange, { status: 204 });
      const json = Buffer.from(JSON.stringify({ data: answer }));
      answerer.send(exchange, { status: 200, type: mediaTypes.json, body: json });
    };
  }

  return finds.map(([url, find]) => {
    const changes = Object.entries(modelChanges[url] ?? {});
    return {
      url,
      handlers: new Map<Method, Handler>([
        ['GET', read(url, find)],
        ...changes.flatMap(([method, change]) =>
          isMethod(method) ? [[method, write(url, method, change)] as const] : [],
        ),
      ]),
    };
  });
}

function isMethod(text: string): text is 'POST' | 'PATCH' | 'DELETE' {
  return text === 'POST' || text === 'PATCH' || text === 'DELETE';
}

/** The path names the object to delete, so a DELETE has no body. */
function bodyOf(method: Method, body: JsonValue | undefined): JsonValue {
  if (method === 'DELETE') return null;
  if (body === undefined) throw invalidPayload('The body is missing.');
  return body;
}

function textsOf(pattern: string, { request }: Exchange, aliasPrefix: string | null): ReadonlyMap<string, string> {
  const read = readPathTexts(pattern, splitTarget(request.url ?? '').path) ?? new Map<string, readonly string[]>();
  return new Map([...read].map(([name, [text = '']]) => [name, name === 'field' ? text : nameOf(text, aliasPrefix)]));
}

function nameOf(text: string, aliasPrefix: string | null): string {
  const aliased = aliasPrefix !== null && text.startsWith(aliasPrefix);
  return aliased ? `platform_${text.slice(aliasPrefix.length)}` : text;
}

/** Objects of one collection; may be empty. */
function belowOf<One extends { readonly collection: string }>(
  collections: ModelDocument['collections'],
  all: readonly One[],
  texts: ReadonlyMap<string, string>,
): readonly One[] | undefined {
  const name = texts.get('collection');
  const exists = collections.some(({ collection }) => collection === name);
  return exists ? all.filter(({ collection }) => collection === name) : undefined;
}

function isNamed(
  entry: { readonly collection: string; readonly field: string },
  texts: ReadonlyMap<string, string>,
): boolean {
  return entry.collection === texts.get('collection') && entry.field === texts.get('field');
}
