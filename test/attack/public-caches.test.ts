/**
 * Shared caches and callers who mean harm. A request that carries anything of a caller is never kept, in any form;
 * and no header of a request gets into an answer that others are given.
 */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

const token = 'token-of-reader-0000000000';
const key = '00000000-0000-4000-8000-0000000000a1';
const path = '/items/notes?fields=id,text';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    system: true,
    environment: {
      CORS_ENABLED: 'true',
      CORS_ORIGIN: 'https://app.example.com',
      REFRESH_TOKEN_COOKIE_NAME: 'session',
      // Identifiers that proxies send are kept, and never passed on to others.
      IP_TRUST_PROXY: '127.0.0.1',
    },
    sql: `CREATE TABLE notes (id integer PRIMARY KEY, text varchar(40), hidden boolean NOT NULL);
      INSERT INTO notes VALUES (1, 'for all', FALSE), (2, 'for readers', TRUE)`,
    config: `{ collections: { notes: { cache: { public: '60s' } } } }`,
    permissions: `roles: { reader: {}, guest: {} }
permissions:
  public: { notes: { read: { fields: [id, text], filter: { hidden: { _eq: false } } } } }
  guest: { notes: { read: { fields: [id, text], filter: { hidden: { _eq: false } } } } }
  reader: { notes: { read: true } }`,
  });
  for (const [name, id] of [
    ['reader', key],
    ['guest', key.replace('a1', 'a2')],
  ]) {
    await project.rows(`INSERT INTO platform.platform_roles (id, name) VALUES ('${id}', '${name}')`);
    await project.rows(
      `INSERT INTO platform.platform_users (id, email, role, token) VALUES ('${id}', '${name}@example.com', '${id}', '${token.replace('reader', name ?? '')}')`,
    );
  }
});
afterAll(() => project?.close());

/** The answer to a request as it stands, with a head that clients would not send. */
function raw(target: string, lines: readonly string[] = [], method = 'GET'): Promise<string> {
  const { hostname, port } = new URL(project.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        [`${method} ${target} HTTP/1.1`, 'Host: a.example', 'Connection: close', ...lines, '', ''].join('\r\n'),
      );
    });
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}

/** The answer that is kept: on a busy machine one may take too long for that. */
async function shared(target: string, lines: readonly string[] = []): Promise<string> {
  for (let tries = 0; tries < 20; tries++) {
    const answer = await raw(target, lines);
    if (isShared(answer)) return answer;
  }
  throw new Error(`No answer to ${target} is kept with ${lines.join()}.`);
}

const headOf = (answer: string): string => answer.slice(0, answer.indexOf('\r\n\r\n')).toLowerCase();
const isShared = (answer: string): boolean =>
  headOf(answer).includes('s-maxage') || headOf(answer).includes('surrogate-key');

it('keeps the plain answer, so that the tests below mean something', async () => {
  const answer = await shared(path);
  expect(answer).toContain('for all');
  expect(answer).not.toContain('for readers');
});

describe('an answer that may be of a caller is not kept', () => {
  const heads: readonly (readonly string[])[] = [
    [`Authorization: Bearer ${token}`],
    [`authorization: bearer ${token}`],
    [`AUTHORIZATION:BEARER   ${token}`],
    ['Authorization:'],
    ['Authorization: '],
    ['Authorization: Basic YTpi'],
    ['Authorization: Bearer'],
    ['Authorization: Bearer nonsense'],
    ['Authorization: Basic YTpi', `Authorization: Bearer ${token}`],
    ['Authorization:', `Authorization: Bearer ${token}`],
    ['Cookie: session=abc'],
    ['Cookie: other=1; session=abc'],
    ['Cookie: platform_consistency=abc'],
    ['X-Consistency-Token: latest'],
    [`Authorization: Bearer ${token.replace('reader', 'guest')}`],
  ];
  it.each(heads.map((lines) => [lines.join(' | '), lines] as const))('with the head %s', async (_, lines) => {
    expect(isShared(await raw(path, lines))).toBe(false);
  });

  it.each([
    `&access_token=${token}`,
    '&access_token=',
    '&access_token',
    `&%61ccess_token=${token}`,
    `&a%63cess_token=${token}`,
    `&access%5Ftoken=${token}`,
    '&access_token=nonsense',
    `&access_token=${token.replace('reader', 'guest')}`,
  ])('with the query %s', async (query) => {
    expect(isShared(await raw(path + query))).toBe(false);
    expect(isShared(await raw(`/items/notes/1?${query.slice(1)}`))).toBe(false);
  });

  it('with another method', async () => {
    for (const method of ['POST', 'PATCH', 'DELETE', 'SEARCH', 'OPTIONS', 'PURGE', 'TRACE', 'PUT']) {
      expect(isShared(await raw(path, ['Content-Length: 0'], method))).toBe(false);
    }
  });
});

describe('a header of the request gets into no answer that is kept', () => {
  const odd = 'poison.example';
  it.each([
    'X-Forwarded-Host',
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X-Forwarded-Port',
    'X-Forwarded-Prefix',
    'Forwarded',
    'X-Original-URL',
    'X-Rewrite-URL',
    'X-Request-Id',
    'X-HTTP-Method-Override',
    'X-HTTP-Method',
    'X-Method-Override',
    'Accept-Language',
    'Accept-Charset',
    'Accept',
    'Range',
    'User-Agent',
    'Referer',
    'Via',
    'Surrogate-Key',
    'Surrogate-Control',
    'Cache-Control',
    'Cookie',
  ])('%s', async (name) => {
    const values = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'].includes(name) ? 'DELETE' : odd;
    const [plain, poisoned] = [await shared(path), await shared(path, [`${name}: ${values}`])];
    const steady = (answer: string): string => answer.replaceAll(/^(Date|Connection|X-Request-Id): .*$/gm, '');
    expect(steady(poisoned)).toBe(steady(plain));
    expect(poisoned).not.toContain(odd);
    expect(headOf(poisoned)).toMatch(/^x-request-id: [\w-]{8,}\r$/m);
  });

  it('not the trace of another, nor another host', async () => {
    const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    expect(await raw(path, [`traceparent: ${trace}`])).not.toContain('4bf92f3577b34da6');
    const { hostname, port } = new URL(project.url);
    const answer = await fetch(`http://${hostname}:${port}${path}`, { headers: { 'x-forwarded-host': odd } });
    expect([...answer.headers].flat().join(' ')).not.toContain(odd);
  });

  it('another origin only where the answer says that it depends on it', async () => {
    const allowed = headOf(await raw(path, ['Origin: https://app.example.com']));
    expect(allowed).toContain('access-control-allow-origin: https://app.example.com');
    expect(allowed).toMatch(/^vary: .*\borigin\b/m);
    const other = headOf(await raw(path, [`Origin: https://${odd}`]));
    expect(other).not.toContain(odd);
    expect(other).toMatch(/^vary: .*\borigin\b/m);
  });

  it('a conditional request of others keeps no answer without contents', async () => {
    const one = await shared('/items/notes/1');
    const etag = /^etag: (.*)$/im.exec(one)?.[1] ?? '';
    const unchanged = await raw('/items/notes/1', [`If-None-Match: ${etag}`]);
    expect(unchanged).toMatch(/^HTTP\/1\.1 304/);
    expect(headOf(unchanged)).toContain(`etag: ${etag}`.toLowerCase());
  });
});
