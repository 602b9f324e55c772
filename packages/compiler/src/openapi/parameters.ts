/** Query parameters of reads and of the body of SEARCH. Source: API specification, sections 1.4 and 5.1. */
import { aggregateFunctions, defaultQueryBounds } from '@tablewright/runtime/language';
import { exportFormats } from '@tablewright/runtime/operations';
import { havingSchema } from './components/aggregation.ts';
import { anyObject, type JsonObject, listOrText, objectOf, type Parts, reference } from './json.ts';
import { listedKeyReference } from './keys.ts';
import type { Addressed } from './paths/addressed.ts';

const names: JsonObject = { type: 'array', items: { type: 'string' } };
const namesOrText = listOrText({ type: 'string' });
const metaNames: JsonObject = { type: 'array', items: { type: 'string', enum: ['total_count', 'filter_count', '*'] } };

/**
 * Schema of `deep` for one relation. Its other keys name relations further down, with the same schema. Describing them
 * would give a type that the members above do not have, which languages with index signatures refuse.
 */
const nested: JsonObject = {
  type: 'object',
  properties: {
    _filter: anyObject('Conditions that the rows must meet.'),
    _search: { type: 'string', description: 'Text that a text field of the rows must contain.' },
    _sort: namesOrText,
    _limit: {
      ...bodyForm({ type: 'integer', minimum: -1 }),
      description: 'Rows of each parent at most, 100 when absent; -1 is all.',
    },
    _offset: bodyForm({ type: 'integer', minimum: 0 }),
    _page: bodyForm({ type: 'integer', minimum: 0 }),
    _aggregate: {
      type: 'object',
      description: 'Answers aggregate rows of each parent: functions with the fields that they take, or with `*`.',
      properties: objectOf(aggregateFunctions.map((name) => [name, namesOrText] as const)),
      additionalProperties: false,
    },
    _group: namesOrText,
    _having: anyObject('Conditions that the aggregate rows must meet.'),
    _archived: {
      type: 'string',
      enum: ['include', 'only'],
      description: 'Archived rows, where they can be asked for.',
    },
  },
  additionalProperties: true,
};

const { maxCost, maxRows } = defaultQueryBounds;
const bounds =
  `Unless the server says otherwise a query costs at most ${maxCost} (1 for each value, 10 more for each list), and its ` +
  `limits let no list within lists have more than ${maxRows} rows.`;

const exported = {
  description: 'Answers the list as a file of this format.',
  schema: { type: 'string', enum: exportFormats },
} as const satisfies { readonly description: string; readonly schema: JsonObject };

/** Parameters that are the same for every collection: their schemas, and what they mean. */
const shared = {
  fields: {
    description:
      'Fields to return, all when absent: names, paths into relations such as `a.b.c`, the wildcards `*`, `*.*`, `a.*`, ' +
      `and functions such as \`year(a)\`. ${bounds}`,
    schema: names,
  },
  search: {
    description:
      'Text that a text field of the items must contain, in any case. Collections with an index of words look for words, ' +
      'and come best first without `sort`.',
    schema: { type: 'string' },
  },
  sort: {
    description:
      'Fields or functions to sort by, `-` in front for descending order. The key completes every order. Aggregate rows ' +
      'are sorted by groups and by values such as `count` and `sum.a`; without groups there is one, and `sort`, `limit`, ' +
      '`offset` and `page` are not used.',
    schema: names,
  },
  limit: {
    description: 'Items to return at most, 100 when absent; -1 returns all of them.',
    schema: { type: 'integer', minimum: -1, default: 100 },
  },
  offset: { description: 'Items to skip.', schema: { type: 'integer', minimum: 0, default: 0 } },
  page: {
    description: 'The page of `limit` items to return, counted from 1; it replaces `offset`.',
    schema: { type: 'integer', minimum: 0 },
  },
  cursor: {
    description:
      'Pages through the list in its order: empty for the first page, then the `next_cursor` of the page before, ' +
      'or the `previous_cursor` of the page after. ' +
      'It replaces `offset` and `page`.',
    schema: { type: 'string' },
  },
  meta: {
    description: 'Counts to add: `total_count` of the readable items, `filter_count` of those that match the filter.',
    schema: metaNames,
  },
  export: exported,
  archived: {
    description: 'Archived items: with the live ones (`include`), or in their place (`only`).',
    schema: { type: 'string', enum: ['include', 'only'] },
  },
  alias: {
    description: 'Other names for fields and relations, by the new name; `fields` and `deep` use them.',
    schema: { type: 'object', additionalProperties: { type: 'string' } },
  },
  deep: {
    description: 'Parameters for the rows of relations, by the name of the relation: `deep[a][_limit]=1`.',
    schema: { type: 'object', additionalProperties: reference('schemas', 'Deep') },
  },
  having: {
    description: 'Conditions that aggregate rows must meet: `having={"count":{"_gt":2},"sum":{"a":{"_lt":9}}}`.',
    schema: reference('schemas', 'Having'),
  },
} as const satisfies Record<string, { readonly description: string; readonly schema: JsonObject }>;

