/** `If-Match`: a write only of what the client has seen. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { resetSql, serveNotebook } from '../support/notebook.ts';
import { failure, type ServedProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveNotebook(`
permissions:
  public:
    people: { read: { fields: [id, name], filter: { hidden: { _eq: false } } }, update: { fields: [name] }, delete: {} }
    notes: { update: { fields: [title] } }`);
});
beforeEach(() =>
  run(
    `${resetSql}; INSERT INTO people (name, hidden) VALUES ('Ann', false), ('Bob', true); INSERT INTO notes (title) VALUES ('a')`,
  ),
);
afterAll(() => project?.close());

function run(sql: string): ReturnType<ServedProject['rows']> {
  return project.rows(sql);
}

function change(path: string, tag: string, name = 'new', method = 'PATCH', ask = project.ask) {
  const body = method === 'PATCH' ? { body: path.startsWith('notes') ? { title: name } : { name } } : {};
  return ask(`/items/${path}`, { method, headers: { 'if-match': tag }, ...body });
}

async function tagOf(path: string): Promise<string> {
  return (await project.ask(`/items/${path}`)).headers.get('etag') ?? '';
}

it.each(['people/1', 'people/1?fields=name', 'people/1?fields=label&alias[label]=name'])(
  '%s: the tag of GET is taken once',
  async (path) => {
    const tag = await tagOf(path);
    expect((await change(path, tag)).status).toBe(200);
    const late = await change(path, tag, 'later');
    expect(failure(late)).toBe('422 UNPROCESSABLE_ENTITY');
    expect(late.json.errors[0].extensions.etag).toBe(await tagOf(path));
    expect(await run('SELECT name FROM people WHERE id = 1')).toEqual([{ name: 'new' }]);
  },
);

it('several tags may be given, and any with a star', async () => {
  const tag = await tagOf('people/1');
  expect((await change('people/1', `"other", ${tag}`)).status).toBe(200);
  expect((await change('people/1', '*', 'star')).status).toBe(200);
  expect(failure(await change('people/1', '"other"'))).toBe('422 UNPROCESSABLE_ENTITY');
  expect(failure(await change('people/1', ''))).toBe('422 UNPROCESSABLE_ENTITY');
});

it('what the caller may not read, or what is not there, is FORBIDDEN', async () => {
  for (const path of ['people/2', 'people/9', 'notes/1']) {
    expect([path, failure(await change(path, '*'))]).toEqual([path, '403 FORBIDDEN']);
  }
});

it('a removal is guarded, too', async () => {
  const tag = await tagOf('people/1');
  await run(`UPDATE people SET name = 'changed' WHERE id = 1`);
  expect(failure(await change('people/1', tag, '', 'DELETE'))).toBe('422 UNPROCESSABLE_ENTITY');
  expect((await change('people/1', await tagOf('people/1'), '', 'DELETE')).status).toBe(204);
});

it('of twenty that have seen the same only one gets through', async () => {
  const tag = await tagOf('people/1');
  const answers = await Promise.all(Array.from({ length: 20 }, (_, place) => change('people/1', tag, `n${place}`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 422)]);
});

it('a singleton is guarded, before its first write by the tag of its defaults', async () => {
  const path = '/items/settings';
  const patch = (tag: string, title: string, query = '') =>
    project.admin(`${path}${query}`, { method: 'PATCH', headers: { 'if-match': tag }, body: { title } });
  const tag = async (query = '') => (await project.admin(`${path}${query}`)).headers.get('etag') ?? '';
  const first = await tag();
  expect(failure(await patch('"other"', 'no'))).toBe('422 UNPROCESSABLE_ENTITY');
  expect((await patch(first, 'first')).json.data.title).toBe('first');
  const late = await patch(first, 'late');
  expect([failure(late), late.json.errors[0].extensions.etag]).toEqual(['422 UNPROCESSABLE_ENTITY', await tag()]);
  expect((await patch(await tag('?fields=title&meta=*'), 'second', '?fields=title&meta=*')).status).toBe(200);
  expect((await patch('*', 'third')).status).toBe(200);
  expect(await run('SELECT title FROM settings')).toEqual([{ title: 'third' }]);
  const seen = await tag();
  const answers = await Promise.all(Array.from({ length: 10 }, (_, place) => patch(seen, `n${place}`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 422)]);
});
