/**
 * What `platform diff` says of changes of a project's own code. `npm run golden` writes `expected-extensions/` anew; the
 * difference is the review.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { diffSchemas, type ListedExtensions, printDiff, resolveApi, ruleIds } from '@tablewright/compiler';
import type { Shape } from '@tablewright/runtime/language';
import { describe, expect, test } from 'vitest';
import { emitClient } from '../../../packages/compiler/src/client/index.ts';
import { shapeFits } from '../../../packages/compiler/src/diff/compare/compare-extensions.ts';
import { grantRoutes } from '../../../packages/compiler/src/extensions/type-routes.ts';
import { emitOpenApi } from '../../../packages/compiler/src/openapi/index.ts';
import { schemaOf, world } from './world.ts';

type Route = ListedExtensions['routes'][number];

const text: Shape = { kind: 'string' };
const number: Shape = { kind: 'number' };
const nothing: Shape = { kind: 'null' };
const literal = (...values: readonly string[]): Shape => ({ kind: 'literal', values });
const union = (...of: readonly Shape[]): Shape => ({ kind: 'union', of });

/** `{ name: shape }`; a name that ends with `?` is optional. */
function object(members: Readonly<Record<string, Shape>>): Extract<Shape, { kind: 'object' }> {
  const all = Object.entries(members).map(([name, shape]) =>
    name.endsWith('?') ? { name: name.slice(0, -1), optional: true as const, shape } : { name, shape },
  );
  return { kind: 'object', members: all };
}

const report: Route = {
  method: 'GET',
  path: '/reports/:year',
  roles: ['editor', 'reader'],
  params: object({ year: number }),
  query: object({ 'kind?': literal('long', 'short') }),
  response: object({ total: number, state: literal('open', 'closed') }),
};
const order: Route = {
  method: 'POST',
  path: '/orders',
  roles: ['editor'],
  body: object({ label: text, 'note?': text }),
};
const before: ListedExtensions = {
  routes: [order, report],
  hooks: ['after articles.update', 'before articles.create', 'before comments.create'],
};

const withReport = (change: Partial<Route>): ListedExtensions => ({
  ...before,
  routes: [order, { ...report, ...change }],
});
const withOrder = (change: Partial<Route>): ListedExtensions => ({
  ...before,
  routes: [{ ...order, ...change }, report],
});
const withHooks = (...hooks: readonly string[]): ListedExtensions => ({ ...before, hooks });

/** By a name that is a file's; where the before is another one, it is the first of two. */
const catalogue: Readonly<Record<string, ListedExtensions | readonly [ListedExtensions, ListedExtensions]>> = {
  'route-added': { ...before, routes: [...before.routes, { method: 'GET', path: '/status', roles: ['public'] }] },
  'route-removed': { ...before, routes: [order] },
  'route-with-another-method': withOrder({ method: 'PUT' }),
  'route-with-another-path': withOrder({ path: '/purchases' }),
  'route-parameter-renamed': withReport({ path: '/reports/:y', params: object({ y: number }) }),
  'route-granted': withOrder({ roles: ['editor', 'reader'] }),
  'route-revoked': withReport({ roles: ['editor'] }),
  'parameter-retyped': withReport({ params: object({ year: literal('2024', '2025') }) }),
  'query-member-added': withReport({ query: object({ 'kind?': literal('long', 'short'), 'from?': text }) }),
  'query-member-needed': withReport({ query: object({ kind: literal('long', 'short') }) }),
  'query-value-removed': withReport({ query: object({ 'kind?': literal('long') }) }),
  'query-becomes-text': withReport({ query: object({ 'kind?': text }) }),
  'query-becomes-list': withReport({ query: object({ 'kind?': { kind: 'array', of: text } }) }),
  'body-member-removed': withOrder({ body: object({ label: text }) }),
  'body-member-needed': withOrder({ body: object({ label: text, note: text }) }),
  'body-member-optional': withOrder({ body: object({ 'label?': text, 'note?': text }) }),
  'body-dropped': [before, { ...before, routes: [{ method: 'POST', path: '/orders', roles: ['editor'] }, report] }],
  'answer-member-added': withReport({
    response: object({ total: number, state: literal('open', 'closed'), mean: number }),
  }),
  'answer-member-removed': withReport({ response: object({ total: number }) }),
  'answer-now-nullable': withReport({
    response: object({ total: union(number, nothing), state: literal('open', 'closed') }),
  }),
  'answer-value-added': withReport({ response: object({ total: number, state: literal('open', 'closed', 'lost') }) }),
  'answer-value-removed': withReport({ response: object({ total: number, state: literal('open') }) }),
  'answer-begun': withOrder({ response: object({ id: number }) }),
  'hook-added': withHooks(...before.hooks, 'before articles.delete'),
  'second-hook-added': withHooks(...before.hooks, 'before comments.create'),
  'hook-removed': withHooks('before articles.create', 'before comments.create'),
  'first-create-hook-added': [withHooks(), withHooks('before comments.create')],
  'last-create-hook-removed': withHooks('after articles.update', 'before articles.create'),
  'hook-after-commit-added': withHooks('afterCommit articles.delete', ...before.hooks),
  'hook-after-commit-removed': [withHooks('afterCommit articles.update'), withHooks()],
};

