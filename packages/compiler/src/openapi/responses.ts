/**
 * The answers to requests that failed. They depend on the operation only, never on a collection. An operation refers to
 * one answer for all failures that it has in common with others. It refers to the rest by their status.
 *
 * Source: API specification, section 9.
 */
import { commonFailures, type Failure, type FailureName, failures } from '@tablewright/runtime/operations';
import type { RoleCollection } from '../role-view/role-view.ts';
import { failureExamples } from './examples/own-examples.ts';
import { type JsonObject, objectOf, type Parts, reference } from './json.ts';

/** Failures that end any request. */
const ofServers = ['RequestsExceeded', 'InternalServerError', 'ServiceUnavailable'] as const;
const ofRequests = ['Unauthorized', 'Forbidden', ...ofServers] as const;
const ofBodies = ['UnsupportedMediaType', 'RouteNotFound', ...ofRequests] as const;

/** Answers for several failures, by the name of their component; the largest first. */
const failureGroups: Readonly<Record<string, readonly FailureName[]>> = {
  WriteFailure: ['InvalidWrite', 'Unprocessable', ...ofBodies],
  ModelFailure: ['InvalidWrite', 'Unprocessable', 'UnsupportedMediaType', ...ofRequests],
  SearchFailure: ['InvalidSearch', ...ofBodies],
  ReadFailure: [...commonFailures, 'Forbidden', 'RouteNotFound'],
  RequestFailure: ofRequests,
  ServerFailure: ofServers,
};

/** The components of failed answers: those that reads and writes of collections or these parts of a document refer to. */
export function failureResponses(parts: Parts, collections: readonly Pick<RoleCollection, 'writes'>[]): Parts {
  const text = JSON.stringify(parts);
  const isReferred = ([name]: readonly [string, unknown]) => text.includes(`"#/components/responses/${name}"`);
  const writing = collections.some(({ writes }) => writes !== null) ? ['WriteFailure'] : [];
  const ofCollections = ['SearchFailure', 'ReadFailure', ...writing];
  const groups = Object.entries(failureGroups).filter((group) => ofCollections.includes(group[0]) || isReferred(group));
  const others = Object.entries(failures).filter(isReferred);
  // Each example is shown once, by the first that has its code.
  const shown = new Set<string>();
  return [
    ...groups.map(([name, group]) => [name, response(bySeverity(group), shown)] as const),
    ...others.map(([name, failure]) => [name, response([failure], shown)] as const),
  ];
}

/** Refers to failed answers: by their status, in ascending order, and to all others as the default. */
export function failuresByStatus(names: readonly FailureName[]): Parts {
  const [name, group] =
    Object.entries(failureGroups).find(([, all]) => all.every((failure) => names.includes(failure))) ?? [];
  const others = names.filter((failure) => group?.includes(failure) !== true);
  const sorted = others.toSorted((a, b) => failures[a].status - failures[b].status);
  return [
    ...sorted.map((failure) => [String(failures[failure].status), reference('responses', failure)] as const),
    ...(name === undefined ? [] : [['default', reference('responses', name)] as const]),
  ];
}

function bySeverity(names: readonly FailureName[]): readonly Failure[] {
  return names.map((name) => failures[name]).toSorted((a, b) => a.status - b.status);
}

export function headerComponents(): Parts {
  const tag = { type: 'string', pattern: '^W/"[A-Za-z0-9_-]+"$' };
  return [
    ['RetryAfter', { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 0 } }],
    ['RetryAfterSome', { description: 'Seconds to wait, with 429 and 503.', schema: { type: 'integer', minimum: 0 } }],
    ['ETag', { description: 'Changes when the answer does.', required: true, schema: tag }],
    ['FileETag', { description: 'Changes when the answer does. Files have none.', schema: tag }],
  ];
}

/** The component of the bodies of failed answers, each of which names its codes under `x-platform-codes`. */
export function failureSchemas(): Parts {
  const codes = new Set(Object.values(failures).flatMap((failure) => failure.codes));
  const extensions: JsonObject = {
    type: 'object',
    properties: {
      code: { type: 'string', enum: [...codes].sort() },
      limit: { type: 'integer', description: 'Requests that the rate limit allows.' },
      reset: { description: 'When it allows more.' },
      etag: { type: 'string', description: 'Tag of the item as it is now.' },
      collection: { type: 'string', description: 'The collection of an item that is not valid.' },
      field: { type: 'string' },
      type: {
        type: 'string',
        description: 'The rule that the item violates: `required`, `unique`, `max_length` and so on.',
      },
      index: { type: 'integer', minimum: 0, description: 'The place of the item in an array.' },
    },
    required: ['code'],
  };
  const error: JsonObject = {
    type: 'object',
    properties: { message: { type: 'string' }, extensions },
    required: ['message', 'extensions'],
  };
  const properties = { errors: { type: 'array', minItems: 1, items: error } };
  return [['Failure', { type: 'object', properties, required: ['errors'] }]];
}

/** One failure is described by its name; several by their statuses, with the codes of each. */
function response(group: readonly Failure[], shown: Set<string>): JsonObject {
  const codes = [...new Set(group.flatMap((failure) => failure.codes))];
  const [only, ...more] = group;
  const isOne = more.length === 0;
  const retry = group.some((failure) => failure.retry);
  return {
    description: isOne
      ? (only?.description ?? '')
      : group.map(({ status, description }) => `- ${status}: ${description}`).join('\n'),
    'x-platform-codes': objectOf(group.map(({ status, codes: each }) => [String(status), each] as const)),
    ...(retry && { headers: { 'Retry-After': reference('headers', isOne ? 'RetryAfter' : 'RetryAfterSome') } }),
    content: { 'application/json': { schema: reference('schemas', 'Failure'), ...examplesOf(codes, shown) } },
  };
}

/** Recorded responses by code, but for those that are shown already; to be spread. */
function examplesOf(codes: readonly string[], shown: Set<string>): JsonObject {
  const examples = codes.flatMap((code) => {
    const value = shown.has(code) ? undefined : failureExamples[code];
    return value === undefined ? [] : [[code, { value }] as const];
  });
  for (const [code] of examples) shown.add(code);
  return examples.length > 0 ? { examples: objectOf(examples) } : {};
}
