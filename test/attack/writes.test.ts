/** Bodies that do harm: every field with every kind of wrong value, and many writers at once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { resetSql, serveNotebook } from '../support/notebook.ts';
import type { Answer } from '../support/platform.ts';
import { failure, type ServedProject } from '../support/project.ts';

const permissions = `
permissions:
  public:
    notes:
      read: { fields: [id, title, state] }
      update:
        - { fields: [title], filter: { state: { _eq: draft } }, validation: {} }
        - { fields: [body], filter: { state: { _eq: published } }, validation: {} }
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveNotebook(permissions, { DATABASE_POOL_MAX: '20' });
});
afterAll(() => project?.close());

function run(sql: string): Promise<Record<string, unknown>[]> {
  return withClient(project.database.url, async (client) => (await client.query(sql)).rows);
}

/** Text that must not reach a statement. */
const canary = 'canary_5f1c';

const wrongValues: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  1.5,
  Number.POSITIVE_INFINITY,
  -1,
  2_147_483_648,
  '9007199254740993',
  '',
  ' 1',
  '0x1',
  '１',
  'NaN',
  'Infinity',
  '9223372036854775808',
  '1e5',
  `${canary}'; DROP TABLE notes; --`,
  '\ud800',
  'a\0b',
  '{}',
  '{1,2}',
  '{"a":',
  '2023-02-30',
  '294277-01-01',
  'infinity',
  '0001-01-01 BC',
  '00000000-0000-0000-0000-00000000000g',
  '$NOW',
  '$CURRENT_USER',
  [],
  [null],
  [[1]],
  ['a', 1],
  [canary],
  {},
  { _eq: 1 },
  { [canary]: canary },
  Array.from({ length: 500 }, () => 'x'),
  'x'.repeat(10_000),
];

/** The body as text; numbers that JavaScript cannot write are written as they are meant. */
function bodyOf(field: string, value: unknown): string {
  return value === Number.POSITIVE_INFINITY
    ? `{"title":"t","${field}":1e400}`
    : JSON.stringify({ title: 't', [field]: value });
}

