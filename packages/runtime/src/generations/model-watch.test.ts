import { expect, test } from 'vitest';
import type { CompiledApi } from '../language/index.ts';
import type { Recompiler } from '../model/recompiler.ts';
import { createModelWatch } from './model-watch.ts';

const log = { info() {}, warn() {}, error() {} };

/** Watches tables without rows that are always the same, while `compile` makes APIs of them. */
function watchTables(
  compile: () => CompiledApi,
  swap: (api: CompiledApi) => Promise<void>,
  current: () => CompiledApi,
) {
  const recompiler = {
    permissions: true,
    digests: () => ({ permissions: 'new', model: undefined }),
    compile: async () => ({ api: compile() }),
  } as unknown as Recompiler;
  const query = async (text: string) => (text.includes("'mark'") ? [['unchanged']] : []);
  const transaction = (run: (transaction: { run(): Promise<void> }) => Promise<{ readonly value: unknown }>) =>
    run({ run: async () => {} }).then(({ value }) => value);
  const database = { query, transaction } as unknown as Parameters<typeof createModelWatch>[0]['database'];
  const place = { schema: 'platform', dialect: 'postgres' } as const;
  return createModelWatch({ database, place, recompiler, current, swap, log, isShared: false });
}

const api = (permissionsDigest: string): CompiledApi => ({ permissionsDigest }) as unknown as CompiledApi;

test('an API of earlier rows that takes the place of the served one is replaced by the next look', async () => {
  let served = api('new');
  const watch = watchTables(
    () => api('new'),
    async (next) => {
      served = next;
    },
    () => served,
  );
  await watch.look();
  served = api('old');
  await watch.look();
  expect(served.permissionsDigest).toBe('new');
  const replaced = served;
  await watch.look();
  expect(served).toBe(replaced);
});
