/**
 * Contract tests that were written for PostgreSQL, once more on a server of MySQL's family: a part of them every day. All that
 * can be asked there is asked by `CONTRACT_DATABASE=mariadb vitest run --project database` (or `mysql`) and the names of files.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { isOnMariadb, onMariadb } from './contract-database.ts';
import { servers } from './servers.ts';

/** Files of accounts, of what comes with the platform, and of reads by key, by their names. */
export const accountSuites: readonly string[] = [
  'sign-in',
  'users',
  'single-sign-on',
  'invitation-elsewhere',
  'files',
  'revisions',
  'keys-together',
  'tenants',
];

/** Files of writes by their names: those of every day, and with `EVERY_SUITE=1`, which takes a minute or two more, others. */
export const writeSuites: readonly string[] = [
  ...[
    'writes-permissions',
    'trees-circles',
    'upsert',
    'exact-json',
    'missing-parents',
    'writes-overtaken',
    'singletons',
    '../database-logic/soft-delete',
    'extensions-trees',
    'generations',
  ],
  ...(process.env.EVERY_SUITE === undefined
    ? []
    : [
        ...[
          'trees-kinds',
          'writes-update',
          'extensions',
          'history',
          'idempotency',
          'invite-hooks',
          'resources',
          'utilities',
          'transfers',
        ],
        ...['graphql-mutations', 'graphql-system', '../attack/specified-writes'],
      ]),
];

/** Declares the tests of files of `test/contract` on a server. Where all tests run on another server already it declares none. */
export function testOnceMore(dialect: (typeof servers)[number]['dialect'], files: readonly string[]): void {
  const [server] = servers.filter((one) => one.dialect === dialect);
  if (server === undefined) return;
  describe.skipIf(server.missing || isOnMariadb())(`on ${server.name}`, () => {
    let back: () => void;
    beforeAll(() => {
      back = onMariadb(dialect);
    });
    afterAll(() => back());

    describe.each(files)('%s', async (name) => {
      const reset = onMariadb(dialect);
      // Known by another address than the file itself, which a worker may have loaded for PostgreSQL.
      const address = new URL(`../contract/${name}.test.ts?${dialect}`, import.meta.url).href;
      await import(/* @vite-ignore */ address);
      reset();
    });
  });
}
