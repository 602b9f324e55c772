import { expect, test } from 'vitest';
import { resolveApi } from '../passes/resolve-api.ts';
import { blogSchema } from '../testing/blog.ts';
import { checkExtensions } from './check-extensions.ts';

const api = resolveApi(blogSchema());

function check(text: string): readonly string[] {
  const source = { path: 'extensions/one.ts', text, from: '../extensions/one.ts' };
  return checkExtensions(api, [source]).map(({ code, place, message, hint }) => `${code} ${place} ${message} ${hint}`);
}

const start = 'export default defineExtension(';

test('events that there are pass, however the tools are named', () => {
  expect(check(`${start}({ before }) => {\n  before('articles.create', () => {});\n});`)).toEqual([]);
  expect(check(`${start}({ after: then }) => {\n  then('articles.delete', () => {});\n});`)).toEqual([]);
  expect(check(`${start}(on) => on.afterCommit('articles.update', () => {}));`)).toEqual([]);
});

test('a file that does not parse is named with the line', () => {
  expect(check('export default\n  defineExtension(({ before }) => {')[0]).toMatch(/^extension-syntax .+one\.ts:2:/);
});

test('a file without a default export, or with another, is named', () => {
  expect(check('export const one = 1;')[0]).toMatch(/^extension-export extensions\/one\.ts The default export/);
  expect(check('\nexport default 1;')[0]).toMatch(/^extension-export extensions\/one\.ts:2:16 /);
});

test('a file that registers later than the server looks is named, as its hooks would be lost', () => {
  expect(check(`${start}async ({ before }) => {\n  await 1;\n  before('articles.create', () => {});\n});`)).toEqual([
    expect.stringMatching(/^extension-async extensions\/one\.ts:1:32 .+ does not wait for it\. Leave out `async`/),
  ]);
  expect(check(`${start}({ before }) => before('articles.create', async () => {}));`)).toEqual([]);
});

test.each([
  ['({ before }) => {\n  before("article.create", () => {});\n}', 'Did you mean "articles.create"?'],
  ['({ after: then }) => {\n  then("articles.created", () => {});\n}', 'Did you mean "articles.create"?'],
  ['(on) => {\n  on.afterCommit("nothing.else", () => {});\n}', 'Events are'],
])('an event that there is not is named with the line: %s', (register, hint) => {
  const [first = ''] = check(`${start}${register});`);
  expect(first).toMatch(/^extension-event extensions\/one\.ts:2:\d+ There is no event/);
  expect(first).toContain(hint);
});

test('an event that is not written as text is refused', () => {
  expect(check(`${start}({ before }) => before(name, () => {}));`)[0]).toContain('is not written as text');
});

test.each([
  ['({ before }) => audit(before)', '1:54'],
  ['(on) => { audit(on); on.before("articles.create", () => {}); }', '1:48'],
  ['(on) => { const then = on.after; }', '1:55'],
  ['({ before }) => keep({ before })', '1:55'],
  ['({ before, ...others }) => others.after("articles.create", () => {})', '1:43'],
  ['register', '1:32'],
])('a tool that is passed on is named, as what it registers is not read: %s', (register, location) => {
  expect(check(`${start}${register});`)).toEqual([
    expect.stringMatching(`^extension-unread extensions/one.ts:${location} Registrations through "`),
  ]);
});

test('names of members and of parts of other objects are no tools', () => {
  expect(check(`${start}({ before }) => { row.before = 1; f({ before: 2 }); const { before: old } = row; });`)).toEqual(
    [],
  );
});

test.each([
  `({ before, after }) => { after('articles.update', async ({ items }) => {
    const before = await items('articles').list({ fields: ['id'] });
    return keep({ before }, before.length);
  }); }`,
  '({ route }) => rows.filter((route) => route.active && route("no.event"))',
  '(on) => { for (const on of rows) keep(on); try { rows.all((on) => on.after("no.event")); } catch (on) { keep(on); } }',
  '({ before }) => rows.map(({ before }) => before("no.event"))',
  '({ before }) => { function later(before) { return [before, before("no.event")]; } before("articles.create", () => later(1)); }',
])('inner names that are like those of tools are no tools: %s', (register) => {
  expect(check(`${start}${register});`)).toEqual([]);
});

test('a long text is quoted from its beginning', () => {
  const [warning = ''] = check(`${start}wrap(({ before }) => {\n${'  keep(1);\n'.repeat(99)}}));`);
  expect(warning).toContain('Registrations through "wrap(({ before }) => {…" are not read here');
});
