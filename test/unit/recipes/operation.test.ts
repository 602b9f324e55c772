/** Recipe: an operation is added in two files, its declaration and its implementation; everything else follows. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const repository = join(import.meta.dirname, '../../..');
const copy = mkdtempSync(join(tmpdir(), 'platform-recipe-'));

/** Files of the recipe: text before which the new one stands. */
const patches = [
  {
    file: 'packages/runtime/src/language/operations/utils.ts',
    before: '    utilsCacheClear: {',
    text: `    utilsEcho: {
      route: 'GET /utils/echo',
      summary: 'Say it again',
      description: 'Answers the text that was sent.',
      access: 'signed-in',
      input: { text: { type: 'string', maxLength: 5 } },
      output: { description: 'The text.', data: { type: 'string' } },
      failures: commonFailures,
      graphql: { query: 'utils_echo' },
      client: 'utils.echo(text)',
    },
`,
  },
  {
    file: 'packages/runtime/src/http/operations/utils.ts',
    before: '    async utilsCacheClear(',
    text: '    utilsEcho: async ({ text }) => ({ value: text }),\n',
  },
];

/** Asks a server of the copy, and prints every description that the copy makes. */
const script = `
import { createServer } from './packages/runtime/src/http/server.ts';
import { adminToken, api, environmentOf } from './packages/runtime/src/http/testing/fixture.ts';
import { createLateDatabase } from './packages/runtime/src/serve/late-database.ts';
import { createPlanner } from './packages/runtime/src/query/planner.ts';
import { compile } from './packages/compiler/src/index.ts';
import { classFiles, jsonOfClass, sdlOfClass } from './packages/runtime/src/language/index.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { printClientOperations } from './scripts/reference/client.ts';
import { printOperations } from './scripts/reference/operations.ts';
const schema = JSON.parse(readFileSync('./schema.json', 'utf8'));
const names = readdirSync('./templates', { withFileTypes: true }).filter((entry) => entry.isFile()).map(({ name }) => name);
const templates = new Map(names.map((name) => [name, readFileSync('./templates/' + name, 'utf8')]));
const { files } = compile(schema, { templates, output: 'generated', extensions: [], modules: [] });
const textOf = (path) => files.find((file) => file.path === path).contents;
const graphql = sdlOfClass(textOf(classFiles.graphql), 'admin');
const { database } = createLateDatabase(async () => { throw new Error('away'); });
const watch = { drifts: () => [], closed: () => new Set(), checked: () => true, damaged: () => false, refresh: async () => {} };
const environment = environmentOf({ LOG_LEVEL: 'silent', ADMIN_TOKEN: adminToken });
const whole = { ...api, graphql: async () => graphql };
const server = createServer({ api: whole, database, environment, planner: createPlanner(whole), watch });
const headers = { authorization: 'Bearer ' + adminToken, 'content-type': 'application/json' };
const ask = async (request) => { const { statusCode, body } = await server.inject(request); return [statusCode, JSON.parse(body)]; };
const query = (text) => ask({ method: 'POST', url: '/graphql/system', headers, payload: JSON.stringify({ query: text }) });
const result = {
  anonymous: await ask({ url: '/utils/echo?text=hello' }),
  answered: await ask({ url: '/utils/echo?text=hello', headers }),
  missing: await ask({ url: '/utils/echo', headers }),
  long: await ask({ url: '/utils/echo?text=hello+all', headers }),
  graphql: await query('{ utils_echo(text: "hello") }'),
  graphqlLong: await query('{ utils_echo(text: "hello all") }'),
  openapi: JSON.parse(jsonOfClass(textOf(classFiles.openapi), 'admin')).paths['/utils/echo'],
  sdl: graphql,
  client: printClientOperations(),
  declared: textOf('client/admin/index.d.ts'),
  docs: printOperations(),
};
await server.close();
process.stdout.write(JSON.stringify(result));
`;

let result: Readonly<Record<string, unknown>>;

beforeAll(() => {
  for (const path of ['packages', 'scripts', 'templates', 'biome.json', 'package.json']) {
    cpSync(join(repository, path), join(copy, path), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !/\/(?:dist|\.platform|cli)$/.test(source),
    });
  }
  symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
  cpSync(join(repository, 'test/golden/access/schema.json'), join(copy, 'schema.json'));
  for (const { file, before, text } of patches) {
    const source = readFileSync(join(repository, file), 'utf8');
    expect(source.split(before)).toHaveLength(2);
    writeFileSync(join(copy, file), source.replace(before, text + before));
  }
  writeFileSync(join(copy, 'recipe.mjs'), script);
  const printed = execFileSync(process.execPath, ['recipe.mjs'], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 50_000_000,
  });
  result = JSON.parse(printed);
}, 120_000);

afterAll(() => rmSync(copy, { recursive: true, force: true }));

it('two files are enough', () => {
  expect(patches.length).toBeLessThanOrEqual(2);
});

it('REST answers it, to the callers and within the limits that are declared', () => {
  expect(result.answered).toEqual([200, { data: 'hello' }]);
  expect(result.anonymous).toMatchObject([403, { errors: [{ extensions: { code: 'FORBIDDEN' } }] }]);
  expect(result.missing).toMatchObject([400, { errors: [{ extensions: { code: 'INVALID_QUERY' } }] }]);
  expect(result.long).toMatchObject([400, { errors: [{ extensions: { code: 'INVALID_QUERY' } }] }]);
});

it('GraphQL answers it the same', () => {
  expect(result.graphql).toEqual([200, { data: { utils_echo: 'hello' } }]);
  expect(result.graphqlLong).toMatchObject([200, { errors: [{ extensions: { code: 'INVALID_QUERY' } }] }]);
  expect(result.sdl).toContain('utils_echo(text: String!): String');
});

it('OpenAPI describes it', () => {
  expect(result.openapi).toMatchObject({
    get: {
      operationId: 'utilsEcho',
      tags: ['utils'],
      parameters: [{ name: 'text', in: 'query', required: true, schema: { type: 'string', maxLength: 5 } }],
      responses: { 200: { description: 'The text.' }, 401: {} },
    },
  });
});

it('the client has a method for it', () => {
  expect(result.client).toContain('echo(text: string, options?: RequestOptions): Promise<string>;');
  expect(result.client).toContain("data({ method: 'GET', path: ['utils', 'echo'], query: { text }, options })");
  expect(result.declared).toMatch(/Pick<UtilsHandler, [^>]*'echo'/);
});

it('the docs list it', () => {
  expect(result.docs).toMatch(/`GET \/utils\/echo` +\| `utils_echo` +\| `utils.echo` +\| signed in /);
});
