/**
 * Tests of accounts, users, files, revisions and single sign-on once more, on MariaDB: a part of them every day, all that
 * can be asked there by `CONTRACT_DATABASE=mariadb vitest run --project database` and the names of their files.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { isOnMariadb, onMariadb } from '../support/contract-database.ts';
import { noMariadb, withoutMariadb } from '../support/mariadb.ts';

const files = ['sign-in', 'users', 'single-sign-on', 'files', 'revisions'];

describe.skipIf(noMariadb || isOnMariadb())(`on MariaDB${withoutMariadb}`, () => {
  let back: () => void;
  beforeAll(() => {
    back = onMariadb();
  });
  afterAll(() => back());

  describe.each(files)('%s', async (name) => {
    const reset = onMariadb();
    // Known by another address than the file itself, which a worker may have loaded for PostgreSQL.
    const address = new URL(`./${name}.test.ts?mariadb`, import.meta.url).href;
    await import(/* @vite-ignore */ address);
    reset();
  });
});
