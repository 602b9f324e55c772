/** The documentation page over schemas that are large, or that nobody of this project wrote. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemaOf } from '../../bench/compile-schema.ts';
import {
  type Browser,
  browserVersion,
  expectCalm,
  patience,
  startBrowser,
  withoutBrowser,
} from '../support/browser.ts';
import { createDatabase, loadDump } from '../support/database.ts';
import { docsPage } from '../support/docs-page.ts';
import { startCompiled } from '../support/host.ts';
import { adminToken, createProject } from '../support/platform.ts';

const pagila = fileURLToPath(new URL('../../../shared/real-schemas/postgres/pagila.sql', import.meta.url));

/** `sql`, or a dump where the machine has it. */
const schemas = [
  {
    name: 'a thousand tables',
    sql: () => schemaOf(1000),
    tag: 'items/table_500',
    read: 'readItemsTable_500',
    found: 8,
    answer: '"data"',
  },
  {
    name: 'Pagila',
    dump: pagila,
    tag: 'items/film',
    read: 'readItemsFilm',
    found: 8,
    answer: 'ACADEMY DINOSAUR',
  },
].filter(({ dump }) => dump === undefined || existsSync(dump));

describe.skipIf(browserVersion === undefined)(
  `the documentation page of${withoutBrowser}`,
  { timeout: 6 * patience },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(() => browser?.close());

    it.each(schemas)(
      '$name is there in three seconds, searched and tried',
      async ({ sql, dump, tag, read, ...told }) => {
        const database = await createDatabase(sql?.());
        if (dump !== undefined) await loadDump(database.url, dump);
        const project = await createProject();
        const server = await startCompiled(project.folder, database.url, { DOCS: 'true' });
        const visitor = await browser.visit(server.url);
        try {
          const docs = docsPage(visitor.page);
          await docs.open(server.url);
          await docs.become(adminToken);
          expect(await docs.search(tag)).toContain('operations found');
          expect(await docs.openAll(tag)).toBe(told.found);
          const answer = await docs.send(read);
          expect(answer).toMatch(/^200/);
          expect(answer).toContain(told.answer);
          expectCalm(visitor);
        } finally {
          await visitor.leave();
          await server.stop();
          await Promise.all([database.drop(), project.remove()]);
        }
      },
    );
  },
);
