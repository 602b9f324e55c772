/** Schemas for MySQL that nobody of this project wrote: each loads, compiles with every table, and type-checks. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parsePermissions, resolveSchema } from '@platform/introspect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileFacts } from '../support/compile.ts';
import {
  createMysqlDatabase,
  type MariadbServer,
  noMariadb,
  startMariadb,
  withMysql,
  withoutMariadb,
} from '../support/mariadb.ts';
import { mysqlFacts } from '../support/mysql-facts.ts';
import { createProject } from '../support/platform.ts';
import { typeCheck } from '../support/type-check.ts';

const folder = fileURLToPath(new URL('../../../shared/real-schemas/mysql/', import.meta.url));
const schemas = ['chinook', 'dab', 'sakila', 'temporal'];

describe.skipIf(noMariadb || !existsSync(folder))(
  `skipped without ../shared: real schemas on MariaDB${withoutMariadb}`,
  () => {
    let server: MariadbServer;
    let project: Awaited<ReturnType<typeof createProject>>;
    beforeAll(async () => {
      [server, project] = await Promise.all([startMariadb(), createProject()]);
    });
    afterAll(() => Promise.all([server?.stop(), project?.remove()]));

    it.each(schemas)('%s compiles with every table', async (name) => {
      const url = await createMysqlDatabase(server, await readFile(join(folder, `${name}.sql`), 'utf8'));
      const facts = await mysqlFacts(url);
      const { document } = parsePermissions('', 'permissions.yaml');
      const { schema, diagnostics } = resolveSchema(facts, {}, document);
      expect([...facts.diagnostics, ...diagnostics].filter(({ severity }) => severity === 'error')).toEqual([]);
      const tables = await withMysql(url, async (connection) => (await connection.query('SHOW TABLES'))[0]);
      expect(schema.collections).toHaveLength(Array.isArray(tables) ? tables.length : -1);
      for (const { path, contents } of await compileFacts(schema)) {
        await mkdir(dirname(join(project.folder, 'generated', name, path)), { recursive: true });
        await writeFile(join(project.folder, 'generated', name, path), contents);
      }
    });

    it('compiles to code that tsc accepts', async () => {
      expect(await typeCheck(project.folder)).toBe('');
    }, 120_000);
  },
);
