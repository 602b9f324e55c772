/** Routes of extensions: what is read of them, and what is wrong with them. */
import { expect, test } from 'vitest';
import { type CompileOptions, compile } from '../compile/compile.ts';
import { blogSchema } from '../testing/blog.ts';
import { templates } from '../testing/compile-fixture.ts';

const start = 'export default defineExtension(({ route, route: other }) => {\n';

function compileRoutes(body: string, options: Partial<CompileOptions> = {}, header = '') {
  const source = { path: 'extensions/one.ts', text: `${header}${start}${body}\n});`, from: '../extensions/one.ts' };
  return compile(blogSchema(), { templates, extensions: [source], ...options });
}

function complaints(body: string): readonly string[] {
  const { diagnostics, files } = compileRoutes(body);
  expect(files).toEqual([]);
  return diagnostics.map(({ code, place, message, hint }) => `${code} ${place} ${message} ${hint}`);
}

/** The routes that the manifest has. */
function routesOf(...given: Parameters<typeof compileRoutes>) {
  const { diagnostics, files } = compileRoutes(...given);
  expect(diagnostics).toEqual([]);
  const manifest = files.find(({ path }) => path === 'manifest.json');
  return JSON.parse(manifest?.contents ?? '').routes;
}

const typed = (type: string, address = 'POST /x') =>
  `route<{ ${type} }>('${address}', { roles: ['public'] }, () => {});`;

test('routes are read with their types, sorted by path', () => {
  expect(
    routesOf(
      `${typed('body: string', 'POST /b/:id').replace('body', 'params: { id: number }; body')}${typed('', 'GET /a')}`,
    ),
  ).toEqual([
    { method: 'GET', path: '/a', access: expect.arrayContaining(['admin', 'public']) },
    {
      method: 'POST',
      path: '/b/:id',
      access: expect.arrayContaining(['admin', 'public']),
      params: { kind: 'object', members: [{ name: 'id', shape: { kind: 'number' } }] },
      body: { kind: 'string' },
    },
  ]);
});

const literal = (...values: readonly unknown[]) => ({ kind: 'literal', values });
const union = (...of: readonly unknown[]) => ({ kind: 'union', of });
const object = (...members: readonly unknown[]) => ({ kind: 'object', members });

test.each([
  ['string | null', union({ kind: 'null' }, { kind: 'string' })],
  ["'b' | 'a'", literal('a', 'b')],
  ["10 | 9 | 'a' | true", literal(true, 9, 10, 'a')],
  ['boolean | null', union({ kind: 'boolean' }, { kind: 'null' })],
  ['boolean', { kind: 'boolean' }],
  ['readonly Date[]', { kind: 'array', of: { kind: 'date' } }],
  ['unknown', { kind: 'json' }],
  ['Record<string, number>', { ...object(), rest: { kind: 'number' } }],
  [
    '{ a?: string; b: number | undefined }',
    object(
      { name: 'a', optional: true, shape: { kind: 'string' } },
      { name: 'b', optional: true, shape: { kind: 'number' } },
    ),
  ],
  [
    "Omit<{ a: 1; b: 2 }, 'a'> & { c: null }",
    object({ name: 'b', shape: literal(2) }, { name: 'c', shape: { kind: 'null' } }),
  ],
  ['(typeof sizes)[number]', literal('l', 's')],
  ["Pick<ArticlesItem, 'title'>", object({ name: 'title', shape: { kind: 'string' } })],
  ['Shared', object({ name: 'shared', shape: { kind: 'boolean' } })],
])('%s', (type, shape) => {
  const modules = [{ path: 'lib/shared.ts', text: 'export interface Shared { shared: boolean }' }];
  const header = `import type { Shared } from '../lib/shared.ts';
import type { ArticlesItem } from '../src/out/collections/articles.js';
const sizes = ['s', 'l'] as const;
`;
  const [route] = routesOf(typed(`response: ${type}`), { modules, output: 'src/out' }, header);
  expect(route.response).toEqual(shape);
});

