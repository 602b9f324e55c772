/** Changes by GraphQL and by the client library, beside other sessions, and their migrations. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@tablewright/client';
import { describe, expect, it } from 'vitest';
import { createContractDatabase } from '../../support/contract-database.ts';
import { withMysql } from '../../support/mariadb.ts';
import { adminToken } from '../../support/platform.ts';
import { runWarm } from '../../support/warm-command.ts';
import type { ModelStage } from './stage.ts';

export function askElsewhere(stage: ModelStage): void {
  const { done, onPostgres, refused, run, tables } = stage;
  it('GraphQL does the same', async () => {
    async function ask(document: string) {
      const { json } = await stage.server.admin('/graphql/system', {
        method: 'POST',
        body: { query: `mutation { ${document} }` },
      });
      return json.errors === undefined ? Object.values(json.data)[0] : json.errors[0].extensions.code;
    }
    const made =
      'create_collections_item(data: { collection: "notes", schema: {}, meta: { icon: "pen" } }) { collection meta }';
    expect(await ask(made)).toMatchObject({ collection: 'notes', meta: { icon: 'pen' } });
    expect(await ask(made)).toBe('INVALID_PAYLOAD');
    expect(
      await ask('update_collections_item(collection: "notes", data: { meta: { hidden: true } }) { meta }'),
    ).toMatchObject({
      meta: { hidden: true },
    });
    expect(
      await ask('create_fields_item(collection: "notes", data: { field: "shelf", type: "integer" }) { type }'),
    ).toEqual({
      type: 'integer',
    });
    expect(
      await ask('update_fields_item(collection: "notes", field: "shelf", data: { type: "bigInteger" }) { type }'),
    ).toEqual({ type: 'bigInteger' });
    const line = 'create_fields_item(collection: "notes", data: { field: "line", type: "alias" }) { type meta }';
    expect(await ask(line)).toMatchObject({ type: 'alias', meta: { special: ['alias', 'no-data'] } });
    expect(await ask('delete_fields_item(collection: "notes", field: "line") { field }')).toEqual({ field: 'line' });
    // Keys of MySQL and MariaDB have the type of what they lead to.
    const integer = 'update_fields_item(collection: "notes", field: "shelf", data: { type: "integer" }) { type }';
    expect(await ask(integer)).toEqual({ type: 'integer' });
    const relation = '{ collection: "notes", field: "shelf", related_collection: "shelves" }';
    expect(await ask(`create_relations_item(data: ${relation}) { related_collection }`)).toEqual({
      related_collection: 'shelves',
    });
    expect(
      await ask(
        'update_relations_item(collection: "notes", field: "shelf", data: { meta: { one_field: "notices" } }) { meta }',
      ),
    ).toMatchObject({ meta: { one_field: 'notices' } });
    const names = { collection: 'notes', field: 'shelf' };
    expect(await ask('delete_relations_item(collection: "notes", field: "shelf") { collection field }')).toEqual(names);
    await done('POST', '/items/notes', { shelf: 7 });
    expect(await ask('delete_fields_item(collection: "notes", field: "shelf") { field }')).toBe('UNPROCESSABLE_ENTITY');
    expect(
      await ask('delete_fields_item(collection: "notes", field: "shelf", discard: true) { collection field }'),
    ).toEqual(names);
    expect(await ask('delete_collections_item(collection: "notes", discard: true) { collection }')).toEqual({
      collection: 'notes',
    });
  });

  it('the client library does, too', async () => {
    const client = createClient(stage.server.url, { auth: { mode: 'json', staticToken: adminToken } });
    const made = await client.collections.createOne({ collection: 'cards', schema: {} });
    expect(made).toMatchObject({ collection: 'cards', schema: { kind: 'table' } });
    const text = { field: 'text', type: 'string' };
    expect(await client.fields.createMany('cards', [text, { field: 'shelf', type: 'integer' }])).toMatchObject({
      data: [text, { field: 'shelf' }],
    });
    expect(await client.fields.updateOne('cards', 'text', { schema: { max_length: 9 } })).toMatchObject({
      schema: { max_length: 9 },
    });
    expect(await client.collections.updateBatch([{ collection: 'cards', meta: { icon: 'card' } }])).toMatchObject({
      data: [{ meta: { icon: 'card' } }],
    });
    const relation = { collection: 'cards', field: 'shelf', related_collection: 'shelves' };
    expect(await client.relations.createOne(relation)).toMatchObject(relation);
    const cards = { field: 'cards', type: 'alias', meta: { special: ['o2m'], interface: 'list' } };
    expect(await client.fields.createOne('shelves', cards)).toMatchObject(cards);
    await client.relations.deleteOne('cards', 'shelf');
    await client.fields.deleteOne('cards', 'shelf');
    await expect(client.fields.deleteMany('cards', ['text'])).rejects.toMatchObject({ code: 'ROUTE_NOT_FOUND' });
    await client.collections.deleteOne('cards');
  });

  describe.skipIf(onPostgres)('other sessions of MySQL and MariaDB', () => {
    const lock = "CONCAT('platform model ', LEFT(SHA2(DATABASE(), 256), 40))";
    const field = { field: 'late', type: 'integer' };

    it('may use a table for longer than a transaction may be silent', async () => {
      await withMysql(stage.database.url, async (migrating) => {
        await withMysql(stage.database.url, async (reading) => {
          await migrating.query(`SELECT GET_LOCK(${lock}, 5)`);
          await reading.query('START TRANSACTION; SELECT * FROM lots');
          const change = done('POST', '/fields/lots', field);
          await sleep(8_500);
          await migrating.query('DO RELEASE_ALL_LOCKS()');
          await sleep(4_000);
          await reading.query('COMMIT');
          expect(await change).toMatchObject({ field: 'late' });
        });
      });
      expect(
        await run("SELECT name FROM platform.platform_project_migrations WHERE name LIKE '%add-lots-late'"),
      ).toHaveLength(1);
    }, 60_000);

    it('that migrate for long leave a change for later', async () => {
      await withMysql(stage.database.url, async (migrating) => {
        await migrating.query(`SELECT GET_LOCK(${lock}, 5)`);
        expect(await refused('POST', '/fields/lots', { ...field, field: 'later' })).toBe('503 SERVICE_UNAVAILABLE');
      });
    }, 60_000);
  });

  describe('migrations', () => {
    it('lie in the project, and make the same of another database', async () => {
      const files = (await readdir(join(stage.project.folder, 'migrations'))).sort();
      const applied = await run('SELECT name, checksum FROM platform.platform_project_migrations ORDER BY name');
      expect(files).toEqual(applied.map(({ name }) => `${name}.sql`));
      expect(files[0]).toBe('0001-create-books.sql');
      const schema = async (url: string) => {
        const { tables, model } = JSON.parse(
          await readFile(join(stage.project.folder, 'platform.schema.json'), 'utf8'),
        );
        return { url, tables, model };
      };
      const here = await schema(stage.database.url);
      const other = await createContractDatabase(tables);
      try {
        const migrate = (...more: string[]) =>
          runWarm(['migrate', '--project', stage.project.folder, ...more], { DATABASE_URL: other.url });
        expect(await migrate()).toMatchObject({ code: 0 });
        expect((await migrate()).stderr).toContain('up to date');
        expect((await migrate('--status')).code).toBe(0);
        const generated = await runWarm(['introspect', '--project', stage.project.folder], { DATABASE_URL: other.url });
        expect(generated.code).toBe(0);
        const there = await schema(other.url);
        expect(there.model).toEqual(here.model);
        expect(there.tables).toEqual(here.tables);
        // Also where it was made nothing is done twice.
        const again = await runWarm(['migrate', '--project', stage.project.folder], {
          DATABASE_URL: stage.database.url,
        });
        expect(again.stderr).toContain('up to date');
      } finally {
        await other.drop();
      }
    });

    it('come after files of the project, however these are numbered', async () => {
      const last = async () => (await readdir(join(stage.project.folder, 'migrations'))).sort().at(-1);
      const write = (name: string) => writeFile(join(stage.project.folder, 'migrations', name), 'SELECT 1;\n');
      await write('100_own.sql');
      await done('POST', '/collections', { collection: 'later', schema: {} });
      expect(await last()).toBe('101-create-later.sql');
      await write('9_own.sql');
      await done('PATCH', '/collections/later', { meta: { icon: 'x' } });
      await done('DELETE', '/collections/later');
      expect(await last()).toBe('9z0002-drop-later.sql');
    });

    it('are told by activity', async () => {
      const rows = await run(`SELECT action, collection, item FROM platform.platform_activity
        WHERE collection IN ('platform_collections', 'platform_fields', 'platform_relations') ORDER BY id LIMIT 1`);
      expect(rows).toEqual([{ action: 'create', collection: 'platform_collections', item: 'books' }]);
    });
  });
}
