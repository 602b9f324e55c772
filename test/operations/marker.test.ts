/** A marker in every place of a request that lines of the log may not show, at every level: no output has it. */

import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { generateHosted } from '../support/host.ts';
import { type Collector, startCollector } from '../support/otlp-collector.ts';
import { administrator, createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { installSystem } from '../support/system.ts';

const marker = 'zqMARKER7c41';

const sql = `
  CREATE TABLE notes (id serial PRIMARY KEY, title text UNIQUE CHECK (title <> '${marker}check'), size integer, parent integer REFERENCES notes);
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.title LIKE '%raise' THEN RAISE EXCEPTION 'refused: %', NEW.title; END IF; RETURN NEW; END $$;
  CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION refuse();
  INSERT INTO notes (title) VALUES ('${marker}taken');
  CREATE VIEW slow AS SELECT id, title, (SELECT 'done' FROM pg_catalog.pg_sleep(0.15) WHERE id > 0) AS slept FROM notes;
  CREATE VIEW broken AS SELECT id, title, CASE WHEN title LIKE '%taken' THEN title::integer ELSE 0 END AS size FROM notes;
`;

let database: TestDatabase;
let collector: Collector;
let project: { readonly folder: string; remove(): Promise<void> };
beforeAll(async () => {
  database = await createDatabase('');
  await installSystem(database.url);
  await withClient(database.url, (client) => client.query(sql));
  project = await createProject();
  collector = await startCollector(project.folder);
  const full = '{ create: true, read: true, update: true, delete: true }';
  await writeFile(
    join(project.folder, 'permissions.yaml'),
    `permissions: { public: { notes: ${full}, slow: { read: true }, broken: { read: true } } }\n`,
  );
  await generateHosted(project.folder, database.url);
});
afterAll(async () => {
  await project?.remove();
  await collector?.close();
  await database?.drop();
});

interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const json = { 'content-type': 'application/json' };
const post = (path: string, body: unknown, headers = {}): Sent => ({
  path,
  method: 'POST',
  headers: { ...json, ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** Headers that hold it, each alone. */
const headers = [
  ...['authorization', 'cookie', 'user-agent', 'referer', 'origin', 'x-request-id', 'traceparent', 'if-none-match'],
  ...['accept', 'accept-encoding', 'accept-language', 'x-forwarded-for', 'x-forwarded-host', 'forwarded', 'host'],
  ...['tracestate', 'baggage', 'from', 'range', 'x-anything', `x-${marker}`],
];

function* requests(): Generator<Sent> {
  for (const path of [
    '/items/notes',
    '/items/notes/1',
    '/items/slow',
    '/server/ping',
    '/server/health',
    '/nothing',
    '/auth',
  ]) {
    for (const name of headers) yield { path, headers: { [name]: marker } };
    yield { path, headers: { authorization: `Bearer ${marker}` } };
    yield { path, headers: { authorization: `Bearer ${btoa('{"alg":"HS256"}')}.${marker}.${marker}` } };
    yield { path, headers: { traceparent: `00-${marker}`, 'if-match': `"${marker}"` } };
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    yield { path, headers: { traceparent, tracestate: `a=${marker}`, baggage: `${marker}=${marker}` } };
    const queries = ['access_token', 'search', 'filter[title][_eq]', 'filter[size]', 'sort', 'fields', 'limit', 'deep'];
    for (const name of [...queries, marker, `filter[${marker}][_eq]`, 'cursor', 'export', 'alias', 'meta']) {
      yield { path: `${path}?${encodeURIComponent(name)}=${marker}` };
    }
    yield { path: `${path}?fields[]=${marker}.${marker}&${marker}` };
    yield { path: `${path}?filter={"${marker}"` };
    yield { path: `${path}#${marker}` };
  }
  for (const method of ['POST', 'PATCH', 'SEARCH', 'DELETE', 'PUT']) {
    yield { ...post('/items/notes', `{"${marker}`), method };
    yield { ...post('/items/notes', { [marker]: marker }), method };
    yield { ...post('/items/notes', { title: 1, size: marker, query: { filter: { size: marker } } }), method };
    yield { ...post('/items/notes', marker, { 'content-type': marker }), method };
    yield {
      ...post('/items/notes', { title: `${marker}9` }, { 'idempotency-key': marker, 'if-match': marker }),
      method,
    };
  }
  for (const title of ['taken', 'check', 'raise']) yield post('/items/notes', { title: marker + title });
  yield post('/items/notes', { title: `${marker}long`, size: '99999999999' });
  yield post('/items/notes', { title: `${marker}zero\u0000` });
  yield post('/items/notes', { title: `${marker}parent`, parent: 999_999 });
  yield { ...post('/items/notes/1', { title: `${marker}raise` }), method: 'PATCH' };
  for (const path of ['/items/slow', '/items/broken', '/items/broken/1']) {
    yield { path: `${path}?filter[title][_contains]=${marker}` };
  }
  for (const path of ['/graphql', '/graphql/system']) {
    yield post(path, { query: `{ ${marker} }` });
    yield post(path, {
      query: `query ${marker} { notes { id } }`,
      operationName: marker,
      variables: { [marker]: marker },
    });
    yield post(path, { query: `{ notes(filter: { title: { _eq: "${marker}" } }) { id } broken { size } }` });
    yield post(path, { query: `mutation { create_notes_item(data: { title: "${marker}raise" }) { id } }` });
    yield { path: `${path}?query={${marker}}` };
  }
  yield post('/auth/login', { email: `${marker}@example.com`, password: marker });
  yield post('/auth/login', { email: administrator.email, password: marker });
  yield post('/auth/login', {
    email: administrator.email,
    password: administrator.password,
    otp: marker,
    mode: marker,
  });
  yield post('/auth/refresh', { refresh_token: marker, mode: 'json' });
  yield post('/auth/logout', { refresh_token: marker });
  yield post('/auth/password/request', { email: `${marker}@example.com`, reset_url: `https://${marker}.example.com` });
  yield post('/auth/password/reset', { token: marker, password: marker });
  yield post('/users/invite/accept', { token: marker, password: marker });
  for (const name of ['x', 'corp']) yield { path: `/auth/login/${name}/callback?code=${marker}&state=${marker}` };
  const token = `${btoa('{"alg":"HS256","typ":"JWT"}')}.${btoa(marker)}.x`;
  for (const query of [{ redirect: marker }, { redirect: page }, { redirect: page, invitation: token }]) {
    yield { path: `/auth/login/corp?${new URLSearchParams({ invitation: marker, ...query })}` };
  }
  yield post('/files', marker, { 'content-type': `multipart/form-data; boundary=${marker}` });
}

/** Sends it as it is; every outcome is right, also a connection that breaks off. */
function send(url: string, { path, method = 'GET', headers = {}, body }: Sent): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const sent = request({
      hostname,
      port,
      path: path.replaceAll(' ', '%20'),
      method,
      headers,
      setHost: headers.host === undefined,
    });
    sent.on('response', (response) =>
      response
        .resume()
        .on('end', resolve)
        .on('error', () => resolve()),
    );
    sent.on('error', () => resolve());
    sent.end(body);
  });
}

/**
 * The levels at which everything is sent. A line of any other level is one at `trace`, too, so that at others every fourth
 * request shows that nothing is printed there alone; those of sign-ins, which have lines at every level, are all sent.
 */
const wholly = ['trace', 'info'];
const part = 4;

async function attack(server: Platform, level: string): Promise<void> {
  let under: Promise<void>[] = [];
  for (const [number, sent] of [...requests()].entries()) {
    const isSent = wholly.includes(level) || number % part === levels.indexOf(level) % part || /^.auth/.test(sent.path);
    if (!isSent) continue;
    under.push(send(server.url, sent));
    if (under.length < 16) continue;
    await Promise.all(under);
    under = [];
  }
  await Promise.all(under);
}

/** Renames a column while requests name it, so that every one of them fails in the database. */
async function attackBroken(server: Platform): Promise<void> {
  await withClient(database.url, (client) => client.query('ALTER TABLE notes RENAME COLUMN size TO extent'));
  try {
    await send(server.url, { path: `/items/notes?filter[title][_eq]=${marker}` });
    await send(server.url, post('/items/notes', { title: `${marker}gone`, size: 3 }));
  } finally {
    await withClient(database.url, (client) => client.query('ALTER TABLE notes RENAME COLUMN extent TO size'));
  }
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const page = 'http://127.0.0.1/signed-in';
const provider = {
  PUBLIC_URL: 'http://127.0.0.1',
  AUTH_PROVIDERS: 'corp',
  AUTH_CORP_DRIVER: 'openid',
  AUTH_CORP_ISSUER_URL: 'http://127.0.0.1:1',
  AUTH_CORP_CLIENT_ID: 'platform',
  AUTH_CORP_CLIENT_SECRET: 'a secret of the provider',
  AUTH_CORP_REDIRECT_ALLOW_LIST: page,
};
const told = {
  ACCESS_LOG: 'all',
  SLOW_QUERY: '1',
  LOG_ADDRESSES: 'full',
  METRICS_PORT: '0',
  RATE_LIMITER_AUTH_ENABLED: 'false',
};

it.each([...levels.map((level) => [level, []] as const), ['trace', ['--workers', '2']] as const])(
  'no output at the level %s has it %s',
  async (level, args) => {
    const variables = { LOG_LEVEL: level, ...told, ...provider, ...collector.variables };
    const server = await startUnchecked(project.folder, database.url, variables, args);
    let metrics = '';
    try {
      await attack(server, level);
      await attackBroken(server);
      await sleep(100);
      metrics = await (await fetch(`${/"metrics":"([^"]*)"/.exec(server.log())?.[1]}/metrics`)).text();
    } finally {
      await server.stop();
    }
    expect(metrics).toContain('tablewright_requests_total');
    const least = wholly.includes(level) ? 1 : 1 / part;
    expect(collector.take().length).toBeGreaterThan(300 * least);
    expect(collector.text().match(new RegExp(`.{0,200}${marker}.{0,50}`, 'i'))).toBeNull();
    expect(metrics.split('\n').filter((line) => line.includes(marker))).toEqual([]);
    expect(
      server
        .log()
        .split('\n')
        .filter((line) => line.includes(marker)),
    ).toEqual([]);
    const lines = server.log().match(/"requestId"/g) ?? [];
    const slow = server.log().match(/"event":"slow-query"/g) ?? [];
    if (['trace', 'debug', 'info'].includes(level)) {
      expect(lines.length).toBeGreaterThan(200 * least);
      expect(slow.length).toBeGreaterThan(20 * least);
      expect(server.log()).toContain('"plan":"');
    } else expect(slow).toEqual([]);
    if (level === 'silent') expect(lines).toEqual([]);
    // Names of sign-ins are there as an HMAC, at every level.
    const audited = server.log().match(/"audit":true.*"event":"sign-in-refused".*"name":"[\w-]{22}"/g) ?? [];
    if (level === 'silent') expect(audited).toEqual([]);
    else expect(audited.length).toBeGreaterThan(1);
  },
  120_000,
);
