import { describe, expect, test } from 'vitest';
import { readGraphqlBody, readGraphqlQuery } from './graphql-request.ts';

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
