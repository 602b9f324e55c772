/** Schemas for MySQL that nobody of this project wrote: each loads, compiles with every table, type-checks, and is read. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parsePermissions, resolveSchema } from '@tablewright/introspect';
import { serve } from '@tablewright/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileFacts, importApi } from '../support/compile.ts';
import { freePort } from '../support/free-port.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { mysqlFacts } from '../support/mysql-facts.ts';
import { adminToken, createProject, secret } from '../support/platform.ts';
import { mysqlSchema, noRealSchemas } from '../support/real-schemas.ts';
import { servers } from '../support/servers.ts';
import { typeCheck } from '../support/type-check.ts';

const schemas = ['chinook', 'dab', 'sakila', 'temporal'];

describe.each(servers)('skipped without ../shared: real schemas on $name', ({ missing, start }) => {
  if (missing || noRealSchemas) return void it.skip('is not there');

  const urls = new Map<string, string>();
  let server: MysqlServer;
  let project: Awaited<ReturnType<typeof createProject>>;
  beforeAll(async () => {
    [server, project] = await Promise.all([start(), createProject()]);
  });
  afterAll(() => Promise.all([server?.stop(), project?.remove()]));

  it.each(schemas)('%s compiles with every table', async (name) => {
    const url = await createMysqlDatabase(server, await mysqlSchema(name));
    urls.set(name, url);
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

  it.each(schemas)('%s is served in every collection', async (name) => {
    const port = await freePort();
    const variables = {
      ADMIN_TOKEN: adminToken,
      SECRET: secret,
      HOST: '127.0.0.1',
      PORT: String(port),
      LOG_LEVEL: 'error',
    };
    const api = await importApi(join(project.folder, 'generated', name));
    const served = await serve(api, { variables, database: { url: urls.get(name) ?? '' }, signals: false });
    const failed: string[] = [];
    for (const { name: collection, key } of api.collections) {
      const path = `${served.url}/items/${encodeURIComponent(collection)}`;
      for (const url of [`${path}?limit=20`, `${path}?limit=3&meta=*&fields=${key.length > 0 ? '*.*' : '*'}`]) {
        const answer = await fetch(url, { headers: { authorization: `Bearer ${adminToken}` } });
        const text = await answer.text();
        if (answer.status !== 200) failed.push(`${url} → ${answer.status} ${text.slice(0, 200)}`);
        else JSON.parse(text);
      }
    }
    expect([served.drifts(), failed]).toEqual([[], []]);
    await served.close();
  });

  it('compiles to code that tsc accepts', async () => {
    expect(await typeCheck(project.folder)).toBe('');
  }, 120_000);
});
