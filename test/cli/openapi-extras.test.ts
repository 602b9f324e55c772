import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withExamples } from '../../packages/compiler/src/openapi/examples/insert.ts';
import { readClassDocument, readClasses } from '../support/class-documents.ts';
import type { TestDatabase } from '../support/database.ts';
import { createMagazineDatabase } from '../support/magazine.ts';
import { elements, isObject, type JsonObject, member, members } from '../support/openapi/json.ts';
import { createJudge } from '../support/openapi/schemas.ts';
import { type CommandResult, createProject, runPlatform, startUnchecked } from '../support/platform.ts';
import { typeCheck } from '../support/type-check.ts';
import { runWarm } from '../support/warm-command.ts';

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  database = await createMagazineDatabase();
  project = await createProject('fixtures/magazine');
  expect((await generate()).code).toBe(0);
});
afterAll(() => Promise.all([database?.drop(), project?.remove()]));

function generate(...args: readonly string[]): Promise<CommandResult> {
  return runWarm(['generate', '--project', project.folder, ...args], { DATABASE_URL: database.url });
}

async function documentOf(accessClass: string): Promise<JsonObject> {
  const document: unknown = JSON.parse(await readClassDocument(project.folder, 'openapi', accessClass));
  if (!isObject(document)) throw new Error('The document is no object.');
  return document;
}

/** Everything in a document that has examples: where its schema is, and the values. */
function exemplified(
  value: unknown,
  place: readonly string[] = [],
): readonly [readonly string[], readonly unknown[]][] {
  const examples = members(member(value, 'examples')).map(([, one]) => member(one, 'value'));
  const own: [readonly string[], readonly unknown[]][] =
    examples.length > 0 && member(value, 'schema') !== undefined ? [[[...place, 'schema'], examples]] : [];
  const inner = Array.isArray(value) ? [...elements(value).entries()] : members(value);
  return [...own, ...inner.flatMap(([name, part]) => exemplified(part, [...place, String(name)]))];
}

it('every example of the sample is what its schema says, read strictly', async () => {
  let shown = 0;
  for (const accessClass of await readClasses(project.folder)) {
    const document = await documentOf(accessClass);
    const judge = createJudge(document);
    for (const [place, values] of exemplified(document)) {
      // Documents leave answers open, but say all that is in them.
      const reading = place.includes('responses') ? 'closed' : 'open';
      for (const value of values) expect(judge(reading, place, value), place.join('/')).toEqual([]);
      shown += values.length;
    }
  }
  expect(shown).toBeGreaterThan(100);
});

it('prints the document of a class for other tools', async () => {
  const printed = await runWarm(['openapi', 'public', '--project', project.folder]);
  expect([printed.code, printed.stdout]).toEqual([0, await readClassDocument(project.folder, 'openapi', 'public')]);
  const file = ['--project', project.folder, '--output', 'public.graphql'];
  expect((await runWarm(['graphql', 'public', ...file])).code).toBe(0);
  expect(await readFile(join(project.folder, 'public.graphql'), 'utf8')).toMatch(/^type Query \{\n/);
  const unknown = await runWarm(['openapi', 'nobody', '--project', project.folder]);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringContaining('Access classes are admin, public, author,'),
  ]);
});

it('shows no example that names what the class may not see any more', async () => {
  const document = await documentOf('public');
  const operation = 'readSingleItemsTags';
  const path = ['paths', '/items/tags/{key}', 'get', 'responses', '200', 'content', 'application/json'];
  const shownWith = (answer: unknown): unknown => {
    const example = { request: 'GET /items/tags/1', status: 200, answer: JSON.parse(JSON.stringify(answer)) };
    const plain: Parameters<typeof withExamples>[0] = JSON.parse(JSON.stringify(document));
    const shown = withExamples(plain, { [operation]: [example] });
    return member(path.reduce<unknown>(member, shown), 'examples');
  };
  expect(shownWith({ data: { id: 1, name: 'One' } })).toMatchObject({ example1: { summary: 'GET /items/tags/1' } });
  expect(shownWith({ data: { id: 1, secret_note: 'hidden' } })).toBeUndefined();
  expect(shownWith({ data: { id: 1, name: 7 } })).toBeUndefined();
  expect(shownWith({ data: { id: 1, articles: [{ id: 2, created_by: null }] } })).toBeUndefined();
});

