/**
 * Blocks of commands and requests on pages are run by a test, or say why they are not: ```` ```sh not-run="…" ````. The
 * readers of blocks (`readExamples`, `blocksOf`, `expectPage`) leave these out.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readText, root } from '../../architecture/files.ts';
import { sitePages } from './pages.ts';

interface Block {
  readonly page: string;
  /** Null where a test runs it. */
  readonly reason: string | null;
}

const pages = [...sitePages, 'README.md'];
const blocks = pages.flatMap((page) =>
  [...readText(page).matchAll(/^```(?:sh|bash|shell|console|http)\b(.*)$/gm)].map(([, rest = '']): Block => {
    return { page, reason: /not-run="(.*?)"/.exec(rest)?.[1] ?? null };
  }),
);

/** Tests by the pages whose blocks they run. */
const runBy: Readonly<Record<string, string>> = {
  'README.md': 'test/sample/readme.test.ts',
  'docs/accounts.md': 'test/contract/auth-docs.test.ts',
  'docs/aggregation.md': 'test/contract/aggregation-docs.test.ts',
  'docs/auth.md': 'test/contract/auth-docs.test.ts',
  'docs/client-packages.md': 'test/contract/pages-docs.test.ts',
  'docs/deployment.md': 'test/packages/deployment.test.ts',
  'docs/explaining.md': 'test/contract/pages-docs.test.ts',
  'docs/export.md': 'test/contract/aggregation-docs.test.ts',
  'docs/extensions.md': 'test/contract/extensions-docs.test.ts',
  'docs/files.md': 'test/contract/files-docs.test.ts',
  'docs/filters.md': 'test/contract/documentation.test.ts',
  'docs/functions.md': 'test/database-logic/functions.test.ts',
  'docs/graphql.md': 'test/contract/graphql-docs.test.ts',
  'docs/history.md': 'test/contract/pages-docs.test.ts',
  'docs/model.md': 'test/contract/model-docs.test.ts',
  'docs/openapi.md': 'test/contract/pages-docs.test.ts',
  'docs/query.md': 'test/contract/documentation.test.ts',
  'docs/quickstart/embedded.md': 'test/packages/quickstart.test.ts',
  'docs/quickstart/existing-database.md': 'test/packages/quickstart.test.ts',
  'docs/quickstart/frontend.md': 'test/packages/quickstart.test.ts',
  'docs/refused-writes.md': 'test/contract/writes-docs.test.ts',
  'docs/resources.md': 'test/contract/resources-docs.test.ts',
  'docs/runbooks/back-up-and-restore.md': 'test/operations/runbooks.test.ts',
  'docs/runbooks/database-fails-over.md': 'test/operations/runbooks.test.ts',
  'docs/runbooks/disk-full.md': 'test/operations/runbooks.test.ts',
  'docs/runbooks/erase-a-person.md': 'test/operations/runbooks.test.ts',
  'docs/runbooks/index.md': 'test/support/runbooks.ts',
  'docs/runbooks/leaked-token.md': 'test/operations/runbooks.test.ts',
  'docs/runbooks/lost-administrator.md': 'test/operations/runbooks.test.ts',
  'docs/runbooks/one-step-back.md': 'test/operations/runbooks.test.ts',
  'docs/runbooks/pool-exhausted.md': 'test/operations/runbooks.test.ts',
  'docs/runbooks/rotate-secret.md': 'test/operations/runbooks.test.ts',
  'docs/runbooks/slow-server.md': 'test/operations/runbooks.test.ts',
  'docs/runbooks/upgrade-without-a-gap.md': 'test/operations/runbooks.test.ts',
  'docs/single-sign-on.md': 'test/contract/single-sign-on-docs.test.ts',
  'docs/system-tables.md': 'test/system/documentation.test.ts',
  'docs/writes.md': 'test/contract/writes-docs.test.ts',
};

test('every page with blocks that run has the test that runs them', () => {
  const withBlocks = new Set(blocks.filter(({ reason }) => reason === null).map(({ page }) => page));
  expect(Object.keys(runBy)).toEqual([...withBlocks].sort());
});

test.each(Object.entries(runBy))('%s is read by %s', (page, path) => {
  const name = page.replace(/^docs\/|\.md$/g, '').replace(/^(?:quickstart|runbooks)\//, '');
  const support = path.includes('quickstart') ? readText('test/support/quickstart.ts') : '';
  expect(existsSync(join(root, path))).toBe(true);
  expect(readText(path) + support).toContain(name);
});

test('a block that is not run says why', () => {
  const reasons = blocks.flatMap(({ reason }) => reason ?? []);
  expect(reasons.length).toBeGreaterThan(0);
  expect(reasons.filter((reason) => reason.split(' ').length < 4)).toEqual([]);
});
