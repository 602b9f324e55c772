/** Schemas that nobody of this project wrote: each compiles, type-checks, and every collection can be read. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { graphqlName } from '@tablewright/runtime/language';
import { buildASTSchema, GraphQLSchema, isObjectType, parse, validateSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readClassDocument, readClasses } from '../support/class-documents.ts';
import { createDatabase, loadDump, type TestDatabase, withClient } from '../support/database.ts';
import { startOneLane } from '../support/lanes.ts';
import { createProject, type Platform } from '../support/platform.ts';
import { typeCheck } from '../support/type-check.ts';

const folder = fileURLToPath(new URL('../../../shared/real-schemas/postgres/', import.meta.url));
const schemas = ['chinook', 'cratesio', 'dab', 'pagila', 'temporal'];

/** Every relation with rows that is a user's own: no partitions, nothing of an extension. */
const relations = `
  SELECT n.nspname AS schema, c.relname AS name
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
  ORDER BY 1, 2`;

describe.skipIf(!existsSync(folder))('skipped without ../shared: real schemas', () => {
  describe.each(schemas)('%s', (name) => {
    let database: TestDatabase;
    let project: Awaited<ReturnType<typeof createProject>>;
    let platform: Platform;
    beforeAll(async () => {
      database = await createDatabase();
      await loadDump(database.url, join(folder, `${name}.sql`));
      project = await createProject();
      platform = await startOneLane({ folder: project.folder, databaseUrl: database.url });
    }, 120_000);
    afterAll(async () => {
      await platform?.stop();
      await Promise.all([database?.drop(), project?.remove()]);
    });

    it('has every table in the report', async () => {
      const { tables, collections } = JSON.parse(await readFile(join(project.folder, 'platform.schema.json'), 'utf8'));
      const found = tables.map((table: { schema: string; name: string }) => ({
        schema: table.schema,
        name: table.name,
      }));
      const expected = await withClient(database.url, async (client) => (await client.query(relations)).rows);
      const sorted = (list: readonly { schema: string; name: string }[]): string[] =>
        list.map((item) => JSON.stringify([item.schema, item.name])).sort();
      expect(sorted(found)).toEqual(sorted(expected));
      expect(collections).toHaveLength(tables.length);
    });

    it('compiles to code that tsc accepts', async () => {
      expect(await typeCheck(project.folder)).toBe('');
    }, 120_000);

    it('has a valid GraphQL schema for everybody, with every collection for administrators', async () => {
      for (const name of await readClasses(project.folder)) {
        const all = buildASTSchema(parse(await readClassDocument(project.folder, 'graphql', name)));
        const scopes = [
          ['Query', 'Mutation'],
          ['SystemQuery', 'SystemMutation'],
        ].map(([query = '', mutation = '']) => {
          const [first, second] = [all.getType(query), all.getType(mutation)];
          return new GraphQLSchema({
            query: isObjectType(first) ? first : null,
            mutation: isObjectType(second) ? second : null,
          });
        });
        const faults = [all, ...scopes].flatMap((schema) => validateSchema(schema));
        expect(faults.map(({ message }) => message)).toEqual([]);
        if (name !== 'admin') continue;
        const { collections } = JSON.parse(await readFile(join(project.folder, 'platform.schema.json'), 'utf8'));
        const missing = collections.filter(
          (one: { name: string }) => !isObjectType(all.getType(graphqlName(one.name))),
        );
        expect(missing).toEqual([]);
      }
    });

    it('serves every collection', async () => {
      const { collections } = JSON.parse(await readFile(join(project.folder, 'platform.schema.json'), 'utf8'));
      const failed: string[] = [];
      for (const collection of collections) {
        const path = `/items/${encodeURIComponent(collection.name)}`;
        const nested = `?limit=3&meta=*&fields=${collection.key.length > 0 ? '*.*' : '*'}`;
        for (const url of [`${path}?limit=20`, `${path}${nested}`]) {
          const { status, text } = await platform.admin(url);
          if (status !== 200) failed.push(`${url} → ${status} ${text.slice(0, 200)}`);
        }
        expect((await platform.ask(path)).status).toBe(403);
      }
      expect(failed).toEqual([]);
    }, 120_000);
  });
});