it('records what a server is asked, without secrets, and shows it when it is compiled again', async () => {
  const file = join(project.folder, 'openapi-examples.json');
  await writeFile(file, '{}\n');
  const server = await startUnchecked(project.folder, database.url, {}, ['--record-examples']);
  const sent = { name: 'Recorded' };
  const made = await server.admin('/items/tags?fields=id,name', { method: 'POST', body: sent });
  await server.ask('/items/tags?limit=1&sort=id&fields=id,name');
  await server.ask('/items/tags?limit=2&sort=id&fields=id,name');
  await server.ask('/items/orders');
  await server.ask('/server/info?access_token=test-admin-token-0123456789-0123456789');
  const hidden = 'mutation { t: utils_random_string(length: 9) }';
  expect((await server.admin('/graphql/system', { method: 'POST', body: { query: hidden } })).status).toBe(200);
  const query = '{ tags(limit: 1) { id } }';
  expect((await server.ask('/graphql', { method: 'POST', body: { query } })).status).toBe(200);
  await server.stop();
  const text = await readFile(file, 'utf8');
  const recorded: Record<string, Record<string, unknown>> = JSON.parse(text);
  expect(text).not.toContain('access_token');
  expect(recorded.admin?.createItemsTags).toEqual([
    { request: 'POST /items/tags?fields=id,name', body: sent, status: 200, answer: made.json },
  ]);
  expect(recorded.public?.readItemsTags).toMatchObject([{ request: 'GET /items/tags?limit=1&sort=id&fields=id,name' }]);
  expect(recorded.public?.readItemsOrders).toBeUndefined();
  // A mutation may write and answer a secret under any name.
  expect([recorded.admin?.graphqlSystem, recorded.public?.graphqlItems]).toMatchObject([
    undefined,
    [{ body: { query } }],
  ]);

  expect((await generate('--offline')).code).toBe(0);
  const create = ['paths', '/items/tags', 'post', 'requestBody', 'content', 'application/json', 'examples'];
  expect(create.reduce<unknown>(member, await documentOf('admin'))).toEqual({
    example1: { summary: 'POST /items/tags?fields=id,name', value: sent },
  });
});

it('refuses to record in production, by several processes, and over something else', async () => {
  const start = (environment: Record<string, string>, ...args: readonly string[]): Promise<CommandResult> =>
    runPlatform(['start', '--project', project.folder, '--record-examples', ...args], {
      DATABASE_URL: database.url,
      ...environment,
    });
  expect(await start({ NODE_ENV: 'production' })).toMatchObject({ code: 2 });
  expect(await start({}, '--workers', '2')).toMatchObject({ code: 2 });
  await writeFile(join(project.folder, 'openapi-examples.json'), '[1]');
  const { code, stderr } = await generate('--offline');
  expect(stderr).toContain('holds something else than recorded examples');
  expect(code).toBe(1);
});

it('writes types by openapi-typescript where the configuration asks for them', async () => {
  const small = await createProject();
  const runSmall = async (command: string, ...args: readonly string[]): Promise<number> => {
    const { code } = await runWarm([command, '--project', small.folder, ...args], { DATABASE_URL: database.url });
    return code;
  };
  const generateSmall = async (openapiTypes: boolean, ...args: readonly string[]): Promise<number> => {
    const config = `export default { database: { include: ['tags'], systemSchema: 'none' }, openapiTypes: ${openapiTypes} };`;
    await writeFile(join(small.folder, 'platform.config.ts'), config);
    return runSmall('generate', ...args);
  };
  const typed = async (): Promise<readonly string[]> =>
    (await readdir(join(small.folder, 'generated/openapi'))).filter((name) => name.endsWith('.d.ts'));
  await writeFile(join(small.folder, 'permissions.yaml'), 'permissions: { public: { tags: { read: true } } }\n');
  expect(await generateSmall(true)).toBe(0);
  expect(await typed()).toEqual(['admin.d.ts', 'public.d.ts']);
  await writeFile(
    join(small.folder, 'generated', 'typed.ts'),
    `import type { components, paths } from './openapi/public.d.ts';
     export const one: components['schemas']['ItemsTags'] = { id: 1, name: 'One' };
     // @ts-expect-error: not everybody may write
     export const made: paths['/items/tags']['post'] = {};`,
  );
  expect(await typeCheck(small.folder)).toBe('');
  expect(await generateSmall(true, '--offline', '--check')).toBe(0);
  expect(await runSmall('check')).toBe(0);
  await writeFile(join(small.folder, 'generated/openapi/public.d.ts'), '// edited\n');
  expect(await runSmall('check')).toBe(1);
  expect(await generateSmall(true, '--offline', '--force')).toBe(0);
  expect(await generateSmall(false, '--offline')).toBe(0);
  expect(await typed()).toEqual([]);
  await small.remove();
}, 120_000);
