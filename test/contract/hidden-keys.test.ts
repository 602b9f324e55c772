/**
 * Writes by those who may not read the key of what they write: they name items by the values of the key, and the name of
 * the key is theirs only where they may write it. Every request is held against the OpenAPI document of the role.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  const names = ['seen', 'hidden', 'given', 'unread', 'pairs'];
  const rules =
    '[{ fields: [title], filter: { open: { _eq: false } } }, { fields: [title, body], filter: { open: { _eq: true } } }]';
  project = await serveProject({
    sql: names
      .map((name) => {
        const key = name === 'pairs' ? 'a integer, b integer, PRIMARY KEY (a, b)' : 'id integer PRIMARY KEY';
        const values = name === 'pairs' ? "(1, 1, 'x', 'y'), (1, 2, 'x', 'y')" : "(1, 'x', 'y'), (2, 'x', 'y')";
        return `CREATE TABLE ${name} (${key}, title text, body text, open boolean DEFAULT true); INSERT INTO ${name} VALUES ${values};`;
      })
      .join('\n'),
    permissions: `permissions:
  public:
    seen: { read: { fields: [id, title] }, update: ${rules}, delete: {} }
    hidden: { read: { fields: [title] }, update: ${rules}, delete: {} }
    given: { update: [{ fields: [id, title] }, { fields: [body], filter: { open: { _eq: true } } }], delete: {} }
    unread: { update: ${rules}, delete: {} }
    pairs: { read: { fields: [title] }, update: ${rules}, delete: {} }`,
  });
});
afterAll(() => project?.close());

async function patch(path: string, body: unknown): Promise<string> {
  const answer = await project.ask(`/items/${path}`, { method: 'PATCH', body });
  return answer.status < 300 ? `${answer.status} ${answer.text}` : failure(answer);
}

const each = [
  { id: 1, title: 'a' },
  { id: 2, body: 'b' },
];

it.each([
  ['seen', '200 {"data":[{"id":1,"title":"a"},{"id":2,"title":"x"}]}'],
  ['hidden', '403 FORBIDDEN'],
  ['given', '204 '],
  ['unread', '403 FORBIDDEN'],
])('each item of an array of "%s" has its own changes: %s', async (name, expected) => {
  expect(await patch(name, each)).toBe(expected);
});

it.each(['hidden', 'unread'])('"%s" does not tell the name of its key', async (name) => {
  const answers = await Promise.all(
    ['id', 'ix', 'title'].flatMap((key) => [
      project.ask(`/items/${name}`, { method: 'PATCH', body: [{ [key]: 1, title: 'a' }] }),
      ...(key === 'title'
        ? []
        : [project.ask(`/items/${name}/1`, { method: 'PATCH', body: { [key]: 1, title: 'a' } })]),
      project.ask(`/items/${name}`, { method: 'PATCH', body: { keys: [{ [key]: 1 }], data: { title: 'a' } } }),
      project.ask(`/items/${name}`, { method: 'DELETE', body: [{ [key]: 1 }] }),
    ]),
  );
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.map(failure)).toEqual(answers.map(() => '403 FORBIDDEN'));
});

describe('values of a key that is hidden', () => {
  it('name items all the same', async () => {
    expect(await patch('hidden/1', { title: 'c' })).toBe('200 {"data":{"title":"c"}}');
    expect(await patch('hidden', { keys: [2, '1'], data: { title: 'd' } })).toBe(
      '200 {"data":[{"title":"d"},{"title":"d"}]}',
    );
    expect(await patch('unread', { keys: [1], data: { title: 'e' } })).toBe('204 ');
    expect(await patch('pairs', { keys: ['1,2', '1,1'], data: { title: 'f' } })).toBe(
      '200 {"data":[{"title":"f"},{"title":"f"}]}',
    );
    expect((await project.ask('/items/hidden', { method: 'DELETE', body: [2] })).status).toBe(204);
    expect((await project.ask('/items/pairs', { method: 'DELETE', body: { keys: ['1,2'] } })).status).toBe(204);
  });
});