const schema = schemaOf(world);
const cases = Object.entries(catalogue).map(([name, change]) => {
  const [was, is] = 'routes' in change ? [before, change] : change;
  return { name, was, is, diff: diffSchemas(schema, schema, { extensions: { before: was, after: is } }) };
});

test('nothing is said of two that are the same', () => {
  expect(diffSchemas(schema, schema, { extensions: { before, after: structuredClone(before) } }).changes).toEqual([]);
});

test.each(cases)('$name is judged as it was reviewed', async ({ name, diff }) => {
  const file = join(import.meta.dirname, 'expected-extensions', `${name}.txt`);
  await expect(printDiff(diff, 'text', { from: 'before', to: 'after', acknowledged: new Set() })).toMatchFileSnapshot(
    file,
  );
});

test('no expectation is left over', () => {
  const left = readdirSync(join(import.meta.dirname, 'expected-extensions'));
  expect(left.sort()).toEqual(cases.map(({ name }) => `${name}.txt`).sort());
});

test('every rule about routes and hooks has its case', () => {
  const met = new Set(cases.flatMap(({ diff }) => diff.changes.map(({ rule }) => rule)));
  expect(ruleIds().filter((id) => /^(?:route|hook)-/.test(id) && !met.has(id))).toEqual([]);
});

/** The OpenAPI document, or the client, of a role. */
function printed({ routes, hooks }: ListedExtensions, role: string, surface: 'openapi' | 'client'): string {
  const api = resolveApi(schema);
  const access = api.access.find((one) => one.access.roles.includes(role))?.access;
  if (access === undefined) throw new Error(`There is no role ${role}.`);
  const hooked = api.collections
    .map(({ descriptor }) => descriptor.name)
    .filter((name) => hooks.some((hook) => hook.endsWith(` ${name}.create`)));
  const whole = { ...api, customRoutes: grantRoutes(api, routes), hooked };
  if (surface === 'openapi') return JSON.stringify(emitOpenApi(whole, access));
  return JSON.stringify(emitClient(whole, access, (_, context) => JSON.stringify(context)));
}

describe.each(['openapi', 'client'] as const)('%s differs exactly where a verdict says so', (surface) => {
  test.each(cases)('$name', ({ was, is, diff }) => {
    for (const role of ['admin', 'public', 'editor', 'reader']) {
      const said = diff.changes.some(({ roles, verdicts }) => roles.includes(role) && verdicts[surface] !== undefined);
      expect([role, said]).toEqual([role, printed(was, role, surface) !== printed(is, role, surface)]);
    }
  });
});

describe('shapes', () => {
  const how = { closed: true, texts: false, anyLiteral: false };
  const json: Shape = { kind: 'json' };
  const date: Shape = { kind: 'date' };
  const flag: Shape = { kind: 'boolean' };
  const open = (rest: Shape): Shape => ({ kind: 'object', members: [], rest });

  test.each([
    ['what is said in two ways', union(text, nothing), union(nothing, text), true],
    ['a value of a list', literal('a'), text, true],
    ['a list of values', text, literal('a'), false],
    ['any JSON', object({ a: text }), json, true],
    ['of any JSON less', json, text, false],
    ['a time as text', date, text, true],
    ['a text as time', text, date, false],
    ['both truths', flag, { kind: 'literal', values: [true, false] }, true],
    ['one truth', flag, { kind: 'literal', values: [true] }, false],
    ['a number in a text', number, text, false],
    ['a member less', object({ a: text }), object({ a: text, 'b?': text }), true],
    ['a member more', object({ a: text, b: text }), object({ a: text }), false],
    ['members among others', object({ a: text }), open(text), true],
    ['others among members', open(text), object({ 'a?': text }), false],
    ['others of another form', object({ a: number }), open(text), false],
    ['a part of a union of objects', object({ a: text }), union(object({ b: text }), object({ 'a?': text })), true],
    ['lists', { kind: 'array', of: literal('a') }, { kind: 'array', of: text }, true],
  ] as const satisfies readonly (readonly [string, Shape, Shape, boolean])[])('%s', (_, inner, outer, fits) => {
    expect(shapeFits(inner, outer, how)).toBe(fits);
  });

  test('of an address are texts, and one value is a list of one', () => {
    const texts = { ...how, texts: true };
    expect(shapeFits(number, text, texts)).toBe(true);
    expect(shapeFits(literal('a'), { kind: 'array', of: text }, texts)).toBe(true);
    expect(shapeFits({ kind: 'array', of: text }, text, texts)).toBe(false);
    expect(shapeFits(object({}), object({ a: { kind: 'array', of: text } }), texts)).toBe(true);
  });
});