describe('values', () => {
  const fields = [
    ['notes', ['id', 'title', 'body', 'state', 'mood', 'stars', 'price', 'rank', 'meta', 'words', 'seen', 'address']],
    ['notes', ['person_id', 'parent_id', 'length', 'notes', 'nope']],
    ['tokens', ['id', 'label', 'secret', 'pass']],
  ] as const;

  it('of every kind in every field are stored or refused, and never run', async () => {
    project.statements.reset();
    for (const [collection, names] of fields) {
      for (const name of names) {
        for (const value of wrongValues) {
          const item = collection === 'notes' ? bodyOf(name, value) : bodyOf(name, value).replace('"title":"t",', '');
          for (const [method, path, body] of [
            ['POST', `/items/${collection}`, item],
            ['POST', `/items/${collection}`, `[${item},{"${name}":null},{}]`],
            ['PATCH', `/items/${collection}/1`, item],
          ] as const) {
            const answer = await project.admin(path, { method, body });
            const told = `${method} ${path} ${body.slice(0, 80)} ${answer.status} ${answer.text.slice(0, 200)}`;
            expect([200, 204, 400, 403], told).toContain(answer.status);
            expect(answer.text, told).not.toMatch(/SQL|syntax|relation "|column "|pg_|invalid input|violates/);
          }
        }
      }
    }
    expect(project.statements.texts().filter((text) => text.includes(canary))).toEqual([]);
    expect(await run('SELECT count(*) > 0 AS stored FROM notes')).toEqual([{ stored: true }]);
  }, 120_000);

  it('as keys and queries are refused as well', async () => {
    for (const value of wrongValues) {
      for (const body of [{ keys: [value] }, { keys: value }, [value], { query: { filter: { id: { _eq: value } } } }]) {
        const removed = await project.admin('/items/seats', { method: 'DELETE', body });
        expect([204, 400, 403], JSON.stringify(body)?.slice(0, 80)).toContain(removed.status);
        const changed = await project.admin('/items/notes', { method: 'PATCH', body: { ...body, data: {} } });
        expect([200, 400, 403], JSON.stringify(body)?.slice(0, 80)).toContain(changed.status);
      }
    }
  });

  it('nested without end, and names that reach a prototype, are refused', async () => {
    const deep = `{"title":"t","meta":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const bodies = [
      deep,
      `{"title":"t","meta":${'{"a":'.repeat(65)}1${'}'.repeat(65)}}`,
      '{"__proto__":{"title":"t"}}',
      '{"title":"t","meta":{"\\u005f_proto__":1}}',
      '{"title":"t","meta":{"constructor":{"prototype":1}}}',
      '{"title":"t"} x',
    ];
    for (const body of bodies) {
      expect(failure(await project.admin('/items/notes', { method: 'POST', body }))).toBe('400 INVALID_PAYLOAD');
    }
    const plain = { method: 'POST', body: '{"title":"t"}', headers: { 'content-type': 'text/plain' } };
    expect(failure(await project.admin('/items/notes', plain))).toBe('415 UNSUPPORTED_MEDIA_TYPE');
  });
});

describe('many writers', () => {
  const keys = Array.from({ length: 50 }, (_, place) => place + 1);

  /** Answers of the database that say that requests waited for each other. */
  function deadlocks(): readonly string[] {
    return project.statements.errors().filter((error) => error.includes('deadlock'));
  }

  async function refill(): Promise<void> {
    await run(resetSql);
    await run(`INSERT INTO people (name) SELECT 'p' || g FROM generate_series(1, 2) g`);
    await run(`INSERT INTO notes (title, person_id) SELECT 'n' || g, 1 + g % 2 FROM generate_series(1, 50) g`);
    await run(`INSERT INTO seats SELECT g % 7, g FROM generate_series(1, 50) g`);
    project.statements.reset();
  }

  /** Runs twelve writers at once, so many times each, of which every other one has the keys in reverse. */
  async function write(
    rounds: number,
    send: (keys: readonly number[], writer: number) => Promise<Answer>,
  ): Promise<void> {
    const writers = Array.from({ length: 12 }, async (_, writer) => {
      for (let round = 0; round < rounds; round++) {
        const answer = await send(writer % 2 === 0 ? keys : keys.toReversed(), writer);
        expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
      }
    });
    await Promise.all(writers);
  }

  const patch = (path: string, body: unknown): Promise<Answer> => project.admin(path, { method: 'PATCH', body });

  it('that change the same rows in different orders wait for nobody who waits for them', async () => {
    await refill();
    await write(5, (ids, writer) => {
      const items = ids.map((id) => ({ id, body: `${writer}` }));
      return patch('/items/notes?fields=id', items);
    });
    // Each statement changed all of its rows, so they all have the last one's.
    expect(await run('SELECT count(DISTINCT body)::int AS bodies FROM notes')).toEqual([{ bodies: 1 }]);
    expect(deadlocks()).toEqual([]);
  });

  it('are answered in the order of what they sent', async () => {
    await refill();
    await write(1, async (ids, writer) => {
      const answer = await patch('/items/notes?fields=id,body', { keys: ids, data: { body: `${writer}` } });
      const ordered = ids.map((id) => ({ id: String(id), body: `${writer}` }));
      expect(answer.json).toEqual({ data: ordered });
      return answer;
    });
    expect(deadlocks()).toEqual([]);
  });

  it('of every kind wait for nobody who waits for them', async () => {
    await refill();
    const ways: readonly ((ids: readonly number[], writer: number) => Promise<Answer>)[] = [
      (ids, writer) => patch('/items/notes?fields=id', { keys: ids, data: { body: `${writer}` } }),
      (ids, writer) =>
        patch('/items/notes?fields=id', {
          query: { sort: ids[0] === 1 ? 'id' : '-id' },
          data: { meta: { writer } },
        }),
      (ids, writer) =>
        patch(
          '/items/notes?fields=id',
          ids.map((id) => ({ id, title: `w${writer} ${id}` })),
        ),
      (ids, writer) =>
        patch(
          '/items/seats?fields=line',
          ids.map((id) => ({ line: id % 7, number: id, label: `${writer}` })),
        ),
    ];
    await write(4, (ids, writer) => ways[Math.floor(writer / 2) % ways.length]?.(ids, writer) ?? expect.unreachable());
    expect(deadlocks()).toEqual([]);
  });

  it('of the same children, and those who remove them, do so as well', async () => {
    await refill();
    await write(3, (ids, writer) => {
      const notes = ids.filter((id) => id % 2 === 1).map((id) => ({ id, body: `${writer}` }));
      return patch('/items/people/2?fields=id', { notes: { update: notes } });
    });
    const removals = await Promise.all(
      [keys, keys.toReversed(), keys].map((body) => project.admin('/items/notes', { method: 'DELETE', body })),
    );
    expect(removals.map(({ status }) => status).sort()).toEqual([204, 403, 403]);
    expect(deadlocks()).toEqual([]);
  });

  /** Holds what two requests want until both of them wait for it. */
  function meeting<Answers>(send: () => Promise<Answers>): Promise<Answers> {
    return withClient(project.database.url, async (client) => {
      await client.query(
        'BEGIN; SELECT 1 FROM people WHERE id = 1 FOR UPDATE; SELECT 1 FROM notes WHERE id = 2 FOR UPDATE',
      );
      const answers = send();
      const waiting = `SELECT count(*)::integer AS requests FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await expect.poll(() => run(waiting)).toEqual([{ requests: 2 }]);
      await client.query('COMMIT');
      return answers;
    });
  }

  it('of different collections in different orders all get through', async () => {
    await refill();
    for (let round = 0; round < 20 && deadlocks().length === 0; round++) {
      const answers = await meeting(() =>
        Promise.all([
          patch('/items/people/1?fields=id', { name: `a${round}`, notes: { update: [{ id: 2, body: `a${round}` }] } }),
          patch('/items/notes/2?fields=id', { body: `b${round}`, person_id: { id: 1, name: `b${round}` } }),
        ]),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    }
    // They must have met, or this shows nothing.
    expect(deadlocks()).not.toEqual([]);
  }, 60_000);

  it('cannot slip past a rule while the row changes under them', async () => {
    await run(resetSql);
    await run(`INSERT INTO notes (title, body) VALUES ('start', 'start')`);
    let stop = false;
    const flips = (async () => {
      while (!stop) {
        await run(`UPDATE notes SET state = 'published', title = 'kept', body = 'start' WHERE id = 1`);
        await run(`UPDATE notes SET state = 'draft', title = 'start', body = 'kept' WHERE id = 1`);
      }
    })();
    const outcomes = new Map<number, number>();
    for (let round = 0; round < 120; round++) {
      const body = round % 2 === 0 ? { title: 'slipped' } : { body: 'slipped' };
      const { status } = await project.ask('/items/notes/1', { method: 'PATCH', body });
      outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
      const found = await run(
        `SELECT 1 FROM notes WHERE (state = 'published' AND title = 'slipped') OR (state = 'draft' AND body = 'slipped')`,
      );
      expect(found).toEqual([]);
    }
    stop = true;
    await flips;
    expect([...outcomes.keys()].sort()).toEqual([200, 403]);
  }, 60_000);
});
