import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildTables } from '@tablewright/introspect';
import { describe, expect, test } from 'vitest';
import { createDatabase, loadDump, withClient } from '../support/database.ts';
import { catalogOf, shuffled } from './facts.ts';

/** Schemas that nobody here wrote, beside the repository; not part of it. */
const folder = fileURLToPath(new URL('../../../shared/real-schemas/postgres', import.meta.url));
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sql')) : [];

/** Every relation with rows that is neither a partition nor an extension's. */
const relationsSql = `
  SELECT n.nspname AS schema, c.relname AS name, (
    SELECT count(*)::int FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  ) AS columns
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'
    AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"`;

describe.skipIf(files.length === 0)('real schemas (skipped without the folder shared/real-schemas)', () => {
  test.each(files)(
    '%s: every relation and column is there, in any order of rows',
    { timeout: 120_000 },
    async (file) => {
      const database = await createDatabase();
      await loadDump(database.url, join(folder, file));
      const { rows } = await withClient(database.url, (client) => client.query(relationsSql));
      const catalog = await catalogOf(database.url);
      await database.drop();
      const facts = buildTables(catalog);
      const found = facts.tables.map(({ schema, name, columns }) => ({ schema, name, columns: columns.length }));
      expect(found).toEqual(rows);
      expect(facts.diagnostics.filter((diagnostic) => diagnostic.severity !== 'info')).toEqual([]);
      expect(JSON.stringify(buildTables(shuffled(catalog, 7)))).toBe(JSON.stringify(facts));
    },
  );
});
