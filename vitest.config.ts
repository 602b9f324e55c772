import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { memoryFolder, memoryVariable } from './test/support/data-folder.ts';

// Tests start the command some hundred times: what Node made of its sources the first time serves again, which halves
// the cost of a start. Files are known by their text, so nothing has to be cleared when one changes.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '.tmp', 'compile-cache');

const memory = memoryFolder();
if (memory !== undefined) process.env[memoryVariable] ??= memory;

/** Files that measure the memory of their own process, so that nothing of others may lie in it. */
const alone = ['test/database/streams.test.ts'];

/**
 * Files that wait most of the time: for clocks, for limits of time, for servers that come back. They take a third of the
 * time and a seventh of the processor's, so that six run at once. They are apart in runs of all tests; others find them in
 * the project `database`.
 */
const waiting =
  process.env.TEST_ALL === undefined
    ? []
    : [
        ...['attack/faults', 'attack/greedy-clients', 'attack/http', 'cli/dev', 'cli/dev-permissions', 'cli/ready'],
        ...['cli/service-manager', 'cli/shutdown', 'cli/workers', 'contract/client-session', 'contract/drift'],
        ...['contract/host-states', 'contract/host-states-group', 'contract/long-work', 'contract/public-caches'],
        ...['contract/public-caches-derived', 'contract/readiness', 'contract/several-hosts-mariadb'],
        ...['database/mysql-transactions', 'operations/slow-statements', 'operations/traces-setup'],
        ...['topology/galera', 'topology/mysql', 'topology/patroni', 'topology/pg'],
      ].map((file) => `test/${file}.test.ts`);

/** Room for what is soon garbage: with less of it, collecting takes a tenth of the processor's time of a worker. */
const roomy = { execArgv: ['--max-semi-space-size=64'] };

/** For what comes to be so in a moment, on a busy machine in several: milliseconds that a test asks again. */
const polling = { poll: { timeout: 20_000 } };

/**
 * Files that wait for package managers and browsers a third of their time: two at once, of both projects. With more, the
 * times of a busy machine are added to those of a package manager. Packages are built once, by the first that asks.
 */
const pairs = { maxWorkers: 2, sequence: { groupOrder: 1 } };

/** Loading everything anew for each file would cost a third of the time. What a file changes it changes back. */
const database = {
  isolate: false,
  ...roomy,
  globalSetup: ['test/support/global-setup.ts'],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  expect: polling,
};

/** `unit` needs no database; `database` starts one PostgreSQL server for the whole run, and so does what runs alone. */
export default defineConfig({
  test: {
    // Tests wait for servers and databases two fifths of their time, so four files at once keep two cores busy.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    projects: [
      {
        test: {
          name: 'unit',
          // Pure functions: one module graph for all files of a worker saves half of the time.
          isolate: false,
          ...roomy,
          // Some compile a whole schema many times, or read all sources, which takes long beside other work.
          testTimeout: 180_000,
          include: [
            'packages/*/src/**/*.test.ts',
            'test/unit/**/*.test.ts',
            'test/golden/**/*.test.ts',
            'test/architecture/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          ...database,
          name: 'database',
          include: ['test/**/*.test.ts'],
          exclude: [
            '**/node_modules/**',
            'test/frontends/**',
            'test/packages/**',
            'test/unit/**',
            'test/golden/**',
            'test/architecture/**',
            ...alone,
            ...waiting,
          ],
        },
      },
      ...(waiting.length === 0
        ? []
        : [
            {
              test: {
                ...database,
                name: 'database waiting',
                include: waiting,
                maxWorkers: 6,
                sequence: { groupOrder: 2 },
              },
            },
          ]),
      {
        test: {
          name: 'frontends',
          include: ['test/frontends/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 600_000,
          ...pairs,
          expect: polling,
        },
      },
      {
        test: {
          name: 'packages',
          include: ['test/packages/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts', 'test/packages/registry-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 600_000,
          ...pairs,
        },
      },
      {
        test: {
          name: 'database alone',
          include: alone,
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          expect: polling,
        },
      },
    ],
  },
});
