/** What the environment decides about requests and answers, and what it may not say. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProject } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { runRefused } from '../support/warm-command.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE TABLE parents (id integer PRIMARY KEY);
      CREATE TABLE children (id integer PRIMARY KEY, parent_id integer REFERENCES parents);
      INSERT INTO parents SELECT generate_series(1, 9);
      INSERT INTO children SELECT i, 1 FROM generate_series(1, 9) i;`,
    environment: {
      QUERY_LIMIT_DEFAULT: '2',
      QUERY_LIMIT_MAX: '4',
      MAX_RELATIONAL_DEPTH: '2',
      MAX_PAYLOAD_SIZE: '100',
      QUERYSTRING_MAX_PARSE_DEPTH: '3',
      QUERYSTRING_ARRAY_LIMIT: '2',
      PUBLIC_URL: 'https://api.example',
      CORS_ENABLED: 'true',
      CORS_ORIGIN: 'https://a.example,https://b.example',
    },
  });
});
afterAll(() => project?.close());

describe('limits', () => {
  it.each([
    ['', 2],
    ['&limit=4', 4],
    ['&limit=-1', 4],
    ['&limit=-1&page=3', 1],
    ['&offset=8', 1],
    ['&offset=100', 0],
  ])('items?%s gives %i', async (query, length) => {
    expect((await project.admin(`/items/parents?fields=id${query}`)).json.data).toHaveLength(length);
  });

  it('hold for nested lists', async () => {
    expect((await project.admin('/items/parents/1?fields=children')).json.data.children).toHaveLength(2);
    expect((await project.admin('/items/parents/1?fields=children.id')).json.data.children).toHaveLength(2);
  });

  it.each([
    'limit=5',
    'fields=children.parent_id.id',
    'sort=parent_id.x.y',
    'filter[children][parent_id][id]=1',
    'filter[a][b][c][d]=1',
    'filter[id][_in][]=1&filter[id][_in][]=2&filter[id][_in][]=3',
  ])('%s is too much', async (query) => {
    expect(failure(await project.admin(`/items/parents?${query}`))).toBe('400 INVALID_QUERY');
  });

  it.each([
    ['page=99999999999999999999', 'page', 4503599627370496],
    ['page=99999999999999999999&limit=-1', 'page', 2251799813685248],
    ['offset=9007199254740992', 'offset', Number.MAX_SAFE_INTEGER],
    ['limit=99999999999999999999', 'limit', 4],
  ])('%s tells the bound', async (query, name, most) => {
    const [{ message }] = (await project.admin(`/items/parents?${query}`)).json.errors;
    expect(message).toBe(`"${name}" must not be above ${most}.`);
  });

  it.each([`page=4503599627370496`, `offset=${Number.MAX_SAFE_INTEGER}`])('%s is none', async (query) => {
    expect((await project.admin(`/items/parents?${query}`)).json).toEqual({ data: [] });
  });

  it('refuses a body that is too large', async () => {
    const body = { query: { fields: ['x'.repeat(100)] } };
    expect(failure(await project.admin('/items/parents', { method: 'SEARCH', body }))).toBe('400 INVALID_PAYLOAD');
  });
});

describe('CORS', () => {
  const preflight = { 'access-control-request-method': 'SEARCH' };

  it('names an allowed origin, on errors too', async () => {
    for (const path of ['/server/ping', '/items/nothing', '/nothing']) {
      const { headers } = await project.ask(path, { headers: { origin: 'https://b.example' } });
      expect(headers.get('access-control-allow-origin')).toBe('https://b.example');
      expect(headers.get('access-control-allow-credentials')).toBe('true');
      expect(headers.get('access-control-expose-headers')).toBe('Content-Range,ETag,Retry-After,X-Consistency-Token');
      expect(headers.get('vary')).toContain('Origin');
    }
  });

  it('answers a preflight of an allowed origin only', async () => {
    const options = { method: 'OPTIONS', headers: { ...preflight, origin: 'https://a.example' } };
    const allowed = await project.ask('/items/parents', options);
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get('access-control-allow-methods')).toContain('SEARCH');
    expect(allowed.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(allowed.headers.get('access-control-max-age')).toBe('18000');
    const foreign = await project.ask('/items/parents', {
      ...options,
      headers: { ...preflight, origin: 'https://c.example' },
    });
    expect(foreign.headers.get('allow')).toBe('GET, HEAD, SEARCH, POST, PATCH, DELETE, OPTIONS');
    expect([...foreign.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('asks for https where PUBLIC_URL is', async () => {
    const { headers } = await project.ask('/server/ping');
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d+/);
  });
});

it.each([
  ['PORT', 'abc'],
  ['QUERY_LIMIT_MAX', '-1'],
  ['MAX_PAYLOAD_SIZE', '1tb'],
  ['DATABASE_STATEMENT_TIMEOUT', '2x'],
  ['CORS_ORIGIN', 'a.example'],
  ['LOG_LEVEL', 'loud'],
  ['ACCESS_LOG', '1.5'],
  ['LOG_ADDRESSES', 'some'],
  ['SLOW_QUERY', 'never'],
  ['STORAGE_LOCAL_BUCKET', 'files'],
  ['STORAGE_LOCATIONS', 'local,LOCAL'],
])('an invalid %s stops the start and is named', async (name, value) => {
  const empty = await createProject();
  const url = project.database.url;
  const { code, stderr } = await runRefused(['start', '--generate', '--project', empty.folder], {
    DATABASE_URL: url,
    [name]: value,
  });
  await empty.remove();
  expect([code, stderr.includes(name)]).toEqual([4, true]);
});
