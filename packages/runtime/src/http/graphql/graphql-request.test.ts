import { describe, expect, test } from 'vitest';
import { readAccept, readGraphqlBody, readGraphqlQuery } from './graphql-request.ts';

const plain = { query: '{a}', variables: {}, operationName: null, documentId: null };

describe('bodies', () => {
  test('with everything, and with nothing but a document', () => {
    expect(readGraphqlBody({ query: '{a}' })).toEqual(plain);
    expect(readGraphqlBody({ query: '{a}', variables: null, operationName: null, extensions: null })).toEqual(plain);
    expect(readGraphqlBody({ query: '{a}', variables: { b: 1 }, operationName: 'c', extensions: {} })).toEqual({
      ...plain,
      variables: { b: 1 },
      operationName: 'c',
    });
  });

  test('documents by their hash', () => {
    const byHash = { ...plain, query: null, documentId: 'abc' };
    expect(readGraphqlBody({ documentId: 'abc' })).toEqual(byHash);
    expect(readGraphqlBody({ extensions: { persistedQuery: { version: 1, sha256Hash: 'abc' } } })).toEqual(byHash);
  });

  test.each([
    [undefined],
    [{}],
    [[{ query: '{a}' }]],
    [{ query: 1 }],
    [{ query: null }],
    [{ query: '{a}', variables: [] }],
    [{ query: '{a}', variables: '{}' }],
    [{ query: '{a}', operationName: {} }],
    [{ query: '{a}', extensions: 'x' }],
    [{ query: '{a}', other: 1 }],
  ])('%j is none', (body) => {
    expect(() => readGraphqlBody(body)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD', status: 400 }));
  });
});

describe('addresses', () => {
  test('with everything, and with what means nothing', () => {
    expect(readGraphqlQuery('query=%7Ba%7D&access_token=x&query2')).toEqual(plain);
    expect(readGraphqlQuery('query=%7Ba%7D&variables=%7B%22b%22%3A1%7D&operationName=c&extensions=')).toEqual({
      ...plain,
      variables: { b: 1 },
      operationName: 'c',
    });
  });

  test.each([
    '',
    'query=',
    'query=a&query=b',
    'query=%ff',
    'query=%00',
    'query=a&variables=%7B',
    'query=a&variables=%5B%5D',
    'query=a&variables=1',
    'query=a&variables=%7B%22__proto__%22%3A1%7D',
    'query=a&variables=%7B%22b%22%3A%22%5Cu0000%22%7D',
  ])('%s is none', (raw) => {
    expect(() => readGraphqlQuery(raw)).toThrow(expect.objectContaining({ code: 'INVALID_QUERY', status: 400 }));
  });
});

describe('what an answer is in', () => {
  test.each([
    [undefined, 'json', false, false],
    ['*/*', 'json', false, false],
    ['text/plain', 'json', false, false],
    ['application/json', 'json', true, false],
    ['APPLICATION/JSON; charset=utf-8', 'json', true, false],
    ['application/json, text/plain, */*', 'json', true, false],
    ['application/graphql-response+json', 'graphql', false, false],
    ['application/graphql-response+json, application/json', 'graphql', false, false],
    ['application/json, application/graphql-response+json', 'graphql', false, false],
    ['application/graphql-response+json;q=0.5, application/json', 'json', true, false],
    ['application/graphql-response+json;q=0, application/json', 'json', true, false],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json', false, true],
    ['application/json, text/html;q=0.9', 'json', true, false],
  ])('%s', (accept, type, alwaysOk, page) => {
    expect(readAccept(accept)).toEqual({ type, alwaysOk, page });
  });
});
