/** Items that are read by key at the same time: what each is answered does not depend on who else asks. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isOnMariadb } from '../support/contract-database.ts';
import { isWithout } from '../support/optimizations.ts';
import type { Platform } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

const count = 100;
const uuidOf = (n: number): string => `a0eebc99-9c0b-4ef8-bb6d-${String(n).padStart(12, '0')}`;
const numbers = Array.from({ length: count }, (_, place) => place - 3);
const filled = (table: string, key: (n: number) => string): string =>
  `INSERT INTO ${table} VALUES ${numbers.map((n) => `(${key(n)}, 'note ${n}', ${n % 7})`).join()};`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    portable: true,
    sql: `
      CREATE TABLE small (id smallint PRIMARY KEY, note text, n integer);
      CREATE TABLE usual (id integer PRIMARY KEY, note text, n integer);
      CREATE TABLE large (id bigint PRIMARY KEY, note text, n integer);
      CREATE TABLE random (id uuid PRIMARY KEY, note text, n integer);
      CREATE TABLE named (id varchar(40) PRIMARY KEY, note text, n integer);
      CREATE TABLE paired (id integer, note varchar(40), n integer, PRIMARY KEY (id, note));
      ${filled('small', String)} ${filled('usual', String)} ${filled('large', (n) => `${BigInt(n) * 9007199254740993n}`)}
      ${filled('random', (n) => `'${uuidOf(n + 3)}'`)} ${filled('named', (n) => `'k ${n}'`)} ${filled('paired', String)}`,
    permissions: `
permissions:
  public:
    usual: { read: { fields: [id, note], filter: { n: { _in: [1, 2, 3] } } } }
    large:
      read:
        - { fields: [id] }
        - { fields: [id, note], filter: { n: { _eq: 2 } } }`,
  });
});
afterAll(() => project?.close());

const keysOf: Readonly<Record<string, (n: number) => string>> = {
  small: String,
  usual: String,
  large: (n) => `${BigInt(n) * 9007199254740993n}`,
  random: (n) => uuidOf(n + 3),
  named: (n) => `k%20${n}`,
  paired: (n) => `${n},note%20${n}`,
};

/** Paths that exist, some twice, some that do not, keys in other spellings, and some that are none. */
const paths = Object.entries(keysOf).flatMap(([collection, keyOf]) => [
  ...numbers.map((n) => `/items/${collection}/${keyOf(n)}?fields=id,note,n`),
  ...numbers.slice(0, 20).map((n) => `/items/${collection}/${keyOf(n)}?fields=note,id`),
  ...numbers.slice(10, 30).map((n) => `/items/${collection}/${keyOf(n)}?fields=id,note,n`),
  ...['99999', '007', '+5', '-0', 'A0EEBC99-9C0B-4EF8-BB6D-000000000008', '99999999999999999999', 'x'].map(
    (key) => `/items/${collection}/${key}?fields=id,note,n`,
  ),
]);

it.each(['admin', 'ask'] as const)('are answered as one by one: %s', async (who) => {
  const ask = project[who];
  const alone: string[] = [];
  for (const path of paths) alone.push(await outcome(ask, path));
  expect(new Set(alone.map((one) => one.slice(0, 3)))).toEqual(new Set(['200', '403']));
  expect(await Promise.all(paths.map((path) => outcome(ask, path)))).toEqual(alone);
});

it('are answered each by its own rule and class', async () => {
  const asked = numbers.flatMap((n) => (['admin', 'ask'] as const).map((who) => ({ who, path: `/items/usual/${n}` })));
  const alone: string[] = [];
  for (const { who, path } of asked) alone.push(await outcome(project[who], path));
  expect(await Promise.all(asked.map(({ who, path }) => outcome(project[who], path)))).toEqual(alone);
});

it.skipIf(isOnMariadb() || isWithout('key-batching'))('take few statements', async () => {
  const ask = () => Promise.all(numbers.map((n) => project.admin(`/items/usual/${n}?fields=id`)));
  await ask();
  project.statements.reset();
  await ask();
  expect(project.statements.executed()).toBeLessThan(0.8 * count);
});

async function outcome(ask: Platform['ask'], path: string): Promise<string> {
  const { status, text } = await ask(path);
  return `${status} ${text}`;
}