type Shared = keyof typeof shared;

/** Components by name: `Deep`, `Query` for what bodies of SEARCH share, and `WriteQuery` for writes that name items by it. */
export function parameterSchemas(): Parts {
  const query = Object.entries(shared).map(([name, { schema }]) => [name, bodyForm(schema)] as const);
  return [
    ['Deep', nested],
    ['Having', havingSchema()],
    ['Query', { type: 'object', description: 'The parameters of these names.', properties: objectOf(query) }],
    [
      'JsonText',
      { type: 'string', contentMediaType: 'application/json', description: 'The same object as its JSON text.' },
    ],
    ['WriteQuery', anyObject('As the query of SEARCH, without a default limit.')],
  ];
}

/** In a body lists may be text with commas, and numbers text. Generators require members that have a default. */
function bodyForm({ default: _, ...schema }: JsonObject): JsonObject {
  if (schema.type === 'integer') return { ...schema, type: ['integer', 'string'], pattern: '^-?[0-9]{1,40}$' };
  return schema.type === 'array' ? { ...schema, type: ['array', 'string'] } : schema;
}

export function parameterComponents(): Parts {
  const inQuery = Object.entries(shared).map(
    ([name, { description, schema }]) => [name, { name, in: 'query', description, ...queryForm(schema) }] as const,
  );
  const inHeader = Object.values(conditional).map(
    ({ name, description, schema }) => [component(name), { name, in: 'header', description, schema }] as const,
  );
  return [...inQuery, ...inHeader];
}

/** Headers on which it depends whether a request is done. Source: API specification, section 17. */
const conditional = {
  ifMatch: {
    name: 'If-Match',
    description:
      'Tags of a read of this address: nothing is done unless the item still has one of them. `*` is any item.',
    schema: { type: 'string' },
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    description: 'Tags of earlier answers: one that has not changed is answered without a body.',
    schema: { type: 'string' },
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    description: 'A name for this request: sent again under it, it is answered as before and nothing is done.',
    schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  },
} as const satisfies Record<
  string,
  { readonly name: string; readonly description: string; readonly schema: JsonObject }
>;

function component(header: string): string {
  return header.replaceAll('-', '');
}

/** Refers to one of these headers. */
export function useHeader(name: keyof typeof conditional): JsonObject {
  return reference('parameters', component(conditional[name].name));
}

/** Lists are text with commas, in the usual style; objects stand in brackets or as the text of a JSON object. */
function queryForm(schema: JsonObject): JsonObject {
  if (schema.type === 'array') return { explode: false, schema };
  return schema.type === 'object' || schema === shared.having.schema ? objectForm(schema) : { schema };
}

