/** Tenants over REST and GraphQL: every rule is `true`, and yet nobody meets a row of another company. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemDatabase } from '../support/contract-database.ts';
import { createProject, runPlatform } from '../support/platform.ts';
import { failure, serveProject } from '../support/project.ts';
import { keyOf, serveTenants, type TenantProject, type TenantUser } from '../support/tenants.ts';

let project: TenantProject;
beforeAll(async () => {
  project = await serveTenants();
});
afterAll(() => project?.close());

const get = async (user: TenantUser, path: string) => {
  const answer = await project.as(user, path);
  return answer.status === 200 ? answer.json.data : failure(answer);
};
const send = (user: TenantUser, method: string, path: string, body: unknown) =>
  project.as(user, path, { method, body });
const refused = async (user: TenantUser, method: string, path: string, body: unknown) =>
  failure(await send(user, method, path, body));

describe('reads', () => {
  it('answers rows of the own company at every level', async () => {
    expect(await get('ann', '/items/projects?fields=id,customer.name,tasks.id,labels.name&sort=id')).toEqual([
      {
        id: 101,
        customer: { name: 'amber one' },
        tasks: [{ id: 1001 }, { id: 1002 }],
        labels: [{ name: 'amber urgent' }, { name: 'amber calm' }],
      },
      { id: 102, customer: { name: 'amber one' }, tasks: [{ id: 1003 }], labels: [{ name: 'amber calm' }] },
      { id: 103, customer: null, tasks: [], labels: [] },
    ]);
    expect(await get('ben', '/items/projects?fields=id&sort=id')).toEqual([{ id: 7201 }, { id: 7202 }, { id: 7203 }]);
    expect(await get('ann', '/items/countries?fields=id&sort=id')).toEqual([{ id: 'at' }, { id: 'be' }]);
    expect(await get('ann', '/items/countries?fields=id,customers.id&sort=id')).toEqual([
      { id: 'at', customers: [{ id: 12 }] },
      { id: 'be', customers: [{ id: 11 }] },
    ]);
    expect(await get('ann', '/items/open_tasks?fields=id&sort=id')).toEqual([{ id: 1001 }, { id: 1003 }]);
    expect(await get('ann', '/items/preferences?fields=motto')).toEqual({ motto: 'amber first' });
  });

  it('answers keys of others like keys of nobody', async () => {
    for (const id of [7201, 5555]) expect(await get('ann', `/items/projects/${id}`)).toBe('403 FORBIDDEN');
  });

  it('counts, sums and filters rows of the own company alone', async () => {
    expect(await get('ann', '/items/tasks?aggregate[sum]=hours&aggregate[count]=*')).toEqual([
      { sum: { hours: 16 }, count: 3 },
    ]);
    const none = encodeURIComponent(JSON.stringify({ tasks: { _none: { hours: { _gt: 100 } } } }));
    expect(await get('ann', `/items/projects?fields=id&filter=${none}`)).toHaveLength(3);
    expect((await project.as('ann', '/items/projects?meta=*&limit=1')).json.meta).toEqual({
      total_count: 3,
      filter_count: 3,
    });
  });

  it('shows all companies to administrators and exempt roles, and none to others', async () => {
    expect(await get('olga', '/items/projects?fields=id')).toHaveLength(6);
    expect((await project.admin('/items/projects?fields=id')).json.data).toHaveLength(6);
    expect(await get('lost', '/items/projects?fields=id')).toEqual([]);
    expect((await project.ask('/items/customers?fields=id')).json.data).toEqual([]);
    expect((await project.ask('/items/countries?fields=id')).json.data).toHaveLength(2);
  });

  it('answers the same over GraphQL', async () => {
    const { json } = await project.graphql(
      'ann',
      '{ projects(sort: ["id"]) { id tasks { id } labels { name } } tasks_aggregated { sum { hours } count { id } } projects_by_id(id: 7201) { id } }',
    );
    expect(json.data.projects.map(({ id }: { readonly id: number }) => Number(id))).toEqual([101, 102, 103]);
    expect(json.data.tasks_aggregated[0].count.id).toBe(3);
    expect(JSON.stringify(json)).not.toMatch(/birch|72/i);
  });
});

describe('writes', () => {
  it('presets the company, and refuses payloads that name it', async () => {
    const { json } = await send('ann', 'POST', '/items/customers', { name: 'amber new' });
    expect(json.data).toMatchObject({ tenant_id: 1, name: 'amber new' });
    for (const tenant of [1, 2]) {
      expect(await refused('ann', 'POST', '/items/customers', { name: 'x', tenant_id: tenant })).toBe('403 FORBIDDEN');
      expect(await refused('ann', 'PATCH', '/items/customers/11', { tenant_id: tenant })).toBe('403 FORBIDDEN');
      expect(await refused('ann', 'PATCH', '/items/projects/101', { customer: { name: 'x', tenant_id: tenant } })).toBe(
        '403 FORBIDDEN',
      );
    }
    // Callers without a company write for none. That comes before the column, which takes no null.
    expect(await refused('lost', 'POST', '/items/customers', { name: 'x' })).toBe('403 FORBIDDEN');
    expect(await refused('lost', 'PATCH', '/items/customers/11', { name: 'x' })).toBe('403 FORBIDDEN');
    const made = await send('olga', 'POST', '/items/customers', { name: 'birch by operator', tenant_id: 2 });
    expect(made.json.data).toMatchObject({ tenant_id: 2 });
  });

  it('answers keys of others like keys of nobody in foreign keys', async () => {
    const payloads = (key: number, label: number) =>
      [
        ['POST', '/items/tasks', { title: 'x', project: key }],
        ['PATCH', '/items/tasks/1001', { project: key }],
        ['PATCH', '/items/tasks', { keys: [1001, 1003], data: { project: key } }],
        ['PATCH', '/items/projects/101', { parent: key }],
        ['PATCH', '/items/projects/101', { projects: [102, key] }],
        ['PATCH', '/items/projects/103', { labels: [21, label] }],
        [
          'POST',
          '/items/projects',
          { name: 'x', labels: { create: [], update: [{ id: label, name: 'x' }], delete: [] } },
        ],
        ['POST', '/items/project_labels', { project: 103, label }],
        ['POST', '/items/project_labels', { project: key, label: 21 }],
      ] as const;
    const missing = payloads(5555, 5556);
    for (const [index, [method, path, body]] of payloads(7201, 7221).entries()) {
      const [, , other] = missing[index] ?? [];
      const [foreign, none] = [await send('ann', method, path, body), await send('ann', method, path, other)];
      expect([foreign.status, foreign.text], `${method} ${path} ${JSON.stringify(body)}`).toEqual([
        none.status,
        none.text,
      ]);
      expect(foreign.status).toBeGreaterThan(399);
    }
  });

  it('refuses a link to a row of another company before any fault that comes later', async () => {
    for (const key of [7203, 5555]) {
      // Below the item a field is claimed that the relation sets.
      const claimed = { parent: key, projects: [102, { name: 'x', parent: key }] };
      expect(await refused('ann', 'PATCH', '/items/projects/103', claimed)).toBe('403 FORBIDDEN');
      expect(await refused('ann', 'POST', '/items/projects', { name: 'y', ...claimed })).toBe('403 FORBIDDEN');
      // Below the item a unique value is taken.
      const taken = {
        name: 'z',
        parent: key,
        projects: [{ name: 'x', labels: [{ label: { name: 'amber urgent' } }] }],
      };
      expect(await refused('ann', 'POST', '/items/projects', taken)).toBe('403 FORBIDDEN');
    }
    expect(
      await refused('ann', 'PATCH', '/items/projects/103', { parent: 101, projects: [{ name: 'x', parent: 101 }] }),
    ).toBe('400 INVALID_PAYLOAD');
    expect(
      (await send('ann', 'PATCH', '/items/projects/103', { parent: 103, projects: [{ name: 'own' }] })).status,
    ).toBe(200);
    await project.rows("UPDATE projects SET parent = NULL WHERE id = 103; DELETE FROM projects WHERE name = 'own'");
  });

  it('changes and deletes rows of the own company alone', async () => {
    expect(await refused('ann', 'PATCH', '/items/customers/721', { name: 'x' })).toBe('403 FORBIDDEN');
    const nested = { parent: { id: 7201, name: 'x' }, tasks: [{ id: 72001, title: 'x' }] };
    for (const [name, value] of Object.entries(nested))
      expect(await refused('ann', 'PATCH', '/items/projects/101', { [name]: value })).toBe('403 FORBIDDEN');
    expect(await refused('ann', 'DELETE', '/items/customers/723', undefined)).toBe('403 FORBIDDEN');
    expect(await refused('ann', 'DELETE', '/items/customers', [12, 723])).toBe('403 FORBIDDEN');
    await send('ann', 'PATCH', '/items/customers', {
      query: { filter: { country: { _eq: 'at' } } },
      data: { name: 'amber changed' },
    });
    await send('ann', 'DELETE', '/items/tasks', { query: { filter: { hours: { _gt: 0 } }, limit: -1 } });
    const names = await project.rows('SELECT name FROM customers WHERE tenant_id = 2 ORDER BY id');
    expect(names.map(({ name }) => String(name).slice(0, 5))).toEqual(Array(4).fill('birch'));
    expect(await project.rows('SELECT id FROM tasks WHERE tenant_id = 2')).toHaveLength(3);
  });

  it('finds stored items of an upsert in the own company', async () => {
    await project.rows("UPDATE customers SET email = 'both@example.com' WHERE id IN (13, 723)");
    for (const name of ['amber again', 'amber once more']) {
      const { json } = await send('ann', 'POST', '/items/customers?on_conflict=tenant_id,email', {
        name,
        email: 'both@example.com',
      });
      expect(json.data).toMatchObject({ id: 13, tenant_id: 1, name });
    }
    expect(
      await project.rows("SELECT name FROM customers WHERE email = 'both@example.com' ORDER BY tenant_id"),
    ).toEqual([{ name: 'amber once more' }, { name: 'birch three' }]);
  });

  it('links rows by keys that have the column of the tenant, which payloads never name', async () => {
    const labelsOf = async (user: TenantUser, task: number) => {
      const { labels } = await get(
        user,
        `/items/tasks/${task}?fields=labels.id,labels.tenant_id&deep[labels][_sort]=id`,
      );
      return labels;
    };
    const link = (user: TenantUser, body: unknown) => send(user, 'PATCH', '/items/tasks/1009?fields=labels.id', body);
    await project.rows("INSERT INTO tasks (id, tenant_id, title, done) VALUES (1009, 1, 'amber again', false)");
    expect((await link('ann', { labels: [21] })).json.data).toEqual({ labels: [{ id: 21 }] });
    for (const labels of [[21, 7221], { create: [], update: [], delete: [7221] }])
      expect(failure(await link('ann', { labels }))).toBe('403 FORBIDDEN');
    const changed = { create: [{ name: 'amber linked' }], update: [], delete: [21] };
    expect((await link('ann', { labels: changed })).status).toBe(200);
    const [made] = await labelsOf('ann', 1009);
    expect(made).toMatchObject({ tenant_id: 1 });
    expect(await labelsOf('ann', 1009)).toHaveLength(1);
    expect((await link('olga', { labels: [made.id, 22] })).status).toBe(200);
    expect(await labelsOf('olga', 1009)).toHaveLength(2);
    expect(failure(await link('olga', { labels: [7221] }))).toBe('400 FAILED_VALIDATION');
    const nested = { title: 'amber nested', labels: [22, { name: 'amber both' }] };
    expect((await send('ann', 'POST', '/items/tasks?fields=labels.tenant_id', nested)).json.data).toEqual({
      labels: [{ tenant_id: 1 }, { tenant_id: 1 }],
    });
    const pair = { tasks: { title: 'amber pair' }, labels: { name: 'amber pair' } };
    const joined = await send('ann', 'POST', '/items/task_labels?fields=tenant_id,tasks.title,labels.name', pair);
    expect(joined.json.data).toEqual({ tenant_id: 1, ...pair });
    expect(await refused('ann', 'POST', '/items/task_labels', { ...pair, tenant_id: 1 })).toBe('403 FORBIDDEN');
    const children = { title: 'amber children', task_labels: [{ label: 22, tenant_id: 1 }] };
    expect(await refused('ann', 'POST', '/items/tasks', children)).toBe('403 FORBIDDEN');
    const answers = await Promise.all(
      [7221, 5556].map((label) => send('ann', 'POST', '/items/task_labels', { tasks: 1009, labels: label })),
    );
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect(answers.map(failure)).toEqual(['403 FORBIDDEN', '403 FORBIDDEN']);
    expect((await link('ann', { labels: [] })).json.data).toEqual({ labels: [] });
    expect(
      await project.rows('SELECT tenant_id, task, label FROM task_labels WHERE tenant_id = 2 ORDER BY task'),
    ).toEqual([
      { tenant_id: 2, task: 72001, label: 7221 },
      { tenant_id: 2, task: 72003, label: 7222 },
    ]);
  });

  it('keeps one object of a singleton for each company', async () => {
    await send('ann', 'PATCH', '/items/preferences', { motto: 'amber next' });
    expect(await project.rows('SELECT motto FROM preferences ORDER BY tenant_id')).toEqual([
      { motto: 'amber next' },
      { motto: 'birch first' },
    ]);
  });
});

describe('own tables of the platform', () => {
  it('shows users, activity, revisions and comments of the own company', async () => {
    await send('ben', 'PATCH', '/items/customers/722', { name: 'birch told' });
    const comment = { collection: 'customers', item: '722', comment: 'birch comment' };
    expect(await refused('ann', 'POST', '/comments', comment)).toBe('403 FORBIDDEN');
    expect((await send('ben', 'POST', '/comments', comment)).status).toBe(200);
    const upload = new FormData();
    upload.set('file', new Blob(['birch']), 'birch.txt');
    expect((await send('ben', 'POST', '/files', upload)).status).toBe(200);
    // A caller without a company owns nothing that one could tell apart.
    expect(await refused('lost', 'POST', '/files', upload)).toBe('403 FORBIDDEN');
    expect((await project.ask('/files', { method: 'POST', body: upload })).status).toBe(403);
    expect(await get('ben', '/files?fields=filename_download')).toEqual([{ filename_download: 'birch.txt' }]);
    expect(await get('ben', '/comments?fields=comment')).toEqual([{ comment: 'birch comment' }]);
    await send('ann', 'PATCH', '/items/customers/12', { name: 'amber told' });
    expect(await get('ann', '/users?fields=id')).toEqual([{ id: keyOf('ann') }]);
    const activity = await get('ann', '/activity?fields=user,collection,item&limit=-1');
    expect(new Set(activity.map(({ user }: { readonly user: string }) => user))).toEqual(new Set([keyOf('ann')]));
    for (const path of [
      '/revisions?limit=-1',
      '/activity?fields=*.*.*&limit=-1',
      '/comments',
      '/users?fields=*.*',
      '/files',
      '/folders',
      '/presets',
    ]) {
      const answer = await project.as('ann', path);
      expect(answer.text, path).not.toMatch(/birch/i);
      expect(answer.status, path).toBe(200);
    }
    expect((await get('ann', '/revisions?limit=-1')).length).toBeGreaterThan(0);
  });
});

describe('a table that does not tell the tenant of each row', () => {
  const users = 'ALTER TABLE platform.platform_users ADD COLUMN tenant_id integer;';
  const config = "{ tenant: { column: 'tenant_id', of: '$CURRENT_USER.tenant_id' } }";

  it('shows rows without one to administrators alone, also where a caller has none', async () => {
    const role = '00000000-0000-4000-8000-0000000000a1';
    const user = (
      number: number,
      tenant: string,
    ) => `INSERT INTO platform.platform_users (id, email, role, token, tenant_id)
      VALUES ('00000000-0000-4000-8000-00000000000${number}', 'u${number}@example.com', '${role}', 'token-of-user-${number}-000000000', ${tenant})`;
    const small = await serveProject({
      system: true,
      sql: `${users} CREATE TABLE notes (id integer PRIMARY KEY, tenant_id integer, text varchar(40));
        INSERT INTO notes VALUES (1, 1, 'own'), (2, NULL, 'of none');
        INSERT INTO platform.platform_roles (id, name) VALUES ('${role}', 'member'); ${user(1, '1')}; ${user(2, 'NULL')}`,
      config,
      permissions: `roles: { member: {} }
permissions: { member: { notes: { read: true, create: true, update: true, delete: true } } }`,
    });
    try {
      const as = (number: number, path: string, ask = {}) =>
        small.ask(path, { ...ask, token: `token-of-user-${number}-000000000` });
      expect((await as(1, '/items/notes?fields=id')).json.data).toEqual([{ id: 1 }]);
      expect((await as(2, '/items/notes?fields=id')).json.data).toEqual([]);
      expect((await small.admin('/items/notes?fields=id&sort=id')).json.data).toEqual([{ id: 1 }, { id: 2 }]);
      for (const number of [1, 2]) {
        expect(failure(await as(number, '/items/notes/2'))).toBe('403 FORBIDDEN');
        const change = { method: 'PATCH', body: { text: 'x' } };
        for (const ask of [change, { method: 'DELETE' }])
          expect(failure(await as(number, '/items/notes/2', ask))).toBe('403 FORBIDDEN');
        const count = await as(number, '/items/notes?aggregate[count]=*');
        expect(count.json.data).toEqual([{ count: 2 - number }]);
      }
    } finally {
      await small.close();
    }
  });

  it('is an error of the compiler where the column is missing, and a warning where it may be null', async () => {
    const [database, project] = await Promise.all([
      createSystemDatabase(`${users} CREATE TABLE notes (id integer PRIMARY KEY, tenant_id integer);
        CREATE TABLE tags (id integer PRIMARY KEY)`),
      createProject(),
    ]);
    try {
      const text = `import { defineConfig } from 'tablewright/config';\nexport default defineConfig(${config});\n`;
      await writeFile(join(project.folder, 'platform.config.ts'), text);
      const { code, stderr } = await runPlatform(['generate', '--project', project.folder], {
        DATABASE_URL: database.url,
      });
      expect(code).toBe(1);
      expect(stderr).toContain('tenant-missing');
      expect(stderr).toContain('The table has no column "tenant_id", so nothing tells whose its rows are.');
      await database.rows('DROP TABLE tags');
      const { stderr: warned } = await runPlatform(['generate', '--project', project.folder], {
        DATABASE_URL: database.url,
      });
      expect(warned).toContain('tenant-nullable');
      expect(warned).toContain('only administrators and exempt roles see rows without a tenant');
    } finally {
      await Promise.all([database.drop(), project.remove()]);
    }
  });
});
