import { expect, test } from 'vitest';
import { readAccept } from './graphql-request.ts';

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
