/** `Idempotency-Key`: a request that is sent again is done once. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isOnMariadb } from '../support/contract-database.ts';
import { notebookSql, resetSql, serveNotebook, triggersSql } from '../support/notebook.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: notebookSql(),
    postgres: triggersSql,
    system: true,
    permissions: `
permissions:
  public:
    people: { read: { fields: [id, name] }, create: { fields: [name] } }
    countries: { create: { fields: [code] } }`,
    environment: { IDEMPOTENCY_TTL: '1h' },
  });
});
beforeEach(() => rows(`${resetSql}; TRUNCATE platform.platform_idempotency_keys, platform.platform_activity CASCADE`));
afterAll(() => project?.close());

function rows(sql: string): ReturnType<ServedProject['rows']> {
  return project.rows(sql);
}

function post(key: string, body: unknown, path = 'people', ask = project.ask) {
  return ask(`/items/${path}`, { method: 'POST', body, headers: { 'idempotency-key': key } });
}

async function people(): Promise<unknown> {
  return (await rows('SELECT count(*)::int AS n FROM people'))[0]?.n;
}

describe('the same request again', () => {
  it('has the first answer, and no effect', async () => {
    const first = await post('a', { name: 'Ann' });
    expect(first.status).toBe(200);
    await rows(`UPDATE people SET name = 'renamed'`);
    const again = await post('a', { name: 'Ann' });
    expect([again.status, again.text, again.headers.get('content-type')]).toEqual([
      200,
      first.text,
      first.headers.get('content-type'),
    ]);
    expect(await people()).toBe(1);
    expect(await rows('SELECT count(*)::int AS n FROM platform.platform_activity')).toEqual([{ n: 1 }]);
  });

  it('has it also when it was empty, or an error', async () => {
    expect([
      (await post('a', { code: 'DE' }, 'countries')).status,
      await post('a', { code: 'DE' }, 'countries'),
    ]).toEqual([204, expect.objectContaining({ status: 204, text: '' })]);
    await post('b', { name: 'Ann' });
    const taken = await post('c', { name: 'Ann' });
    expect(failure(taken)).toBe('400 FAILED_VALIDATION');
    await rows('DELETE FROM people');
    expect((await post('c', { name: 'Ann' })).text).toBe(taken.text);
    const forbidden = await post('d', { hidden: true });
    expect([failure(forbidden), (await post('d', { hidden: true })).text]).toEqual(['403 FORBIDDEN', forbidden.text]);
    expect(await people()).toBe(0);
  });

  it('tells only administrators which name does not exist', async () => {
    const text = async (key: string, ask = project.ask) =>
      (await post(key, { nme: 'x' }, 'people', ask)).json.errors[0].message;
    const named = 'Not found, or secret: "nme" of people.';
    expect([await text('e', project.admin), await text('e', project.admin)]).toEqual([named, named]);
    expect(await text('e')).toBe('Not found, or you do not have permission.');
  });

  it('twenty times at once is done once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('a', [{ name: 'x' }, { name: 'y' }])));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect([answers[0]?.status, await people()]).toEqual([200, 2]);
  });

  it('is a new one when its time is over', async () => {
    await post('a', { name: 'Ann' });
    const keys = 'platform.platform_idempotency_keys';
    const kept = `SELECT expires_at > now() + interval '50 minutes' AND expires_at <= now() + interval '60 minutes' AS hour FROM ${keys}`;
    expect(await rows(kept)).toEqual([{ hour: true }]);
    await rows(`UPDATE ${keys} SET expires_at = now()`);
    expect(failure(await post('a', { name: 'Ann' }))).toBe('400 FAILED_VALIDATION');
    expect((await post('a', { name: 'Ann' })).status).toBe(400);
  });
});

describe('the same key', () => {
  it('with anything else is refused', async () => {
    await post('a', { name: 'Ann' });
    const others = [
      post('a', { name: 'Bob' }),
      post('a', [{ name: 'Ann' }]),
      post('a', { nope: 1 }),
      post('a', { name: 'Ann' }, 'people?fields=id'),
      post('a', { code: 'DE' }, 'countries'),
    ];
    for (const other of await Promise.all(others)) expect(failure(other)).toBe('422 UNPROCESSABLE_ENTITY');
    expect(await people()).toBe(1);
  });

  it('of another caller is another key', async () => {
    await post('a', { name: 'Ann' });
    expect((await post('a', { name: 'Bob' }, 'people', project.admin)).status).toBe(200);
    expect(await people()).toBe(2);
  });

  it('must be visible ASCII', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256), 'a, b', 'é']) {
      expect([key, failure(await post(key, { name: 'Ann' }))]).toEqual([key, '400 INVALID_PAYLOAD']);
    }
    expect((await post('!'.repeat(255), { name: 'Ann' })).status).toBe(200);
  });

  it('cannot stand for a body that nests without end', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(failure(await post('a', `{"name":${deep}}`))).toBe('400 INVALID_PAYLOAD');
    const query = 'mutation { create_people_item(data: { name: \\"Ann\\" }) { id } }';
    const body = `{"query":"${query}","variables":{"unread":${deep}}}`;
    const headers = { 'idempotency-key': 'a' };
    expect(failure(await project.ask('/graphql', { method: 'POST', body, headers }))).toBe('400 INVALID_PAYLOAD');
    expect(await people()).toBe(0);
  });
});

it.skipIf(isOnMariadb())(
  'that is sent again and again before it is answered leaves others their connections',
  async () => {
    const slow = await serveProject({
      sql: 'CREATE TABLE naps (id integer PRIMARY KEY); CREATE TABLE notes (id integer PRIMARY KEY);',
      postgres: `CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3); RETURN NEW; END';
      CREATE TRIGGER nap BEFORE INSERT ON naps FOR EACH ROW EXECUTE FUNCTION nap();`,
      system: true,
      alone: true,
      disturbed: true,
      environment: { DATABASE_POOL_MAX: '4', DATABASE_POOL_TIMEOUT: '1s' },
    });
    const nap = () => post('a', { id: 1 }, 'naps', slow.admin);
    const [first, ...others] = Array.from({ length: 12 }, nap);
    await setTimeout(500);
    const written = await slow.admin('/items/notes', { method: 'POST', body: { id: 1 } });
    expect(written.status).toBe(200);
    const answers = await Promise.all([first, ...others]);
    expect(answers.map((answer) => answer?.status)).toEqual(answers.map(() => 200));
    await slow.close();
  },
);

describe('operations that only administrators may do', () => {
  const ask = (path: string, key: string) =>
    project.admin(path, { method: 'POST', headers: { 'idempotency-key': key } });

  it('take a second factor away once', async () => {
    const [user, other] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];
    await rows(
      `INSERT INTO platform.platform_users (id, tfa_secret) VALUES ('${user}', 'first'), ('${other}', 'other')`,
    );
    const secrets = async () =>
      (
        await rows(`SELECT tfa_secret FROM platform.platform_users WHERE id IN ('${user}', '${other}') ORDER BY id`)
      ).flatMap(Object.values);
    const disable = async (id: string, key: string) => (await ask(`/users/${id}/tfa/disable`, key)).status;
    expect([await disable(user, 'a'), await secrets()]).toEqual([204, [null, 'other']]);
    await rows(`UPDATE platform.platform_users SET tfa_secret = 'second' WHERE id = '${user}'`);
    expect([await disable(user, 'a'), await disable(other, 'a'), await secrets()]).toEqual([
      204,
      422,
      ['second', 'other'],
    ]);
    expect([await disable(user, 'b'), await disable('none', 'c'), await disable('none', 'c')]).toEqual([204, 403, 403]);
    expect(await secrets()).toEqual([null, 'other']);
    await rows(`DELETE FROM platform.platform_users WHERE id IN ('${user}', '${other}')`);
  });

  it('clear caches once', async () => {
    const clear = async (key: string, query = '') => (await ask(`/utils/cache/clear${query}`, key)).status;
    expect([await clear('a'), await clear('a'), await clear('a', '?other'), await clear('a b')]).toEqual([
      200, 200, 422, 400,
    ]);
    const query = 'mutation { utils_cache_clear }';
    const headers = { 'idempotency-key': 'g' };
    for (let count = 0; count < 2; count++)
      expect((await project.admin('/graphql/system', { method: 'POST', body: { query }, headers })).json).toEqual({
        data: { utils_cache_clear: null },
      });
  });
});

it('answers that nobody can ask for any more are removed', async () => {
  const old = Array.from({ length: 50 }, (_, g) => `('x', '${g}', '', now() - interval '1 day')`);
  const fill = `INSERT INTO platform.platform_idempotency_keys (caller, "key", request_hash, expires_at) VALUES ${old}`;
  await rows(fill);
  // Each server looks once a minute; this one was started for the purpose.
  const other = await serveProject({ sql: notebookSql(), postgres: triggersSql, system: true });
  await other.rows(fill);
  await post('a', { name: 'Ann' }, 'people', other.admin);
  const left = await other.rows('SELECT "key" FROM platform.platform_idempotency_keys');
  expect(left).toEqual([{ key: 'a' }]);
  await other.close();
});

it('without the tables of the platform no answer can be kept, so the header is refused', async () => {
  const plain = await serveNotebook('permissions: {}');
  expect(failure(await post('a', { name: 'Ann' }, 'people', plain.admin))).toBe('422 UNPROCESSABLE_ENTITY');
  await plain.close();
});
