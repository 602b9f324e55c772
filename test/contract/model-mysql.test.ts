/**
 * Changes of the model by requests once more, on MariaDB every day, on MySQL with `EVERY_SUITE=1`, which takes half a minute
 * more.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { isOnMariadb, onMariadb } from '../support/contract-database.ts';
import { servers } from '../support/servers.ts';

describe.each(servers)('on $name', ({ dialect, missing }) => {
  const isAsked = dialect === 'mariadb' || process.env.EVERY_SUITE !== undefined;
  describe.skipIf(missing || isOnMariadb() || !isAsked)(isAsked ? 'once more' : 'once more with EVERY_SUITE=1', () => {
    let back: () => void;
    beforeAll(() => {
      back = onMariadb(dialect);
    });
    afterAll(() => back());

    describe('model-writes', async () => {
      const reset = onMariadb(dialect);
      // Known by another address than the file itself, which a worker may have loaded for PostgreSQL.
      const address = new URL(`./model-writes.test.ts?${dialect}`, import.meta.url).href;
      await import(/* @vite-ignore */ address);
      reset();
    });
  });
});
