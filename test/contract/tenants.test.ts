/** Tenants over REST and GraphQL: every rule is `true`, and yet nobody meets a row of another company. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure } from '../support/project.ts';
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
    // The column takes no null, which is what the caller has for it.
    expect(await refused('lost', 'POST', '/items/customers', { name: 'x' })).toBe('400 FAILED_VALIDATION');
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
    await send('ben', 'POST', '/comments', { collection: 'customers', item: '722', comment: 'birch comment' });
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