test.each([
  ['response: any', '"response" is "any"'],
  ['response: Missing', '"response" is "any", or of a type that is not known here'],
  ['response: { a: { b: bigint }[] }', '"response.a[].b" is "bigint", which JSON has not'],
  ['response: { a(): void }', '"response.a" is a function'],
  ['response: Map<string, string>', '"response" is an object of the class "Map"'],
  ['response: Promise<string>', '"response" is an object of the class "Promise"'],
  ['response: [string, number]', '"response" is a tuple'],
  ['response: Tree', '"response.children[]" leads back to itself'],
  ['response: string & { brand: 1 }', '"response" is no object'],
  ['response: Uppercase<string>', 'which JSON has not'],
  ['response: (string | undefined)[]', '"response[]" may be undefined'],
  ['response: string | undefined', '"response" may be undefined'],
  ['body: { a: string } | undefined', '"body" may be undefined'],
  ['respond: string', '"respond" is no part of a route'],
  ['query: string[]', '"query" must be an object'],
  ['query: { a: { b: string } }', '"query.a" must be a value'],
  ['query: { a: string | null }', '"query.a" must be a value'],
  ['query: { access_token: string }', '"query.access_token" is where tokens stand'],
  ['params: { id: string }', '"params.id" does not stand in the path'],
])('a type that cannot be: %s', (type, message) => {
  const [first = '', ...others] = complaints(`interface Tree { children: Tree[] }\n${typed(type)}`);
  expect(first).toMatch(/^extension-route extensions\/one\.ts:3:7 /);
  expect(first).toContain(message);
  expect(others).toEqual([]);
});

test.each([
  [typed('body: string', 'GET /x'), '"body" is what a GET has not'],
  [typed('params: { id?: string }', 'GET /x/:id'), '"params.id" must be one value'],
  [typed('params: { id: string[] }', 'GET /x/:id'), '"params.id" must be one value'],
  [typed('', 'GET /x/:id'), '"params.id" stands in the path and has no type'],
  [typed('', 'GET /items/x'), 'The path "/items" is the platform\'s own.'],
  [typed('', 'GET /auth'), 'The path "/auth" is the platform\'s own.'],
  [typed('', 'GET /:any'), 'The path "/:any" cannot be used.'],
  [typed('', 'GET /x/'), 'The path "/x/" cannot be used.'],
  [typed('', 'GET /x/..'), 'The path "/x/.." cannot be used.'],
  [typed('', 'GET /x/%41'), 'The path "/x/%41" cannot be used.'],
  [typed('params: { a: string }', 'GET /x/:a/:a'), 'has a parameter twice'],
  [typed('', 'HEAD /x'), 'The address of a route is none.'],
  ['route(path, { roles: [] }, () => {});', 'The address of a route is none.'],
  ["route('GET /x', { roles }, () => {});", 'The roles of a route are not written down.'],
  ["route('GET /x', {}, () => {});", 'The roles of a route are not written down.'],
  ["other('GET /x', { roles: ['publik'] }, () => {});", 'There is no role "publik". Did you mean "public"?'],
])('an address or roles that cannot be: %s', (body, message) => {
  const [first = '', ...others] = complaints(body);
  expect(first).toMatch(/^extension-route extensions\/one\.ts:2:\d+ /);
  expect(first).toContain(message);
  expect(others).toEqual([]);
});

test('two routes of one address, and one place under two names, are named', () => {
  expect(complaints(`${typed('', 'GET /x')}\n${typed('', 'GET /x')}`)).toEqual([
    'extension-route extensions/one.ts:3:13 There are two routes "GET /x". The other one stands at extensions/one.ts:2:13.',
  ]);
  const [first] = complaints(
    `${typed('params: { a: string }', 'GET /x/:a')}\n${typed('params: { b: string }', 'POST /x/:b')}`,
  );
  expect(first).toContain('The path "/x/:b" gives other names to its parameters.');
});

test('roles that may call different routes are of different classes', () => {
  const schema = blogSchema();
  const roles = ['one', 'two'].map((name) => ({ name, description: null, admin: false, app: false }));
  const extensions = [
    {
      path: 'extensions/one.ts',
      text: `${start}route('GET /x', { roles: ['two'] }, () => {});\n});`,
      from: '../extensions/one.ts',
    },
  ];
  const classes = (given: CompileOptions['extensions'] = []) =>
    compile({ ...schema, permissions: [], roles }, { templates, extensions: given })
      .files.map(({ path }) => path)
      .filter((path) => path.startsWith('access/'));
  expect(classes()).toEqual(['access/admin.js', 'access/public.js']);
  expect(classes(extensions)).toEqual(['access/admin.js', 'access/public.js', 'access/two.js']);
});
