/** Cursors that were damaged, mixed up, or made by somebody who knows how they are made. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeCursor } from '../../packages/runtime/src/query/parse/cursor.ts';
import { adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { expectDefined, type Shot, swarm } from '../support/swarm.ts';

const types = [
  ...['smallint', 'bigint', 'numeric(5,2)', 'money', 'real', 'boolean', 'text', 'char(4)', 'uuid', 'bytea', 'date'],
  ...['time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'inet', 'mood', 'integer[]', 'text[]', 'bytea[]'],
];

/** What a cursor of ours would never hold. */
const values = [
  ...['', 'x', 'null', '1', '-1', '1e400', '9'.repeat(400), '2147483648', '9223372036854775808', 'NaN', '0x1', "';--"],
  ...['\\x0', '\\xzz', '2024-13-01', '2024-01-01 00:00:00+99', '2024-01-01 Nowhere/Land', '9999999-01-01', 'now'],
  ...['P99999999999Y', 'PT1', '25:00:00', '{', '{1,2', '{{1},{1,2}}', '[5:1]={1}', '[1:2147483647]={1}', '{x}', '\\'],
  ...['[-2147483648:2147483647]={}', `{${'{'.repeat(9)}${'}'.repeat(9)}}`, '{"\\\\xq"}', '😀', 'x'.repeat(50_000)],
];

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE TYPE mood AS ENUM ('happy', 'sad');
      CREATE TABLE samples (id integer PRIMARY KEY, ${types.map((type, index) => `c${index} ${type}`).join(', ')});
      INSERT INTO samples (id, c0, c1) SELECT g, g, g FROM generate_series(1, 9) g;`,
  });
});
afterAll(() => project?.close());

function shot(sort: string, cursor: string): Shot {
  const body = JSON.stringify({ query: { fields: ['id'], sort: [sort], limit: 2, cursor } });
  return { path: '/items/samples', method: 'SEARCH', body, token: adminToken };
}

it('refuses every cursor with a bit, a letter or a piece changed', async () => {
  const sort = 'c1';
  const { json } = await project.admin(`/items/samples?sort=${sort}&limit=2&cursor=`);
  const cursor: string = json.meta.next_cursor;
  const changed = new Set<string>([
    cursor.slice(1),
    `${cursor}A`,
    `${cursor}=`,
    ` ${cursor}`,
    cursor + cursor,
    '1',
    '*',
  ]);
  for (let at = 0; at < cursor.length; at += 1) {
    const [before, after] = [cursor.slice(0, at), cursor.slice(at + 1)];
    for (let bit = 0; bit < 7; bit += 1) {
      changed.add(before + String.fromCharCode(cursor.charCodeAt(at) ^ (1 << bit)) + after);
    }
    changed.add(before + after).add(before);
  }
  changed.delete('');
  await swarm(
    project.url,
    [...changed].map((text) => shot(sort, text)),
    (sent, { status, text }) => {
      expect([sent.body, status, text.includes('"INVALID_QUERY"')]).toEqual([sent.body, 400, true]);
    },
  );
});

it('answers a forged one as a filter would, or refuses it', async () => {
  const forged = types.flatMap((_, index) => {
    const order = JSON.stringify(['samples', [[false, `c${index}`]], ['id']]);
    const down = JSON.stringify(['samples', [[true, `c${index}`]], ['id']]);
    return values.flatMap((value) => [
      shot(`c${index}`, writeCursor(order, [value, '1'])),
      shot(`-c${index}`, writeCursor(down, [value, null])),
      shot(`-c${index}`, writeCursor(down, [null, value])),
      shot(`c${index}`, writeCursor(order, [value])),
    ]);
  });
  let answered = 0;
  await swarm(project.url, forged, (sent, hit) => {
    expectDefined(sent, hit);
    if (hit.status === 200) answered += 1;
  });
  expect(answered).toBeGreaterThan(forged.length / 20);
});

it('refuses bodies that are no list of values', async () => {
  const bodies = [
    '{}',
    '1',
    'null',
    '[1]',
    '[[]]',
    '["\\u0000"]',
    '["\\ud800"]',
    '[',
    '',
    '[null',
    `[${'['.repeat(9000)}`,
  ];
  const order = JSON.stringify(['samples', [[false, 'c0']], ['id']]);
  const shots = bodies.map((text) => {
    const body = Buffer.from(text).toString('base64url');
    return shot('c0', writeCursor(order, []).slice(0, 13) + body);
  });
  shots.push(
    shot(
      'c0',
      writeCursor(
        order,
        Array.from({ length: 20_000 }, () => null),
      ),
    ),
  );
  await swarm(project.url, shots, (sent, { status }) =>
    expect([sent.body?.slice(0, 200), status]).toEqual([sent.body?.slice(0, 200), 400]),
  );
});
