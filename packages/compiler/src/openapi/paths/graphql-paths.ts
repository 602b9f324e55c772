/** The paths of GraphQL, whose own schema says what documents may ask. Source: API specification, sections 13 and 14.1. */
import { type JsonObject, objectOf, type Parts, reference } from '../json.ts';
import { useHeader } from '../parameters.ts';
import { failuresByStatus } from '../responses.ts';

/** Tag of the operations. No collection has it: theirs have a slash. */
export const graphqlTag = 'graphql';

export function graphqlPaths(): Parts {
  return [
    ['/graphql', { get: byAddress('graphqlItemsGet'), post: byBody('graphqlItems', 'items') }],
    ['/graphql/system', { get: byAddress('graphqlSystemGet'), post: byBody('graphqlSystem', 'the system') }],
    ['/server/specs/graphql', { get: schemaOf('serverSpecsGraphql', 'items') }],
    ['/server/specs/graphql/items', { get: schemaOf('serverSpecsGraphqlItems', 'items') }],
    ['/server/specs/graphql/system', { get: schemaOf('serverSpecsGraphqlSystem', 'the system') }],
  ];
}

/** The components that only these paths use, by name. */
export function graphqlSchemas(): Parts {
  const location = { type: 'object', properties: { line: whole, column: whole }, required: ['line', 'column'] };
  const error: JsonObject = {
    type: 'object',
    properties: {
      message: { type: 'string' },
      locations: { type: 'array', items: location },
      path: { type: 'array', items: { type: ['string', 'integer'] }, description: 'Where null stands in its stead.' },
      extensions: {
        type: 'object',
        properties: { code: { type: 'string' } },
        required: ['code'],
        additionalProperties: true,
      },
    },
    required: ['message', 'extensions'],
  };
  const data = { type: ['object', 'null'], description: 'By the names of the document.', additionalProperties: true };
  return [
    ['GraphqlRequest', { type: 'object', properties: members, additionalProperties: false }],
    ['GraphqlError', error],
    [
      'GraphqlAnswer',
      {
        type: 'object',
        description: 'Has `data` where the document was run, `errors` where something went wrong.',
        properties: { data, errors: { type: 'array', items: reference('schemas', 'GraphqlError'), minItems: 1 } },
      },
    ],
    [
      'GraphqlRefusal',
      {
        type: 'object',
        properties: { errors: { type: 'array', items: reference('schemas', 'GraphqlError'), minItems: 1 } },
        required: ['errors'],
      },
    ],
  ];
}

const whole = { type: 'integer', minimum: 1 };

const members = {
  query: { type: ['string', 'null'], description: 'The document, unless a hash names it.' },
  variables: { type: ['object', 'null'], additionalProperties: true },
  operationName: { type: ['string', 'null'], description: 'Which operation of the document to run.' },
  documentId: { type: ['string', 'null'], description: 'SHA-256 of a document that the server knows.' },
  extensions: { type: ['object', 'null'], additionalProperties: true },
} as const;

function byBody(operationId: string, what: string): JsonObject {
  const schema = reference('schemas', 'GraphqlRequest');
  return {
    operationId,
    tags: [graphqlTag],
    summary: `Ask for ${what} by GraphQL`,
    description: 'Runs the operation of a document. The mutations of one operation are one transaction.',
    parameters: [useHeader('idempotencyKey')],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: answers,
  };
}

function byAddress(operationId: string): JsonObject {
  const texts = Object.entries(members).map(([name, { type, ...schema }]): JsonObject => {
    const described = 'description' in schema ? { description: schema.description } : {};
    const json: JsonObject = { type: 'string', contentMediaType: 'application/json' };
    return { name, in: 'query', ...described, schema: type[0] === 'object' ? json : { type: 'string' } };
  });
  return {
    operationId,
    tags: [graphqlTag],
    summary: 'Query by GraphQL',
    description: 'Runs a query; mutations are sent by POST.',
    parameters: texts,
    responses: { ...answers, 405: reference('responses', 'GraphqlNotAllowed') },
  };
}

const refusals = ['401', '403', '404', '415', '429', '500', '503'] as const;

const refused = 'GraphqlFailure';

/** The components of answers that several of these paths have. */
export function graphqlResponses(): Parts {
  const statuses = ['400', ...refusals, '422'].toSorted();
  return [
    ['GraphqlAnswer', { description: 'The answer, which may have errors.', content: contentOf('GraphqlAnswer') }],
    ['GraphqlNotAllowed', notAllowed],
    [
      refused,
      {
        description: statuses.map((status) => `- ${status}: ${refusalTexts[status]}`).join('\n'),
        // Codes are those of the errors in them.
        'x-platform-codes': objectOf(statuses.map((status) => [status, []] as const)),
        headers: { 'Retry-After': reference('headers', 'RetryAfterSome') },
        content: contentOf('GraphqlRefusal'),
      },
    ],
  ];
}

const refusalTexts: Readonly<Record<string, string>> = {
  400: 'The document, its variables or the request cannot be used.',
  401: 'The token is unknown or expired, or may not be used from this address.',
  403: 'The token is not valid, or may not be used here.',
  404: 'There is no such endpoint.',
  415: 'The body is not sent as application/json.',
  422: 'An Idempotency-Key came with another request before.',
  429: 'A rate limit was hit.',
  500: 'An unexpected error occurred; it is a fault of the server.',
  503: 'The database cannot be used now, or took too long.',
};

const answers = { 200: reference('responses', 'GraphqlAnswer'), default: reference('responses', refused) };

const notAllowed: JsonObject = {
  description: 'A mutation came by GET.',
  headers: { Allow: { required: true, schema: { type: 'string', const: 'POST' } } },
  content: contentOf('GraphqlRefusal'),
};

function contentOf(name: string): JsonObject {
  const schema = reference('schemas', name);
  return { 'application/json': { schema }, 'application/graphql-response+json': { schema } };
}

function schemaOf(operationId: string, what: string): JsonObject {
  return {
    operationId,
    tags: [graphqlTag],
    summary: `Read the GraphQL schema of ${what}`,
    description:
      'The schema of what the caller may ask, as a file; where it may not be asked for there is no such route.',
    responses: objectOf([
      [
        '200',
        {
          description: 'The schema.',
          headers: { 'Content-Disposition': { required: true, schema: { type: 'string' } } },
          content: { 'application/graphql': { schema: { type: 'string' } } },
        },
      ],
      ...failuresByStatus([
        'InvalidQuery',
        'Unauthorized',
        'Forbidden',
        'RouteNotFound',
        'RequestsExceeded',
        'InternalServerError',
        'ServiceUnavailable',
      ]),
    ]),
  };
}
