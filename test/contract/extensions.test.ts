/** Hooks of a project: in the transaction, after it, refusing, writing, running again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { isOnMariadb } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { typeCheck } from '../support/type-check.ts';

const shop = `import { PlatformError } from '@tablewright/runtime';
import { defineExtension } from '../generated/extension.js';

// A promise of another class, as query builders have them.
const endless: Promise<void> = JSON.parse('{}');
Object.assign(endless, { then: () => undefined });

export default defineExtension(({ before, after, afterCommit }) => {
  before('orders.create', async ({ payload, caller, items }) => {
    payload.label = \`\${payload.label ?? 'order'} of \${caller.role ?? 'nobody'}\`;
    if (payload.amount === 13) throw new PlatformError('FAILED_VALIDATION', 'Thirteen is refused.', { field: 'amount' });
    if (payload.amount === 14) throw new Error('a bug');
    if (payload.amount === 22) Reflect.set(payload, 'label', () => 'no text');
    if (payload.amount === 23) void Promise.reject(new Error('a forgotten await'));
    if (payload.amount === 26) void Promise.reject(Object.create(null));
    if (payload.amount === 24) Reflect.set(payload, 'id', 7);
    if (payload.amount === 15) payload.label = 'x'.repeat(99);
    const [stock] = await items('stock').list({ fields: ['id', 'left'], filter: { id: 1 } });
    if (stock !== undefined && stock.left === 0) throw new PlatformError('UNPROCESSABLE_ENTITY', 'Sold out.');
  });
  after('orders.create', async ({ key, payload, items }) => {
    await items.asAdmin('audit').create({ what: \`created \${key}: \${payload.amount}\` });
    if (payload.amount === 16) await items('audit').create({ what: 'not allowed' }).catch(() => undefined);
    if (payload.amount === 17) void items.asAdmin('audit').create({ what: 'not awaited' });
    if (payload.amount === 18) await new Promise(() => undefined);
    if (payload.amount === 19) throw new PlatformError('FORBIDDEN');
  });
  before('orders.update', ({ keys, payload }) => {
    if (payload.label === 'keys') payload.label = JSON.stringify(keys);
  });
  after('orders.update', async ({ keys, items }) => {
    await items.asAdmin('audit').create({ what: \`updated \${keys.join(' ')}\` });
  });
  before('orders.delete', ({ keys }) => {
    if (keys?.includes(99)) throw new PlatformError('UNPROCESSABLE_ENTITY', 'Order 99 stays.');
  });
  after('orders.delete', async ({ keys, items }) => {
    await items.asAdmin('audit').create({ what: \`deleted \${keys.join(' ')}\` });
  });
  afterCommit('orders.create', async ({ key, payload, items }) => {
    await items.asAdmin('audit').create({ what: \`committed \${key}\` });
    if (payload.amount === 20) throw new Error('too late');
  });
  afterCommit('orders.update', async ({ keys, payload, items }) => {
    if (payload.amount === 30) await items.asAdmin('orders').update(keys, { amount: 30 });
  });
  after('orders.create', ({ payload }) => (payload.amount === 25 ? endless : undefined));
  before('audit.create', ({ payload }) => {
    payload.what = payload.what?.toUpperCase() ?? null;
  });
});
`;

/** No part of the server: only the type checker reads it, and every expectation fails when there is no error. */
const typesTest = `import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ before, after }) => {
  // @ts-expect-error: there is no such collection
  before('nothing.create', () => {});
  // @ts-expect-error: there is no such action
  before('orders.destroy', () => {});
  // @ts-expect-error: nobody can write a view
  before('labels.create', () => {});
  // @ts-expect-error: settings are changed only
  before('settings.create', () => {});
  before('orders.create', async ({ payload, items }) => {
    // @ts-expect-error: there is no such field
    payload.nothing = 1;
    // @ts-expect-error: the type is another
    payload.amount = 'x';
    // @ts-expect-error: there is no such collection
    items('nothing');
    // @ts-expect-error: there is no such field
    await items('orders').list({ fields: ['nothing'] });
    const [order] = await items('orders').list({ fields: ['label'] });
    // @ts-expect-error: it was not asked for
    order?.amount;
    const label: string | undefined = order?.label;
    // @ts-expect-error: the label is required
    await items('orders').create({ amount: 1 });
    // @ts-expect-error: nobody can write a view
    await items('labels').create({ label });
    await items('settings').update({ title: 'x' });
  });
  after('orders.create', ({ key }) => {
    const id: number = key;
    // @ts-expect-error: keys of orders are numbers
    const text: string = key;
    return void [id, text];
  });
});
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    portable: true,
    sql: `
      CREATE TABLE orders (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, label varchar(40) NOT NULL, amount integer);
      CREATE TABLE audit (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, what text);
      CREATE TABLE stock (id integer PRIMARY KEY, "left" integer);
      CREATE TABLE settings (id integer PRIMARY KEY DEFAULT 1, title text);
      CREATE VIEW labels AS SELECT upper(label) AS label FROM orders;`,
    postgres: `
      CREATE SEQUENCE tries;
      CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.amount = 21 AND nextval('tries') < 3 THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END IF;
        RETURN NEW; END $$;
      CREATE TRIGGER orders_conflict BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION conflict();`,
    config: '{ collections: { settings: { singleton: true } } }',
    permissions: `
