/** GraphQL over HTTP: forms of requests and answers, statuses, errors, limits; and the page to ask from. */
import { buildClientSchema, buildSchema, type GraphQLSchema, getIntrospectionQuery, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Ask } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    environment: { GRAPHIQL: 'true', GRAPHQL_MAX_ROOT_FIELDS: '4', PUBLIC_URL: 'https://api.example.com' },
    sql: `
      CREATE TABLE notes (id integer PRIMARY KEY, body text, big bigint, hidden text);
      INSERT INTO notes VALUES (1, 'one', 9007199254740993, 'secret'), (2, 'two', 2, 'secret');`,
    permissions: `
permissions:
  public: { notes: { read: { fields: [id, body, big] } } }`,
  });
});
afterAll(() => project?.close());

const post = (body: unknown, ask: Ask = {}): Promise<Answer> =>
  project.ask('/graphql', { method: 'POST', body, ...ask });
const get = (query: Readonly<Record<string, string>>, ask: Ask = {}): Promise<Answer> =>
  project.ask(`/graphql?${new URLSearchParams(query)}`, ask);
const notes = '{ notes { id body } }';
const allNotes = {
  notes: [
    { id: 1, body: 'one' },
    { id: 2, body: 'two' },
  ],
};

describe('requests', () => {
  it('are taken by POST and by GET, with variables and names of operations', async () => {
    const query = 'query A { notes { id } } query B($id: ID!) { notes_by_id(id: $id) { body } }';
    const variables = { id: '2' };
    const expected = { data: { notes_by_id: { body: 'two' } } };
    expect((await post({ query, variables, operationName: 'B' })).json).toEqual(expected);
    const answer = await get({ query, variables: JSON.stringify(variables), operationName: 'B' });
    expect([answer.status, answer.json]).toEqual([200, expected]);
    expect((await post({ query: notes, variables: null, operationName: null, extensions: {} })).json).toEqual({
      data: allNotes,
    });
    expect((await post({ query: notes, operationName: '' })).json).toEqual({ data: allNotes });
  });

  it.each<[string, unknown, string]>([
    ['a list of requests', [{ query: notes }], '400 INVALID_PAYLOAD'],
    ['nothing', undefined, '400 INVALID_PAYLOAD'],
    ['no document', {}, '400 INVALID_PAYLOAD'],
    ['another member', { query: notes, zz: 1 }, '400 INVALID_PAYLOAD'],
    ['a document that is none', { query: 1 }, '400 INVALID_PAYLOAD'],
    ['half of JSON', '{"query":', '400 INVALID_PAYLOAD'],
    ['variables that are a list', { query: notes, variables: [] }, '400 INVALID_PAYLOAD'],
    ['several operations and no name', { query: `query A ${notes} query B ${notes}` }, '400 INVALID_QUERY'],
    ['a name of no operation', { query: `query A ${notes}`, operationName: 'C' }, '400 INVALID_QUERY'],
    ['a syntax error', { query: '{ notes { id }' }, '400 INVALID_QUERY'],
    ['a hidden field', { query: '{ notes { hidden } }' }, '400 INVALID_QUERY'],
    ['a field of the other scope', { query: '{ server_ping }' }, '400 INVALID_QUERY'],
    [
      'a variable that does not fit',
      { query: 'query ($a: Int) { notes(limit: $a) { id } }', variables: { a: 'x' } },
      '400 INVALID_QUERY',
    ],
    [
      'too many root fields',
      { query: '{ a: notes { id } b: notes { id } c: notes { id } d: notes { id } e: __typename }' },
      '400 INVALID_QUERY',
    ],
  ])('%s is refused', async (_what, body, expected) => {
    const answer = await post(body);
    expect(failure(answer)).toBe(expected);
    expect(answer.json).not.toHaveProperty('data');
  });

  it.each([
    ['text/plain', JSON.stringify({ query: notes })],
    ['application/x-www-form-urlencoded', 'query=%7B__typename%7D'],
    ['application/graphql', notes],
    ['multipart/form-data; boundary=x', '--x--'],
    ['application/json; charset=utf-16', JSON.stringify({ query: notes })],
  ])('%s is no content type of a request', async (type, body) => {
    const answer = await project.ask('/graphql', { method: 'POST', body, headers: { 'content-type': type } });
    expect(failure(answer)).toBe('415 UNSUPPORTED_MEDIA_TYPE');
  });

  it('mutations are not run by GET', async () => {
    const query = 'mutation { delete_notes_item(id: 1) { id } }';
    const answer = await get({ query }, { token: 'test-admin-token-0123456789-0123456789' });
    expect(failure(answer)).toBe('405 METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).toBe('POST');
    expect((await post({ query: notes })).json.data).toEqual(allNotes);
  });

  it('other methods are those of no route; HEAD and OPTIONS are answered as everywhere', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'SEARCH']) {
      expect(failure(await project.ask('/graphql', { method })), method).toBe('404 ROUTE_NOT_FOUND');
    }
    const head = await project.ask('/graphql?query=%7B__typename%7D', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    const options = await project.ask('/graphql', { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([200, 'GET, HEAD, POST, OPTIONS']);
    expect(failure(await project.ask('/graphql/', { method: 'POST' }))).toBe('404 ROUTE_NOT_FOUND');
    expect(failure(await project.ask('/graphql/items', { method: 'POST' }))).toBe('404 ROUTE_NOT_FOUND');
  });

  it('tokens are judged as over REST', async () => {
    const ask = async (token: string): Promise<string> => failure(await post({ query: notes }, { token }));
    expect(await ask('wrong-token-0123456789')).toBe('401 INVALID_CREDENTIALS');
    expect(failure(await project.ask('/graphql?query=x&access_token=wrong-token-0123456789'))).toBe(
      '401 INVALID_CREDENTIALS',
    );
    const hidden = { query: '{ notes { hidden } }' };
    const { json } = await project.ask('/graphql?access_token=test-admin-token-0123456789-0123456789', {
      method: 'POST',
      body: hidden,
    });
    expect(json.data.notes[0]).toEqual({ hidden: 'secret' });
    // What was compiled for one class is not run for another.
    expect(failure(await post(hidden))).toBe('400 INVALID_QUERY');
  });
});

describe('answers', () => {
  const type = (answer: Answer): string => answer.headers.get('content-type') ?? '';
  const modern = { headers: { accept: 'application/graphql-response+json' } };
  const legacy = { headers: { accept: 'application/json' } };

  it('have the form that the client names', async () => {
    expect(type(await post({ query: notes }))).toBe('application/json; charset=utf-8');
    expect(type(await post({ query: notes }, modern))).toBe('application/graphql-response+json; charset=utf-8');
    const refused = { query: '{ zz }' };
    expect([(await post(refused, modern)).status, (await post(refused, legacy)).status]).toEqual([400, 200]);
    expect(type(await post(refused, modern))).toBe('application/graphql-response+json; charset=utf-8');
    expect((await post(refused, legacy)).json).toEqual((await post(refused)).json);
    // What is no request of GraphQL has its status whatever the client takes.
    expect((await post({}, legacy)).status).toBe(400);
    expect((await get({ query: '' }, legacy)).status).toBe(400);
  });

  it('have the headers of every answer', async () => {
    const { headers } = await post({ query: notes });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('strict-transport-security')).toContain('max-age');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('vary')).toBe('Origin, Accept');
  });

  it('are compressed when they are not small', async () => {
    const response = await fetch(`${project.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'br' },
      body: JSON.stringify({ query: getIntrospectionQuery() }),
    });
    expect(response.headers.get('content-encoding')).toBe('br');
    // `fetch` has undone it.
    expect(Object.keys(JSON.parse(await response.text()))).toEqual(['data']);
  });

  it('say where a document is wrong', async () => {
    const { json } = await post({ query: '{\n  notes { id hidden }\n}' });
    expect(json.errors).toEqual([
      {
        message: 'Cannot query field "hidden" on type "notes".',
        locations: [{ line: 2, column: 14 }],
        extensions: { code: 'INVALID_QUERY' },
      },
    ]);
  });
});

describe('the schema', () => {
  it('is described to each caller alone', async () => {
    const query = getIntrospectionQuery();
    const own = buildClientSchema((await post({ query })).json.data);
    const all = buildClientSchema((await project.admin('/graphql', { method: 'POST', body: { query } })).json.data);
    const fields = (schema: GraphQLSchema): readonly string[] => {
      const type = schema.getType('notes');
      return isObjectType(type) ? Object.keys(type.getFields()) : [];
    };
    expect(fields(own)).toEqual(['id', 'body', 'big']);
    expect(fields(all)).toContain('hidden');
    expect([own.getMutationType(), all.getMutationType()?.name]).toEqual([null, 'Mutation']);
  });

  it('can be asked for beside data, with variables and directives, under any name', async () => {
    const query = `
      query ($name: String!, $on: Boolean!) {
        notes(limit: 1) { id __typename }
        type: __type(name: $name) { ...kind fields @skip(if: $on) { name } }
        ...more @include(if: $on)
      }
      fragment more on Query { none: __type(name: "zz") { name } __type(name: "Query") @skip(if: $on) { name } }
      fragment kind on __Type { kind, name }`;
    const ask = async (on: boolean) => (await post({ query, variables: { name: 'notes', on } })).json;
    expect(await ask(true)).toEqual({
      data: { notes: [{ id: 1, __typename: 'notes' }], type: { kind: 'OBJECT', name: 'notes' }, none: null },
    });
    const without = (await ask(false)).data;
    expect(Object.keys(without)).toEqual(['notes', 'type']);
    expect(without.type.fields[0]).toEqual({ name: 'id' });
  });

  it('is a file for each scope', async () => {
    const items = await project.ask('/server/specs/graphql');
    expect(items.headers.get('content-type')).toBe('application/graphql; charset=utf-8');
    expect(items.headers.get('content-disposition')).toBe('attachment; filename="items.graphql"');
    expect(buildSchema(items.text).getQueryType()?.getFields()).toHaveProperty('notes_by_id');
    expect(items.text).not.toContain('hidden');
    expect((await project.ask('/server/specs/graphql/items')).text).toBe(items.text);
    const system = await project.ask('/server/specs/graphql/system');
    expect(buildSchema(system.text).getQueryType()?.getFields()).toHaveProperty('server_ping');
    expect((await project.admin('/server/specs/graphql')).text).toContain('hidden');
    expect(failure(await project.ask('/server/specs/graphql/zz'))).toBe('404 ROUTE_NOT_FOUND');
  });
});

describe('the page to ask from', () => {
  const browser = { headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } };

  it('is for browsers', async () => {
    for (const path of ['/graphql', '/graphql/system', '/graphql?query=%7B__typename%7D']) {
      const page = await project.ask(path, browser);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(page.headers.get('content-security-policy')).not.toMatch(/https?:|\*|unsafe/);
      expect(page.text).not.toMatch(/https?:\/\//);
    }
    expect((await project.ask('/graphql?query=%7B__typename%7D')).json).toEqual({ data: { __typename: 'Query' } });
    expect(failure(await project.ask('/graphql', { method: 'POST', ...browser }))).toBe('400 INVALID_PAYLOAD');
  });

  it('is made of files that are sent once', async () => {
    const { text } = await project.ask('/graphql', browser);
    const parts = [...text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)];
    const paths = parts.map(([, path = '']) => new URL(path, 'http://localhost/graphql').pathname);
    expect(paths).toHaveLength(6);
    for (const path of paths) {
      const file = await project.ask(path);
      expect([path, file.status]).toEqual([path, 200]);
      expect(file.headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/);
      const again = await project.ask(path, { headers: { 'if-none-match': file.headers.get('etag') ?? '' } });
      expect([again.status, again.text]).toEqual([304, '']);
    }
  });
});
