/** Input of `/utils/explain`, and its result for a read, a write, and a refused request. */
import type { JsonObject } from './json.ts';

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const flag = { type: 'boolean' };
const parameters = { type: 'array', items: { type: ['string', 'null'] } };
const statement = { type: 'string', description: 'In the words of the database.' };

/** The body of a request. */
export const askedOfExplain: JsonObject = {
  type: 'object',
  properties: {
    request: { type: 'string', description: 'For example `GET /items/articles?fields=id`.' },
    as: { type: 'string', description: 'Name of the role.' },
    user: { type: 'string', description: 'Key of the user that `$CURRENT_USER` stands for.' },
    data: { description: 'The body of a write.' },
    rehearse: { ...flag, description: 'Run a write in a transaction that is taken back. Default: false.' },
  },
  required: ['request', 'as'],
};

const read = every({
  kind: { type: 'string', const: 'read' },
  collection: text,
  statement,
  parameters,
  many: flag,
  answer: { ...texts, description: 'Names of the answer, indented by their depth.' },
});

const action = { type: 'string', enum: ['create', 'update', 'delete'] };
const rule = every({
  action,
  fields: texts,
  where: { type: 'object', additionalProperties: true, description: 'The rows that it reaches.' },
  presets: { type: 'array', items: { type: 'object', additionalProperties: true } },
  check: {
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'The condition that a written row must satisfy.',
  },
  lacking: { ...texts, description: 'Names of the payload that it does not grant.' },
  usable: { ...flag, description: 'False where it sets a value of the caller that is not there.' },
});
const decided = {
  action,
  collection: text,
  rules: { type: 'array', items: rule },
  hooks: { ...texts, description: 'Code of the project that would run, and does not here.' },
  statements: { type: 'array', items: every({ statement, parameters }) },
};

const write = {
  type: 'object',
  properties: {
    kind: { type: 'string', const: 'write' },
    ...decided,
    complete: { ...flag, description: 'Whether these are all statements; others depend on what the database answers.' },
    rehearsed: flag,
    answer: { description: 'The answer that would be given; absent where the database was not asked.' },
  },
  required: ['kind', ...Object.keys(decided), 'complete', 'rehearsed'],
};

const refused = {
  type: 'object',
  properties: {
    kind: { type: 'string', const: 'refused' },
    code: text,
    message: { type: 'string', description: 'The message to the caller.' },
    reasons: texts,
    ...decided,
  },
  required: ['kind', 'code', 'message', 'reasons'],
};

/** The explanation; a refused read has no more than its reasons. */
export const explained: JsonObject = { anyOf: [read, write, refused] };

/** An object that has all of its properties. */
function every(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties) };
}
