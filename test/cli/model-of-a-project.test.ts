/**
 * Collections, fields, relations and rules changed through the API of a project with everything of its own: rules with
 * filters, configuration, hooks, routes, documents and templates, served by the command in several processes.
 */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { type ContractDatabase, createSystemDatabase } from '../support/contract-database.ts';
import { createProject, type Platform, runPlatform, startUnchecked } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { soon } from '../support/timing.ts';

const sql = `
  CREATE TABLE shops (id integer PRIMARY KEY, name varchar(50), owner char(36));
  CREATE TABLE orders (id integer PRIMARY KEY, label varchar(99), amount integer, secret varchar(9),
    shop_id integer REFERENCES shops (id));
  INSERT INTO shops (id, name) VALUES (1, 'Corner'), (2, 'Market');
  INSERT INTO orders VALUES (1, 'bread', 5, 's', 1), (2, 'salt', 1, 's', 2), (3, 'oil', 9, 's', 1)`;

const permissions = `roles:
  clerk: { description: Sells., app: true }
  # The same rules once more, which are read once.
  guest: { description: Looks., app: true }
permissions:
  public:
    purchases:
      read:
        fields: [id, label, amount, shop_id]
        filter: { _and: [{ amount: { _gte: 2 } }, { shop_id: { name: { _neq: Market } } }] }
    shops: { read: { fields: [id, name] } }
  clerk:
    purchases:
      read: { fields: "*", filter: { shop_id: { owner: { _eq: $CURRENT_USER } } } }
      create:
        fields: [id, label, amount, shop_id]
        validation: { amount: { _gt: 0 } }
        presets: { label: { en: none } }
  guest:
    purchases:
      read: { fields: "*", filter: { shop_id: { owner: { _eq: $CURRENT_USER } } } }
      create:
        fields: [id, label, amount, shop_id]
        validation: { amount: { _gt: 0 } }
        presets: { label: { en: none } }
`.replaceAll('{ en: none }', 'none');

const files: Readonly<Record<string, string>> = {
  'permissions.yaml': permissions,
  'extensions/shop.ts': `import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ before, route }) => {
  before('purchases.create', ({ payload }) => {
    payload.label = \`\${payload.label ?? ''}!\`;
  });
  route<{ readonly response: readonly { readonly label: string | null }[] }>(
    'GET /dearest',
    { roles: ['public'] },
    ({ items }) => items('purchases').list({ fields: ['label'], sort: ['-amount'], limit: 1 }),
  );
});
`,
  'documents/public/dear.graphql': 'query Dear { purchases(sort: ["-amount"], limit: 1) { label shop_id { name } } }\n',
};

const config = (source: 'file' | 'tables'): string => `import { defineConfig } from 'tablewright/config';

export default defineConfig({
  permissionSource: '${source}',
  templates: 'templates',
  collections: {
    orders: { name: 'purchases', note: 'Orders.', sort: 'id', fields: { secret: { hidden: true } } },
  },
  relations: { 'shops.purchases': { onDeselect: 'delete' } },
});
`;

async function makeProject(source: 'file' | 'tables') {
  const project = await createProject();
  for (const [path, text] of Object.entries({ ...files, 'platform.config.ts': config(source) })) {
    await mkdir(dirname(join(project.folder, path)), { recursive: true });
    await writeFile(join(project.folder, path), text);
  }
  await mkdir(join(project.folder, 'templates'));
  await cp(join('templates', 'header.hbs'), join(project.folder, 'templates', 'header.hbs'));
  return project;
}

