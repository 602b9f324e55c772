/**
 * The answers to requests that failed, once per set of codes. They depend on the operation only, never on a collection.
 *
 * Source: API specification, section 9.
 */
import { type Failure, type FailureName, failures } from '@tablewright/runtime/operations';
import { failureExamples } from './examples/own-examples.ts';
import { type JsonObject, objectOf, reference } from './json.ts';

/** The components of all failed answers, by name. */
export function failureResponses(): readonly (readonly [string, JsonObject])[] {
  return Object.entries(failures).map(([name, failure]) => [name, response(failure)]);
}

/** Refers to failed answers by their status, in ascending order. */
export function failuresByStatus(names: readonly FailureName[]): readonly (readonly [string, JsonObject])[] {
  const sorted = names.toSorted((a, b) => failures[a].status - failures[b].status);
  return sorted.map((name) => [String(failures[name].status), reference('responses', name)]);
}

/** The headers of answers, by name. */
export function headerComponents(): readonly (readonly [string, JsonObject])[] {
  const tag = { type: 'string', pattern: '^W/"[A-Za-z0-9_-]+"$' };
  return [
    ['RetryAfter', { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 0 } }],
    ['ETag', { description: 'Changes when the answer does.', required: true, schema: tag }],
    ['FileETag', { description: 'Changes when the answer does. Files have none.', schema: tag }],
  ];
}

/** The body of an answer with one of these codes. */
function errorSchema(codes: readonly string[]): JsonObject {
  const limited = codes.length === 1 && codes[0] === 'REQUESTS_EXCEEDED';
  const counters = { limit: { type: 'integer' }, reset: {} };
  const version = { etag: { type: 'string', description: 'Tag of the item as it is now.' } };
  const violation = {
    collection: { type: 'string' },
    field: { type: 'string' },
    type: {
      type: 'string',
      description: 'The rule that the item violates: `required`, `unique`, `max_length` and so on.',
    },
    index: { type: 'integer', minimum: 0, description: 'The place of the item in an array.' },
  };
  const extensions: JsonObject = {
    type: 'object',
    properties: {
      code: { type: 'string', enum: codes },
      ...(limited && counters),
      ...(codes.includes('UNPROCESSABLE_ENTITY') && version),
      ...(codes.includes('FAILED_VALIDATION') && violation),
    },
    required: ['code'],
  };
  const error: JsonObject = {
    type: 'object',
    properties: { message: { type: 'string' }, extensions },
    required: ['message', 'extensions'],
  };
  return {
    type: 'object',
    properties: { errors: { type: 'array', minItems: 1, items: error } },
    required: ['errors'],
  };
}

function response({ description, codes, retry }: Failure): JsonObject {
  return {
    description,
    ...(retry && { headers: { 'Retry-After': reference('headers', 'RetryAfter') } }),
    content: { 'application/json': { schema: errorSchema(codes), ...examplesOf(codes) } },
  };
}

/** Recorded responses by status code, to be spread. */
function examplesOf(codes: readonly string[]): JsonObject {
  const shown = codes.flatMap((code) => {
    const value = failureExamples[code];
    return value === undefined ? [] : [[code, { value }] as const];
  });
  return shown.length > 0 ? { examples: objectOf(shown) } : {};
}
