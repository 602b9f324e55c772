/**
 * Tests of writes, rules, hooks, the platform's own collections and generations once more, on MariaDB: a part of them every
 * day, and all that can be asked there with `EVERY_SUITE=1`, which takes a minute or two more.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { isOnMariadb, onMariadb } from '../support/contract-database.ts';
import { noMariadb, withoutMariadb } from '../support/mariadb.ts';

const files = ['writes-permissions', 'trees-circles', 'upsert', 'singletons', 'extensions-trees', 'generations'];
const more = [
  ...['trees-kinds', 'extensions', 'history', 'idempotency', 'invite-hooks', 'resources', 'utilities'],
  ...['graphql-mutations', 'graphql-system'],
];

describe.skipIf(noMariadb || isOnMariadb())(`writes on MariaDB${withoutMariadb}`, () => {
  let back: () => void;
  beforeAll(() => {
    back = onMariadb();
  });
  afterAll(() => back());

  describe.each([...files, ...(process.env.EVERY_SUITE === undefined ? [] : more)])('%s', async (name) => {
    const reset = onMariadb();
    // Known by another address than the file itself, which a worker may have loaded for PostgreSQL.
    const address = new URL(`./${name}.test.ts?mariadb`, import.meta.url).href;
    await import(/* @vite-ignore */ address);
    reset();
  });
});