describe.each(['file', 'tables'] as const)('with rules from the %s', (source) => {
  let database: ContractDatabase;
  let project: { readonly folder: string; remove(): Promise<void> };
  let server: Platform;
  afterAll(async () => {
    await server?.stop();
    await project?.remove();
    await database?.drop();
  });
  const admin = async (method: string, path: string, body?: unknown) => {
    const answer = await server.admin(path, { method, body });
    expect([method, path, answer.status, answer.text]).toEqual([
      method,
      path,
      method === 'DELETE' ? 204 : 200,
      answer.text,
    ]);
    return answer.json?.data;
  };
  /** Processes share the port, and each follows within seconds. */
  const everywhere = async (path: string, wanted: unknown) => {
    for (let times = 0; times < 6; times += 1) {
      await soon(async () => (await server.ask(path)).json?.data ?? 'none', wanted, 6_000);
    }
  };

  it('starts, and serves what the project says', { timeout: 120_000 }, async () => {
    database = await createSystemDatabase(sql);
    project = await makeProject(source);
    const run = (...args: string[]) =>
      runPlatform([...args, '--project', project.folder], { DATABASE_URL: database.url });
    if (source === 'tables') {
      // The rules come from the tables, and the file lies beside them.
      const pushed = await run('permissions', 'push', '--yes');
      expect([pushed.code, pushed.stderr]).toEqual([0, pushed.stderr]);
    }
    const generated = await run('generate');
    expect([generated.code, generated.stderr]).toEqual([0, generated.stderr]);
    server = await startUnchecked(project.folder, database.url, { LOG_LEVEL: 'info' }, ['--workers', '2']);
    expect((await server.ask('/items/purchases?fields=id')).json.data).toEqual([{ id: 1 }, { id: 3 }]);
  });

  it('makes, changes and drops collections, fields and relations', { timeout: 120_000 }, async () => {
    await admin('POST', '/collections', {
      collection: 'notes',
      schema: {},
      meta: { note: 'Notes.' },
      fields: [
        { field: 'id', type: 'integer', schema: { is_primary_key: true } },
        { field: 'text', type: 'string', schema: { max_length: 20 } },
        { field: 'order_id', type: 'integer' },
      ],
    });
    await admin('POST', '/relations', {
      collection: 'notes',
      field: 'order_id',
      related_collection: 'purchases',
      meta: { one_field: 'notes' },
      schema: { on_delete: 'CASCADE' },
    });
    await admin('PATCH', '/fields/notes/text', { schema: { max_length: 50 }, meta: { note: 'A text.' } });
    await admin('PATCH', '/relations/notes/order_id', { schema: { on_delete: 'SET NULL' } });
    await admin('PATCH', '/collections/notes', { meta: { note: 'Texts.' } });
    await admin('POST', '/fields/purchases', { field: 'colour', type: 'string' });
    await soon(async () => (await server.admin('/fields/purchases/colour')).status, 200, 6_000);
    await soon(async () => (await server.admin('/items/notes')).status, 200, 6_000);
    await admin('DELETE', '/relations/notes/order_id');
    await admin('DELETE', '/fields/purchases/colour');
    await admin('DELETE', '/collections/notes');
    expect((await server.ask('/items/purchases?fields=id')).json.data).toEqual([{ id: 1 }, { id: 3 }]);
  });

  it('keeps hooks, routes, documents and rules of the project', { timeout: 60_000 }, async () => {
    expect((await server.ask('/dearest')).json).toEqual([{ label: 'oil' }]);
    const { label } = await admin('POST', '/items/purchases', { id: 4, label: 'tea', amount: 2, shop_id: 1 });
    expect(label).toBe('tea!');
    const query = '{ purchases(sort: ["-amount"], limit: 1) { label shop_id { name } } }';
    const asked = await server.ask('/graphql', { method: 'POST', body: { query } });
    expect(asked.json).toEqual({ data: { purchases: [{ label: 'oil', shop_id: { name: 'Corner' } }] } });
    // The other process may not serve the changed tables yet. Administrators are also told of waits on a busy machine.
    await expect.poll(async () => (await server.ask('/server/health')).json).toEqual({ status: 'ok' });
  });

  it('compiles a changed rule, or says where rules are written', { timeout: 60_000 }, async () => {
    const rule = { collection: 'purchases', action: 'read', fields: ['id'], permissions: { amount: { _lt: 2 } } };
    if (source === 'file') {
      expect(failure(await server.admin('/permissions', { method: 'POST', body: rule }))).toBe(
        '422 UNPROCESSABLE_ENTITY',
      );
      return;
    }
    const { id } = await admin('POST', '/permissions', rule);
    await everywhere('/items/purchases?fields=id', [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }]);
    await admin('PATCH', `/permissions/${id}`, { permissions: { amount: { _gt: 100 } } });
    await everywhere('/items/purchases?fields=id', [{ id: 1 }, { id: 3 }, { id: 4 }]);
    await admin('DELETE', `/permissions/${id}`);
    await everywhere('/items/purchases?fields=id', [{ id: 1 }, { id: 3 }, { id: 4 }]);
  });

  it('tells once that the tables of the model cannot be read, and once that they can', {
    timeout: 60_000,
  }, async () => {
    const table = source === 'tables' ? 'platform_permissions' : 'platform_fields';
    const told = (text: string): number => server.log().split(text).length - 1;
    const [lost, found] = ['The tables of the model cannot be read', 'The tables of the model can be read again'];
    await database.rows(`ALTER TABLE platform.${table} RENAME TO hidden_away`);
    // Each of the two processes looks every two seconds.
    await soon(async () => told(lost), 2, 15_000);
    await sleep(5_000);
    await database.rows(`ALTER TABLE platform.hidden_away RENAME TO ${table}`);
    await soon(async () => told(found), 2, 15_000);
    expect(told(lost)).toBe(2);
  });
});