permissions:
  public:
    orders:
      read: { fields: ["*"] }
      create: { fields: [label, amount] }
      update: { fields: [label] }
      delete: {}
    stock: { read: { fields: ["*"] } }`,
    extensions: { 'shop.ts': shop, 'types.test.ts': typesTest },
    environment: { DATABASE_STATEMENT_TIMEOUT: '1500', LOG_LEVEL: 'warn' },
  });
});
beforeEach(async () => {
  await project.rows('TRUNCATE orders, audit, stock RESTART IDENTITY');
  await project.rows('INSERT INTO stock VALUES (1, 5)');
});
afterAll(() => project?.close());

const ask = (method: string, path: string, body?: unknown) => project.ask(`/items/${path}`, { method, body });

async function audit(): Promise<readonly string[]> {
  return (await project.rows('SELECT what FROM audit ORDER BY id')).map(({ what }) => String(what));
}

async function auditOf(count: number): Promise<readonly string[]> {
  for (let tries = 0; tries < 400 && (await audit()).length < count; tries++) await sleep(50);
  return audit();
}

/** Audits once the hooks of one more order have run, before which those of what was refused or has ended would have. */
async function auditBehindAnother(): Promise<readonly string[]> {
  const { length } = await audit();
  const { id } = (await ask('POST', 'orders', { amount: 2 })).json.data;
  const found = await auditOf(length + 2);
  expect(found.slice(-2)).toEqual([`CREATED ${id}: 2`, `COMMITTED ${id}`]);
  return found.slice(0, -2);
}

async function orders(): Promise<number> {
  return (await project.rows('SELECT id FROM orders')).length;
}

it('changes the payload, fills what is required, writes elsewhere and runs after the commit', async () => {
  const { status, json } = await ask('POST', 'orders', { amount: 2 });
  expect({ status, json }).toEqual({ status: 200, json: { data: { id: 1, label: 'order of nobody', amount: 2 } } });
  expect(await auditOf(2)).toEqual(['CREATED 1: 2', 'COMMITTED 1']);
});

it('runs once for each item of a batch', async () => {
  const { status, json } = await ask('POST', 'orders', [{ label: 'a' }, { label: 'b', amount: 3 }]);
  expect(status).toBe(200);
  expect(json.data.map(({ label }: { label: string }) => label)).toEqual(['a of nobody', 'b of nobody']);
  expect(await auditOf(4)).toEqual(['CREATED 1: UNDEFINED', 'CREATED 2: 3', 'COMMITTED 1', 'COMMITTED 2']);
});

it('may not add what the caller may not write, of which the log tells hook and field', async () => {
  const { status, text } = await ask('POST', 'orders', { amount: 24 });
  expect([status, text]).toEqual([403, expect.not.stringContaining('id')]);
  await expect.poll(() => project.log()).toContain('"event":"orders.create","field":"id"');
  expect(project.log()).not.toContain('"field":"label"');
});

it('answers the error of a hook and undoes everything', async () => {
  const refused = await ask('POST', 'orders', { amount: 13 });
  expect(refused.json.errors[0]).toEqual({
    message: 'Thirteen is refused.',
    extensions: { code: 'FAILED_VALIDATION', field: 'amount' },
  });
  expect(failure(await ask('POST', 'orders', { amount: 19 }))).toBe('403 FORBIDDEN');
  expect(failure(await ask('POST', 'orders', [{ amount: 1 }, { amount: 13 }]))).toBe('400 FAILED_VALIDATION');
  expect([await orders(), await auditBehindAnother()]).toEqual([0, []]);
});

it('answers 500 for any other error, whose cause only the log shows', async () => {
  const broken = await ask('POST', 'orders', { amount: 14 });
  expect(failure(broken)).toBe('500 INTERNAL_SERVER_ERROR');
  expect(broken.text).not.toContain('a bug');
  await expect.poll(() => project.log()).toContain('a bug');
  expect(await orders()).toBe(0);
});

it('says which value of a hook is no JSON', async () => {
  expect(failure(await ask('POST', 'orders', { amount: 22 }))).toBe('500 INTERNAL_SERVER_ERROR');
  await expect.poll(() => project.log()).toContain('\\"orders.label\\" is no JSON, but of the type function.');
});

it('goes on where a hook leaves a promise that rejects, which the log shows', async () => {
  expect((await ask('POST', 'orders', { amount: 23 })).status).toBe(200);
  await expect.poll(() => project.log()).toContain('a forgotten await');
  expect((await ask('POST', 'orders', { amount: 26 })).status).toBe(200);
  await expect.poll(() => project.log()).toContain('A value without a text');
  expect((await ask('GET', 'orders')).status).toBe(200);
});

it('judges what a hook wrote like a payload', async () => {
  expect(failure(await ask('POST', 'orders', { amount: 15 }))).toBe('400 FAILED_VALIDATION');
});

it('judges what was sent before any hook runs', async () => {
  expect(failure(await ask('POST', 'orders', { amount: 14, nothing: 1 }))).toBe('403 FORBIDDEN');
  expect(failure(await ask('POST', 'orders', 'x'))).toBe('400 INVALID_PAYLOAD');
  expect(failure(await ask('POST', 'audit', { what: 'x' }))).toBe('403 FORBIDDEN');
});

it('reads in the transaction', async () => {
  await project.rows('UPDATE stock SET "left" = 0');
  expect(failure(await ask('POST', 'orders', { amount: 1 }))).toBe('422 UNPROCESSABLE_ENTITY');
});

it('undoes everything when a write of a hook fails, also when the hook passes it over', async () => {
  expect(failure(await ask('POST', 'orders', { amount: 16 }))).toBe('403 FORBIDDEN');
  expect([await orders(), await audit()]).toEqual([0, []]);
});

it('waits for writes that a hook does not wait for', async () => {
  expect((await ask('POST', 'orders', { amount: 17 })).status).toBe(200);
  expect(await auditOf(3)).toEqual(['CREATED 1: 17', 'NOT AWAITED', 'COMMITTED 1']);
});

it.each([18, 25])('gives up a hook that takes too long: %s', async (amount) => {
  expect(failure(await ask('POST', 'orders', { amount }))).toBe('500 INTERNAL_SERVER_ERROR');
  expect([await orders(), await audit()]).toEqual([0, []]);
  await expect.poll(() => project.log()).toContain('took longer than 1500 ms');
});

it('ends a circle of hooks that each follow the COMMIT of the one before', async () => {
  await project.rows(`INSERT INTO orders (label) VALUES ('a')`);
  const change = { method: 'PATCH', body: { amount: 30 } };
  expect((await project.admin('/items/orders/1', change)).status).toBe(200);
  await expect.poll(() => project.log()).toContain('call each other forever');
  // A circle without an end would go on beside the hooks of another order.
  expect(await auditBehindAnother()).toEqual(Array(8).fill('UPDATED 1'));
});

it('answers although a hook fails after the commit', async () => {
  expect((await ask('POST', 'orders', { amount: 20 })).status).toBe(200);
  expect(await auditOf(2)).toEqual(['CREATED 1: 20', 'COMMITTED 1']);
  await expect.poll(() => project.log()).toContain('too late');
});

it('waits for the end of a mutation of several fields, and runs for nothing that is undone', async () => {
  const create = (name: string, amount: number) =>
    `${name}: create_orders_item(data: { label: "${name}", amount: ${amount} }) { id }`;
  const mutate = (second: number) => {
    const query = `mutation { ${create('a', 1)} ${create('b', second)} }`;
    return project.ask('/graphql', { method: 'POST', body: { query } });
  };
  expect((await mutate(13)).json.data).toBeNull();
  expect([await orders(), await auditBehindAnother()]).toEqual([0, []]);
  await project.rows('TRUNCATE audit');
  const { a, b } = (await mutate(2)).json.data;
  const created = [`CREATED ${a.id}: 1`, `CREATED ${b.id}: 2`];
  expect(await auditOf(4)).toEqual([...created, `COMMITTED ${a.id}`, `COMMITTED ${b.id}`]);
});

// The table of MariaDB has no trigger that meets a conflict twice.
it.skipIf(isOnMariadb())(
  'runs again with the payload as it was sent when the transaction does, and once after the commit',
  async () => {
    const { status, json } = await ask('POST', 'orders', { label: 'one', amount: 21 });
    expect([status, json.data.label]).toEqual([200, 'one of nobody']);
    const [created, committed, ...others] = await auditOf(2);
    expect([created, committed, others]).toEqual([`CREATED ${json.data.id}: 21`, `COMMITTED ${json.data.id}`, []]);
  },
);

it('gives the keys of changed and removed items', async () => {
  await ask('POST', 'orders', [{}, {}, {}]);
  await auditOf(6);
  await project.rows('TRUNCATE audit');
  expect((await ask('PATCH', 'orders/1', { label: 'keys' })).json.data.label).toBe('[1]');
  expect((await ask('PATCH', 'orders', { keys: [1, 2], data: { label: 'keys' } })).json.data[0].label).toBe('[1,2]');
  const each = await ask('PATCH', 'orders', [
    { id: 3, label: 'keys' },
    { id: 1, label: 'keys' },
  ]);
  expect(each.json.data.map(({ label }: { label: string }) => label)).toEqual(['[3]', '[1]']);
  const queried = { query: { filter: { id: { _gt: 1 } } }, data: { label: 'keys' } };
  expect((await ask('PATCH', 'orders', queried)).json.data[0].label).toBe('null');
  expect((await ask('DELETE', 'orders/1')).status).toBe(204);
  expect((await ask('DELETE', 'orders', { query: { filter: { id: { _gt: 1 } } } })).status).toBe(204);
  expect(failure(await ask('DELETE', 'orders', [99]))).toBe('422 UNPROCESSABLE_ENTITY');
  expect(await audit()).toEqual([
    'UPDATED 1',
    'UPDATED 1 2',
    'UPDATED 3',
    'UPDATED 1',
    'UPDATED 2 3',
    'DELETED 1',
    'DELETED 2 3',
  ]);
});

it('is typed: what is no collection, action or field is an error', async () => {
  expect(await typeCheck(project.folder)).toBe('');
}, 300_000);
