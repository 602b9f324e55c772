/**
 * Query parameters of reads, and the same names in the body of SEARCH. Source: API specification, sections 1.4 and 5.1.
 */
import { type JsonObject, objectOf, reference } from './json.ts';
import { keyInput } from './keys.ts';
import type { ViewCollection } from './view.ts';

const names: JsonObject = { type: 'array', items: { type: 'string' } };
const metaNames: JsonObject = { type: 'array', items: { type: 'string', enum: ['total_count', 'filter_count', '*'] } };

/** Parameters that are the same for every collection: their schemas, and what they mean. */
const shared = {
  fields: {
    description:
      'Fields to return, all when absent: names, paths into relations such as `a.b.c`, and the wildcards `*`, `*.*`, `a.*`.',
    schema: names,
  },
  sort: {
    description: 'Fields to sort by, `-` before a name for descending order. The key completes every order.',
    schema: names,
  },
  limit: {
    description: 'Items to return at most; -1 returns all of them.',
    schema: { type: 'integer', minimum: -1, default: 100 },
  },
  offset: { description: 'Items to skip.', schema: { type: 'integer', minimum: 0, default: 0 } },
  page: {
    description: 'The page of `limit` items to return, counted from 1; it replaces `offset`.',
    schema: { type: 'integer', minimum: 0 },
  },
  meta: {
    description: 'Counts to add: `total_count` of the readable items, `filter_count` of those that match the filter.',
    schema: metaNames,
  },
} as const satisfies Record<string, { readonly description: string; readonly schema: JsonObject }>;

type Shared = keyof typeof shared;

/** Components of the shared parameters, by name. */
export function parameterComponents(): readonly (readonly [string, JsonObject])[] {
  return Object.entries(shared).map(([name, { description, schema }]) => [
    name,
    { name, in: 'query', description, ...(schema.type === 'array' && { style: 'form', explode: false }), schema },
  ]);
}

/** The parameters of a list. */
export function listParameters({ names: { filter } }: ViewCollection): readonly JsonObject[] {
  return [use('fields'), filterParameter(filter), use('sort'), use('limit'), use('offset'), use('page'), use('meta')];
}

/** The parameters of reading one item, or a singleton, which must match the filter. */
export function itemParameters({ names: { filter } }: ViewCollection): readonly JsonObject[] {
  return [use('fields'), filterParameter(filter)];
}

/** The body of SEARCH. Items can be named only by those who may read the key. */
export function searchSchema({ key, operations, names: { filter } }: ViewCollection): JsonObject {
  const query = Object.entries(shared).map(
    ([name, { description, schema }]) => [name, { description, ...schema }] as const,
  );
  const keys: JsonObject = { description: 'Reads exactly these items.', type: 'array', items: keyInput(key) };
  return {
    type: 'object',
    properties: objectOf([
      ['query', { type: 'object', properties: objectOf([...query, ['filter', reference('schemas', filter)]]) }],
      ...(key.length === 0 || operations.has('readSingleton') ? [] : [['keys', keys] as const]),
    ]),
    additionalProperties: false,
  };
}

function use(name: Shared): JsonObject {
  return reference('parameters', name);
}

/** Both forms have one name, so they are alternatives of one parameter. */
function filterParameter(filter: string): JsonObject {
  const schema = reference('schemas', filter);
  return {
    name: 'filter',
    in: 'query',
    description:
      'Conditions that items must meet: in brackets, `filter[field][_eq]=value`, or as the text of a JSON object, ' +
      '`filter={"field":{"_eq":"value"}}`.',
    style: 'deepObject',
    explode: true,
    schema: { anyOf: [schema, { type: 'string', contentMediaType: 'application/json', contentSchema: schema }] },
  };
}
