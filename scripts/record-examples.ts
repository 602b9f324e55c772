/**
 * Records the examples that OpenAPI documents show: starts the sample with `--record-examples`, asks it what readers of a
 * document want to see, and sorts what was recorded.
 *
 * What is the same for every project goes to the compiler (`openapi/examples/own-examples.ts`), the rest stays with the
 * sample. Run it in a clone whose sample was never started: `node scripts/run.mjs record-examples`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Examples, type OperationExamples, printJson } from '../packages/compiler/src/index.ts';
import { freePort } from '../test/support/free-port.ts';

const root = join(import.meta.dirname, '..');
const recorded = join(root, 'fixtures/magazine/openapi-examples.json');
const own = join(root, 'packages/compiler/src/openapi/examples/own-examples.ts');
const administrator = { email: 'admin@example.com', password: 'correct horse battery staple' };
const adminToken = 'a-token-for-recording';

/** Operations that are the same in every project. */
const isOwn = (operation: string): boolean => /^(server|auth|utils(Random|Hash|Cache))/.test(operation);

const head = `/** Examples that hold for every project, recorded by \`scripts/record-examples.ts\`. Do not edit. */
import type { JsonValue } from '@tablewright/runtime/language';
import type { OperationExamples } from '../../api.ts';

`;

const failures = new Map<string, unknown>();
rmSync(recorded, { force: true });
const port = await freePort();
const server = spawn(
  process.execPath,
  [join(root, 'packages/cli/bin/platform.cjs'), 'start', '--sample', '--record-examples'],
  {
    env: {
      ...process.env,
      PORT: String(port),
      ADMIN_TOKEN: adminToken,
      ADMIN_EMAIL: administrator.email,
      ADMIN_PASSWORD: administrator.password,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
try {
  await listening(server);
  await askEverything();
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
}
sortExamples();

async function listening({ stdout }: ChildProcess): Promise<void> {
  for await (const chunk of stdout ?? []) if (String(chunk).includes(String(port))) return;
  throw new Error('The sample does not start.');
}

interface Sent {
  readonly token?: string;
  readonly body?: unknown;
}

/** Sends `GET /items/articles` and the like; rejects when it is refused. */
async function ask(request: string, { token, body }: Sent = {}): Promise<unknown> {
  const [method = '', path = ''] = request.split(' ');
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, sent);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${request} is answered with ${answer.status}: ${text}`);
  return /^[[{]/.test(text) ? JSON.parse(text) : text;
}

/** A member of an answer, by its path. */
function member(value: unknown, ...path: readonly (string | number)[]): string {
  const found = path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
  return String(found);
}

/** Sends what is refused, and keeps the refusal by its code. */
async function refused(request: string, headers: Readonly<Record<string, string>>, body?: string): Promise<void> {
  const [method = '', path = ''] = request.split(' ');
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
  const text = await answer.text();
  if (answer.ok) throw new Error(`${request} is answered with ${answer.status}: ${text}`);
  failures.set(member(JSON.parse(text), 'errors', 0, 'extensions', 'code'), JSON.parse(text));
}

async function provokeRefusals(): Promise<void> {
  const json = { 'content-type': 'application/json' };
  const admin = { ...json, authorization: `Bearer ${adminToken}` };
  await refused('GET /items/orders', {});
  await refused('GET /items/articles?limit=many', {});
  await refused('GET /nowhere', {});
  await refused('GET /items/tags', { authorization: 'Bearer nobody-has-this-token' });
  await refused('POST /items/tags', admin, '{ "nam');
  await refused('POST /items/tags', admin, '{}');
  await refused('POST /items/tags', { ...admin, 'content-type': 'text/plain' }, 'name=One');
}

async function askEverything(): Promise<void> {
  await provokeRefusals();
  await askOfServer();
  for (const token of [undefined, adminToken]) await readCollections(token);
  await writeItems();
  await askAsUser();
}

async function askOfServer(): Promise<void> {
  for (const token of [undefined, adminToken]) {
    for (const path of ['/server/health', '/server/ready', '/server/info', '/utils/random/string?length=16']) {
      await ask(`GET ${path}`, token === undefined ? {} : { token });
    }
  }
  const token = adminToken;
  const hashed = await ask('POST /utils/hash/generate', { token, body: { string: 'a text' } });
  await ask('POST /utils/hash/verify', { token, body: { string: 'a text', hash: member(hashed, 'data') } });
  await ask('POST /utils/cache/clear', { token });
  await ask('GET /collections/tags', { token });
  await ask('GET /fields/tags/name', { token });
  await ask('GET /relations/comments/article_id', { token });
}

async function readCollections(token: string | undefined): Promise<void> {
  const by = token === undefined ? {} : { token };
  await ask(
    'GET /items/articles?fields=id,title,author_id.name,tags.name&filter[views][_gt]=100&sort=-published_at&limit=2',
    by,
  );
  await ask('GET /items/articles?aggregate[count]=*&aggregate[avg]=views&groupBy=status', by);
  await ask('GET /items/articles?fields=id,title&search=the&limit=2&meta=filter_count', by);
  await ask('SEARCH /items/articles', {
    ...by,
    body: { query: { fields: ['id', 'title'], filter: { status: { _eq: 'published' } }, limit: 2 } },
  });
  const list = await ask('GET /items/articles?fields=id&filter[status][_eq]=published&limit=1', by);
  await ask(
    `GET /items/articles/${member(list, 'data', 0, 'id')}?fields=id,title,status,published_at,author_id.name`,
    by,
  );
  for (const name of ['authors', 'categories', 'tags', 'comments', 'languages', 'article_translations', 'sections']) {
    await ask(`GET /items/${name}?limit=2`, by);
  }
  const body = { query: '{ tags(limit: 2, sort: ["name"]) { id name } }' };
  await ask('POST /graphql', { ...by, body });
}

async function writeItems(): Promise<void> {
  const token = adminToken;
  const made = await ask('POST /items/tags?fields=id,name', { token, body: { name: 'Recorded' } });
  const path = `/items/tags/${member(made, 'data', 'id')}`;
  await ask(`PATCH ${path}?fields=id,name`, { token, body: { name: 'Written down' } });
  await ask(`DELETE ${path}`, { token });
  const [author] = [member(await ask('GET /items/authors?fields=id&limit=1', { token }), 'data', 0, 'id')];
  const article = await ask('POST /items/articles?fields=id,title,slug,status,comments.id,comments.body', {
    token,
    body: {
      title: 'A tree in one request',
      slug: 'a-tree-in-one-request',
      body: 'With what belongs to it.',
      author_id: Number(author),
      comments: [{ author_name: 'Reader', body: 'The first of its comments.' }],
    },
  });
  const key = member(article, 'data', 'id');
  const comment = Number(member(article, 'data', 'comments', 0, 'id'));
  await ask(`PATCH /items/articles/${key}?fields=id,status,comments.body`, {
    token,
    body: {
      status: 'draft',
      comments: { create: [{ author_name: 'Reader', body: 'Another one.' }], update: [], delete: [comment] },
    },
  });
  await ask('PATCH /items/articles?fields=id,views', { token, body: { keys: [Number(key)], data: { views: 1 } } });
  await ask('DELETE /items/articles', { token, body: [Number(key)] });
}

async function askAsUser(): Promise<void> {
  const signedIn = await ask('POST /auth/login', { body: { ...administrator, mode: 'json' } });
  const token = member(signedIn, 'data', 'access_token');
  await ask('GET /auth');
  await ask('GET /users/me?fields=id,email,first_name,role.name,last_access', { token });
  await ask('PATCH /users/me?fields=id,first_name', { token, body: { first_name: 'Ada' } });
  await ask('GET /roles?fields=id,name,description&limit=2', { token });
  await ask('GET /activity?fields=id,action,collection,item,timestamp&sort=-id&limit=2', { token });
  await ask('GET /settings', { token });
  await ask('POST /users/me/tfa/generate', { token, body: { password: administrator.password } });
  await ask('POST /auth/password/request', { body: { email: 'reader@example.com' } });
  const refreshed = await ask('POST /auth/refresh', {
    body: { refresh_token: member(signedIn, 'data', 'refresh_token'), mode: 'json' },
  });
  await ask('POST /auth/logout', { body: { refresh_token: member(refreshed, 'data', 'refresh_token') } });
}

/** Takes what is the same everywhere out of the sample's file, from administrators where they are told more. */
function sortExamples(): void {
  const examples: Examples = JSON.parse(readFileSync(recorded, 'utf8'));
  const kept = Object.entries(examples).map(([name, operations]) => [name, pick(operations, (one) => !isOwn(one))]);
  const same = Object.values(examples).map((operations) => pick(operations, isOwn));
  const names = [...new Set(same.flatMap((operations) => Object.keys(operations)))].sort();
  const all = names.map((name) => [name, distinct(same.flatMap((operations) => operations[name] ?? []))] as const);
  writeFileSync(recorded, printJson(asJson(Object.fromEntries(kept))));
  const refusals = [...failures].sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(
    own,
    `${head}/** Answers to requests that fail, by code. */
export const failureExamples: Readonly<Record<string, JsonValue>> = ${JSON.stringify(Object.fromEntries(refusals))};

export const ownExamples: OperationExamples = ${JSON.stringify(Object.fromEntries(all))};
`,
  );
}

function pick(operations: OperationExamples, isWanted: (name: string) => boolean): OperationExamples {
  return Object.fromEntries(Object.entries(operations).filter(([name]) => isWanted(name)));
}

function distinct<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function asJson(value: unknown): Parameters<typeof printJson>[0] {
  return JSON.parse(JSON.stringify(value));
}
