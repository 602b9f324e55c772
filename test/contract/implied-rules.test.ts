/**
 * Rules of app access that no row says: `/permissions` lists them beside the rows of the table. Source: API specification,
 * section 8.5.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { adminToken, type Platform, startUnchecked } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { allServers } from '../support/servers.ts';

const editors = '11111111-0000-4000-8000-000000000000';
const readers = '22222222-0000-4000-8000-000000000000';
const bob = '33333333-0000-4000-8000-000000000000';
const token = 'the-token-of-bob-0123456789abcdef';
const sql = `CREATE TABLE articles (id integer PRIMARY KEY, title varchar(40));
  INSERT INTO platform.platform_roles (id, name, app_access) VALUES ('${editors}', 'ed"it''or\\', true), ('${readers}', 'reader', false);
  INSERT INTO platform.platform_users (id, email, role, token) VALUES ('${bob}', 'bob@example.com', '${editors}', '${token}');
  INSERT INTO platform.platform_permissions (role, collection, action, permissions, fields) VALUES
    ('${editors}', 'articles', 'read', '{"id": 1}', 'id,title'), ('${readers}', 'articles', 'read', NULL, '*');`;
const file = `
roles: { 'ed"it''or\\': { app: true }, reader: {} }
permissions: { 'ed"it''or\\': { articles: { read: { fields: [id, title], filter: { id: 1 } } } }, reader: { articles: { read: true } } }`;

const user = { _eq: '$CURRENT_USER' };

describe.each(allServers)('on $name', ({ dialect, missing }) => {
  describe.skipIf(missing).each(['file', 'tables'])('with rules of the %s', (source) => {
    let project: ServedProject;
    /** Compiles what it writes. */
    let writer: Platform | undefined;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({
          sql,
          system: true,
          config: `{ permissionSource: '${source}' }`,
          permissions: source === 'file' ? file : '',
        });
        if (source === 'tables') writer = await startUnchecked(project.folder, project.database.url, {}, []);
      }),
    );
    afterAll(async () => {
      await writer?.stop();
      await project?.close();
    });

    const asBob = (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') =>
      project.ask(path, { method, token, ...(body !== undefined && { body }) });
    const asAdmin = (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') =>
      (writer ?? project).ask(path, { method, token: adminToken, ...(body !== undefined && { body }) });

    type Rule = Record<string, unknown>;
    const listed = async (path: string): Promise<readonly Rule[]> => (await asAdmin(path)).json.data;
    const named = ({ collection, action }: Rule): string => `${collection} ${action}`;

    it('lists them to those who have them, and to administrators', async () => {
      const { status, json } = await asBob('/permissions');
      expect(status).toBe(200);
      const rows = json.data.filter(({ system }: Rule) => system === false);
      const fields = ['id', 'title'];
      expect(rows).toEqual([
        {
          ...{ id: 1, role: editors, collection: 'articles', action: 'read', permissions: { id: 1 }, fields },
          ...{ validation: null, presets: null, system: false },
        },
      ]);
      const implied = json.data.filter(({ system }: Rule) => system === true);
      expect(implied.map(named).toSorted()).toEqual([
        'platform_activity read',
        'platform_comments create',
        'platform_comments delete',
        'platform_comments read',
        'platform_comments update',
        'platform_permissions read',
        'platform_presets create',
        'platform_presets delete',
        'platform_presets read',
        'platform_presets read',
        'platform_presets read',
        'platform_presets update',
        'platform_roles read',
        'platform_settings read',
        'platform_users read',
      ]);
      expect(new Set(implied.map(({ id, role: owner }: Rule) => `${id} ${owner}`))).toEqual(
        new Set([`null ${editors}`]),
      );
      expect(implied.find((rule: Rule) => named(rule) === 'platform_presets create')).toMatchObject({
        ...{ permissions: null, validation: { user }, presets: { user: '$CURRENT_USER' } },
      });
      expect(implied.find((rule: Rule) => named(rule) === 'platform_presets delete')).toMatchObject({
        ...{ permissions: { user }, validation: null, presets: null, fields: null },
      });
      expect(implied.find((rule: Rule) => named(rule) === 'platform_comments update')?.fields).toEqual(['comment']);
      const all = await listed('/permissions?limit=-1');
      expect(all).toHaveLength(17);
      expect(all.filter(({ role: owner }) => owner === readers).map(({ id }) => id)).toEqual([2]);
    });

    it('tells the fields that the role has', async () => {
      const filter = encodeURIComponent(JSON.stringify({ collection: 'platform_roles', system: true }));
      const [rule] = (await asBob(`/permissions?filter=${filter}`)).json.data;
      const [own] = (await asBob('/roles')).json.data;
      expect(rule.fields).toEqual(Object.keys(own).filter((name) => name !== 'users'));
    });

    it('filters, searches, sorts and counts them like rows', async () => {
      const of = (filter: unknown) => encodeURIComponent(JSON.stringify(filter));
      const counts = '&meta=total_count,filter_count&limit=2';
      const path = `/permissions?filter=${of({ system: { _eq: true }, action: 'create' })}`;
      const answer = await asBob(`${path}${counts}&fields=collection,role.name`);
      expect(answer.json).toEqual({
        data: ['platform_comments', 'platform_presets'].map((collection) => ({
          ...{ collection, role: { name: 'ed"it\'or\\' } },
        })),
        meta: { total_count: 16, filter_count: 2 },
      });
      expect(await listed(`/permissions?filter=${of({ id: { _nnull: true } })}&fields=id&sort=id`)).toEqual([
        { id: 1 },
        { id: 2 },
      ]);
      expect(await listed(`/permissions?filter=${of({ id: { _null: true } })}&limit=-1`)).toHaveLength(15);
      expect((await listed('/permissions?search=bookmark')).map(named)).toEqual([
        ...['create', 'read', 'read', 'read', 'update'].map((action) => `platform_presets ${action}`),
      ]);
      const sorted = await listed('/permissions?sort=-collection,action&limit=4&fields=collection,action');
      expect(sorted.map(named)).toEqual([
        ...['users read', 'settings read', 'roles read', 'presets create'].map((name) => `platform_${name}`),
      ]);
      const groups = await listed('/permissions?aggregate[count]=*&groupBy=system&sort=system');
      expect(groups).toEqual([
        { system: false, count: 2 },
        { system: true, count: 15 },
      ]);
      expect(await listed('/permissions?aggregate[countDistinct]=id,role')).toEqual([
        { countDistinct: { id: 2, role: 2 } },
      ]);
      const found = await asAdmin(
        '/permissions',
        { query: { filter: { role: { _eq: editors }, id: { _null: true } } } },
        'SEARCH',
      );
      expect(found.json.data).toHaveLength(15);
      const csv = (await asBob('/permissions?export=csv&fields=id,collection,system')).text.trim().split('\n');
      expect(csv).toHaveLength(17);
    });

    it('pages through all of them once, by offset and by cursor', async () => {
      const all = (await listed('/permissions?limit=-1')).map((rule) => JSON.stringify(rule));
      expect(new Set(all).size).toBe(17);
      for (const sort of ['', '&sort=action', '&sort=-system,-collection']) {
        const pages = [1, 2, 3, 4].map((page) => listed(`/permissions?limit=5&page=${page}${sort}`));
        const texts = (await Promise.all(pages)).flat().map((rule) => JSON.stringify(rule));
        expect(texts.toSorted()).toEqual(all.toSorted());
        const followed: string[] = [];
        let next: string | null = '';
        while (next !== null) {
          const { json } = await asAdmin(`/permissions?limit=4&cursor=${encodeURIComponent(next)}${sort}`);
          followed.push(...json.data.map((rule: Rule) => JSON.stringify(rule)));
          next = json.meta.next_cursor ?? null;
        }
        expect(followed.toSorted()).toEqual(all.toSorted());
      }
    });

    it('gives them in GraphQL', async () => {
      const query = `{ permissions(filter: { collection: { _eq: "platform_comments" } }, sort: ["action"]) { id action system fields role { id } }
        permissions_aggregated(groupBy: ["system"]) { group count { id } countAll } }`;
      const { json } = await asBob('/graphql/system', { query });
      expect(json.errors).toBeUndefined();
      expect(json.data.permissions.map(({ action }: Rule) => action)).toEqual(['create', 'delete', 'read', 'update']);
      expect(json.data.permissions[3]).toEqual({
        ...{ id: null, action: 'update', system: true, fields: ['comment'], role: { id: editors } },
      });
      expect(json.data.permissions_aggregated).toEqual(
        expect.arrayContaining([{ group: { system: true }, count: { id: 0 }, countAll: 15 }]),
      );
    });

    it('writes none of them', async () => {
      const rule = { role: editors, collection: 'articles', action: 'update', fields: ['title'] };
      expect(failure(await asBob('/permissions', rule))).toBe('403 FORBIDDEN');
      if (source === 'file') {
        expect(failure(await asAdmin('/permissions', rule))).toBe('422 UNPROCESSABLE_ENTITY');
        return;
      }
      expect(failure(await asAdmin('/permissions', { ...rule, system: true }))).toBe('400 INVALID_PAYLOAD');
      expect(failure(await asAdmin('/permissions', { ...rule, id: null }))).toBe('400 FAILED_VALIDATION');
      expect(failure(await asAdmin('/permissions/null', undefined, 'DELETE'))).toMatch(/^4/);
      const data = { fields: ['id'] };
      const changed = await asAdmin('/permissions', { query: { filter: { system: { _eq: true } } }, data }, 'PATCH');
      expect([changed.status, changed.json.data]).toEqual([200, []]);
      const made = await asAdmin('/permissions', rule);
      expect(made.json.data).toMatchObject({ ...rule, id: 3, system: false });
      const every = await asAdmin(
        '/permissions',
        { query: { filter: { collection: { _contains: 's' } } }, data },
        'PATCH',
      );
      expect(every.json.data.map(({ id }: Rule) => id)).toEqual([1, 2, 3]);
      expect((await asAdmin('/permissions', { query: { filter: { role: { _eq: editors } } } }, 'DELETE')).status).toBe(
        204,
      );
      expect((await asBob('/permissions')).json.data).toHaveLength(15);
    });

    it('lists them as long as the role has them', async () => {
      if (source === 'file') return;
      expect((await asAdmin(`/roles/${readers}`, { app_access: true }, 'PATCH')).status).toBe(200);
      expect(await listed('/permissions?limit=-1')).toHaveLength(31);
      expect((await asAdmin(`/roles/${editors}`, { app_access: false }, 'PATCH')).status).toBe(200);
      expect((await listed('/permissions?limit=-1')).filter(({ role: owner }) => owner === editors)).toEqual([]);
      expect((await asAdmin(`/roles/${readers}`, { app_access: false }, 'PATCH')).status).toBe(200);
      expect((await listed('/permissions?limit=-1')).map(({ id }) => id)).toEqual([2]);
    });
  });
});
