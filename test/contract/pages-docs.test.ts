/** Commands and requests of pages that have few of them: history, explaining, OpenAPI, packages of clients. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readText } from '../architecture/files.ts';
import { createDatabase } from '../support/database.ts';
import { blocksOf, readExamples } from '../support/examples.ts';
import { adminToken, createProject, runPlatform } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { runBlocks } from '../support/shell.ts';

const history = readText('docs/history.md');
const [collections = ''] = blocksOf(history, 'ts');
const [rules = ''] = blocksOf(history, 'yaml');

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    system: true,
    sql: `CREATE TABLE articles (id integer PRIMARY KEY, title text, body text, status text, metadata text);
      CREATE TABLE orders (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id integer);
      CREATE TABLE counters (id integer PRIMARY KEY);
      CREATE TABLE sessions (id integer PRIMARY KEY);
      INSERT INTO articles VALUES (1, 'One', 'Text', 'published', '');`,
    config: `{ ${collections} }`,
    permissions: `roles: { editor: {} }\n${rules}`,
    environment: { EXPLAIN: 'true' },
  });
});
afterAll(() => project?.close());

it('history: the same request twice makes one item', async () => {
  const [request] = readExamples(history);
  const send = () => project.admin(request?.path ?? '', { ...request });
  const [first, second] = [await send(), await send()];
  expect([first.status, first.json.data.customer_id]).toEqual([200, 4]);
  expect(second.text).toBe(first.text);
  expect(await project.rows('SELECT count(*)::int AS orders FROM orders')).toEqual([{ orders: 1 }]);
});

it('history: only the tag of what is there now lets a change pass', async () => {
  const [, request] = readExamples(history);
  const send = (headers: Readonly<Record<string, string>>) =>
    project.admin(request?.path ?? '', { ...request, headers: { ...request?.headers, ...headers } });
  const refused = await send({});
  expect(failure(refused)).toBe('422 UNPROCESSABLE_ENTITY');
  const changed = await send({ 'if-match': refused.json.errors[0].extensions.etag });
  expect([changed.status, changed.json.data]).toEqual([200, { title: 'Second edition' }]);
});

it('history: collections leave the traces that the configuration asks for', async () => {
  for (const name of ['counters', 'sessions']) {
    expect((await project.admin(`/items/${name}`, { method: 'POST', body: { id: 1 } })).status).toBe(200);
  }
  const traces = (path: string) => project.admin(`/${path}?groupBy=collection&sort=collection`);
  expect((await traces('revisions')).json.data).toEqual([{ collection: 'articles' }, { collection: 'orders' }]);
  expect((await traces('activity')).json.data).toEqual([
    ...[{ collection: 'articles' }, { collection: 'counters' }, { collection: 'orders' }],
  ]);
});

it('openapi: the server answers its document', async () => {
  for (const { method, path } of readExamples(readText('docs/openapi.md'))) {
    expect((await project.ask(path, { method })).json.openapi).toBe('3.1.0');
  }
});

it('explaining: every request of the page is answered', async () => {
  const status = `curl() { command curl -sS -w '\\n%{http_code}\\n' "$@" | tail -n 1; }`;
  const printed = await runBlocks(blocksOf(readText('docs/explaining.md'), 'sh'), {
    folder: project.folder,
    url: project.url,
    variables: { ADMIN_TOKEN: adminToken },
    prelude: status,
  });
  expect(printed.map((text) => text.trim())).toEqual(['200', '200']);
});

it('client packages: the command of the page writes the clients of two classes', async () => {
  const database = await createDatabase('CREATE TABLE articles (id integer PRIMARY KEY, title text)');
  const other = await createProject();
  try {
    const text = 'roles: { editor: {} }\npermissions: { editor: { articles: { read: true } } }\n';
    await runBlocks([`cat > permissions.yaml <<'END'\n${text}END`], { folder: other.folder, url: '', variables: {} });
    const generated = await runPlatform(['generate', '--project', other.folder], { DATABASE_URL: database.url });
    expect(generated.code, generated.stderr).toBe(0);
    const command = fileURLToPath(new URL('../../packages/cli/bin/platform.cjs', import.meta.url));
    const prelude = `rm -r generated; npx() { shift; '${process.execPath}' '${command}' "$@" 2>&1; }`;
    const commands = blocksOf(readText('docs/client-packages.md'), 'sh');
    await runBlocks(commands, { folder: other.folder, url: '', variables: {}, prelude });
    const written = join(other.folder, 'generated');
    expect(readdirSync(join(written, 'client')).toSorted()).toEqual(['editor', 'public']);
    expect(readFileSync(join(written, 'manifest.json'), 'utf8')).toContain('client/editor/index.js');
  } finally {
    await other.remove();
    await database.drop();
  }
});