/** Both forms are alternatives of one parameter. Tools that try requests begin with the example, which asks nothing. */
function objectForm(schema: JsonObject): JsonObject {
  return {
    style: 'deepObject',
    explode: true,
    schema: { anyOf: [schema, reference('schemas', 'JsonText')] },
    example: {},
  };
}

/** The parameters of a list; functions of the database do not aggregate. */
export function listParameters(collection: Addressed, aggregates = true): readonly JsonObject[] {
  const cursor = collection.key.length === 0 ? [] : [use('cursor')];
  const paging = [use('limit'), use('offset'), use('page'), ...cursor, use('meta')];
  const others = [use('alias'), use('deep'), use('export'), ...archivedParameter(collection)];
  const filter = reference('parameters', collection.names.filter);
  const aggregation = aggregates ? aggregateParameters(collection) : [];
  return [use('fields'), filter, use('search'), use('sort'), ...paging, ...aggregation, ...others];
}

/** The parameters that aggregate a collection; conditions on aggregate rows are the same for all. */
function aggregateParameters(collection: Addressed): readonly JsonObject[] {
  const { aggregate, groupBy } = aggregateInput(collection);
  return [
    { name: 'aggregate', in: 'query', ...objectForm(aggregate) },
    ...(groupBy ? [{ name: 'groupBy', in: 'query', ...queryForm(groupBy) }] : []),
    use('having'),
  ];
}

function aggregateInput({ names: collectionNames, grouped }: Addressed) {
  const groupBy = { type: 'array', items: reference('schemas', collectionNames.groups) };
  return { aggregate: reference('schemas', collectionNames.functions), ...(grouped && { groupBy }) };
}

/** The parameters of reading one item, or a singleton, which must match the filter. */
export function itemParameters(collection: Addressed): readonly JsonObject[] {
  const filter = reference('parameters', collection.names.filter);
  return [use('fields'), filter, use('alias'), use('deep'), ...archivedParameter(collection)];
}

function archivedParameter({ archived }: Addressed): readonly JsonObject[] {
  return archived ? [use('archived')] : [];
}

/** The parameters of reading a singleton, which can be a file as well. */
export function singletonParameters(collection: Addressed): readonly JsonObject[] {
  return [...itemParameters(collection), use('search'), use('meta'), use('export')];
}

/** The parameters that shape the response of a write: written items that do not match are left out. */
export function answerParameters(collection: Addressed, many: boolean): readonly JsonObject[] {
  const list = [use('search'), use('sort'), use('limit'), use('offset'), use('page'), use('meta')];
  return [...itemParameters(collection), ...(many ? list : [])];
}

/** The body of SEARCH. Items can be named only by those who may read the key. */
export function searchSchema(collection: Addressed): JsonObject {
  const { key, operations, names: collectionNames } = collection;
  const singleton = operations.includes('readSingleton');
  const aggregation = Object.entries(singleton ? {} : aggregateInput(collection)).map(
    ([name, schema]) => [name, bodyForm(schema)] as const,
  );
  const query: JsonObject = {
    type: 'object',
    allOf: [reference('schemas', 'Query')],
    properties: objectOf([['filter', reference('schemas', collectionNames.filter)], ...aggregation]),
    unevaluatedProperties: false,
  };
  const keys: JsonObject = { type: 'array', items: listedKeyReference(key) };
  return {
    type: 'object',
    properties: objectOf([['query', query], ...(key.length === 0 || singleton ? [] : [['keys', keys] as const])]),
    additionalProperties: false,
  };
}

export function use(name: Shared): JsonObject {
  return reference('parameters', name);
}

/** The component of the parameter that filters items of a collection. */
export function filterParameter(filter: string): JsonObject {
  return { name: 'filter', in: 'query', ...objectForm(reference('schemas', filter)) };
}

const file = { schema: { type: 'string' } };

/** The contents of an exported list beside JSON. */
export const files: JsonObject = {
  'text/csv': file,
  'text/xml': file,
  'text/yaml': file,
  'application/x-ndjson': file,
};
