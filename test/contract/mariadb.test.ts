/**
 * Tests of accounts, users, files, revisions and single sign-on once more, on MariaDB and MySQL: a part of them every day, all that can
 * be asked there by `CONTRACT_DATABASE=mariadb vitest run --project database` (or `mysql`) and the names of their files.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { isOnMariadb, onMariadb } from '../support/contract-database.ts';
import { servers } from '../support/servers.ts';

const files = { mariadb: ['sign-in', 'users', 'single-sign-on', 'files', 'revisions'], mysql: ['sign-in', 'users'] };

describe.each(servers)('on $name', ({ dialect, missing }) => {
  describe.skipIf(missing || isOnMariadb())('once more', () => {
    let back: () => void;
    beforeAll(() => {
      back = onMariadb(dialect);
    });
    afterAll(() => back());

    describe.each(files[dialect])('%s', async (name) => {
      const reset = onMariadb(dialect);
      // Known by another address than the file itself, which a worker may have loaded for PostgreSQL.
      const address = new URL(`./${name}.test.ts?${dialect}`, import.meta.url).href;
      await import(/* @vite-ignore */ address);
      reset();
    });
  });
});
