/** Explaining a request in the name of a role, an addition for development. Source: API specification, section 13. */
import type { Resource } from './operation.ts';
import type { ValueSchema } from './schema.ts';

const text = { type: 'string' } as const satisfies ValueSchema;
const texts = { type: 'array', items: text } as const satisfies ValueSchema;
const flag = { type: 'boolean' } as const satisfies ValueSchema;
const anyMembers = { type: 'object', additionalProperties: true } as const satisfies ValueSchema;
const parameters = { type: 'array', items: { type: ['string', 'null'] } } as const satisfies ValueSchema;
const statement = { type: 'string', description: 'In the words of the database.' } as const satisfies ValueSchema;
const action = { type: 'string', enum: ['create', 'update', 'delete'] } as const satisfies ValueSchema;

const readSchema = {
  members: {
    kind: { type: 'string', const: 'read' },
    collection: text,
    statement,
    parameters,
    many: flag,
    answer: { ...texts, description: 'Names of the answer, indented by their depth.' },
  },
} as const satisfies ValueSchema;

const ruleSchema = {
  component: 'ExplainedRule',
  administrators: true,
  members: {
    action,
    fields: texts,
    where: { ...anyMembers, description: 'The rows that it reaches.' },
    'purge?': { ...flag, description: 'True where it also removes for good what DELETE archives.' },
    presets: { type: 'array', items: anyMembers },
    check: {
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'The condition that a written row must satisfy.',
    },
    lacking: { ...texts, description: 'Names of the payload that it does not grant.' },
    usable: { ...flag, description: 'False where it sets a value of the caller that is not there.' },
  },
} as const satisfies ValueSchema;

const rules = { type: 'array', items: ruleSchema } as const;
const hooks = { ...texts, description: 'Code of the project that would run, and does not here.' } as const;
const statements = { type: 'array', items: { members: { statement, parameters } } } as const;

const writeSchema = {
  members: {
    kind: { type: 'string', const: 'write' },
    ...{ action, collection: text, rules, hooks, statements },
    complete: {
      ...flag,
      description: 'Whether these are all statements; others depend on what the database answers.',
    },
    rehearsed: flag,
    'answer?': { description: 'The answer that would be given; absent where the database was not asked.' },
  },
} as const satisfies ValueSchema;

/** A refused read has no more than its reasons. */
const refusedSchema = {
  members: {
    kind: { type: 'string', const: 'refused' },
    code: text,
    message: { type: 'string', description: 'The message to the caller.' },
    reasons: texts,
    ...{ 'action?': action, 'collection?': text, 'rules?': rules, 'hooks?': hooks, 'statements?': statements },
  },
} as const satisfies ValueSchema;

/** Explaining. */
export const explainResource = {
  tag: 'utils',
  installed: false,
  operations: {
    utilsExplain: {
      route: 'POST /utils/explain',
      summary: 'Explain a request',
      description:
        'Explains how a request by a role is answered, and why it is refused. For development; not found unless EXPLAIN is set.',
      access: 'administrator',
      input: {
        request: { type: 'string', description: 'For example `GET /items/articles?fields=id`.' },
        as: { type: 'string', description: 'Name of the role.' },
        'user?': { type: 'string', description: 'Key of the user that `$CURRENT_USER` stands for.' },
        'data?': { description: 'The body of a write.' },
        'rehearse?': {
          ...flag,
          description: 'Run a write in a transaction that is taken back. Default: false.',
        },
      },
      output: { description: 'The explanation.', data: { anyOf: [readSchema, writeSchema, refusedSchema] } },
      failures: [
        ...(['Unauthorized', 'RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'Forbidden'] as const),
        ...(['InvalidBody', 'UnsupportedMediaType', 'RouteNotFound'] as const),
      ],
    },
  },
} as const satisfies Resource;
