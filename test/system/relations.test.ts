/** The platform's own collections are read like any other, by whoever may, through relations from a project's own. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { typeCheck } from '../support/type-check.ts';

const ada = '00000000-0000-4000-8000-00000000000a';
const bob = '00000000-0000-4000-8000-00000000000b';
const editors = '00000000-0000-4000-8000-0000000000ed';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    system: true,
    sql: `
      CREATE TABLE articles (id integer PRIMARY KEY, title text, author_id uuid REFERENCES platform.platform_users);
      CREATE TABLE article_editors (
        article_id integer REFERENCES articles, user_id uuid REFERENCES platform.platform_users,
        PRIMARY KEY (article_id, user_id));
      INSERT INTO platform.platform_roles (id, name, ip_access) VALUES ('${editors}', 'editor', '10.0.0.0/8,::1');
      INSERT INTO platform.platform_users (id, first_name, email, password, tags, role, status, auth_data, token) VALUES
        ('${ada}', 'Ada', 'ada@example.com', 'CANARY-hash', 'a,b', '${editors}', 'active', '{"sub": "CANARY-auth"}', 'CANARY-token'),
        ('${bob}', 'Bob', 'bob@example.com', NULL, NULL, NULL, 'suspended', NULL, NULL);
      INSERT INTO articles VALUES (1, 'one', '${ada}'), (2, 'two', '${bob}'), (3, 'three', NULL);
      INSERT INTO article_editors VALUES (1, '${ada}'), (1, '${bob}'), (2, '${ada}');
      INSERT INTO platform.platform_activity (action, "user", collection, item) VALUES ('login', '${ada}', 'platform_users', '${ada}');
      INSERT INTO platform.platform_revisions (activity, collection, item, data) VALUES (1, 'articles', '1', '{"n": 1}');`,
    permissions: `
roles:
  reader: { app: true }
permissions:
  public:
    articles: { read: { fields: [id, title, author_id, platform_users] } }
    article_editors: { read: true }
    platform_users: { read: { fields: [id, first_name, password, articles], filter: { status: { _eq: active } } } }`,
  });
});
afterAll(() => project?.close());

async function data(path: string, ask = project.ask): Promise<unknown> {
  return (await ask(`/items/${path}`)).json.data;
}

describe('through a relation', () => {
  it('users are read by who may, in one statement, hidden ones as null', async () => {
    const query = 'articles?fields=title,author_id.first_name,author_id.password&sort=id';
    expect(await data(query)).toEqual([
      { title: 'one', author_id: { first_name: 'Ada', password: '**********' } },
      { title: 'two', author_id: null },
      { title: 'three', author_id: null },
    ]);
    project.statements.reset();
    await data(query);
    expect(project.statements.executed()).toBe(1);
  });

  it('both directions and junctions work', async () => {
    expect(await data('articles/1?fields=platform_users.first_name,author_id.articles.title')).toEqual({
      platform_users: [{ first_name: 'Ada' }],
      author_id: { articles: [{ title: 'one' }] },
    });
    expect(await data('articles?fields=id&filter[author_id][first_name]=Ada')).toEqual([{ id: 1 }]);
  });

  it('an administrator sees every field in its type, secrets masked', async () => {
    expect(await data('articles/1?fields=author_id.*,author_id.role.*', project.admin)).toEqual({
      author_id: {
        id: ada,
        first_name: 'Ada',
        last_name: null,
        email: 'ada@example.com',
        password: '**********',
        location: null,
        title: null,
        description: null,
        tags: ['a', 'b'],
        avatar: null,
        language: null,
        theme: 'auto',
        tfa_secret: null,
        status: 'active',
        role: {
          id: editors,
          name: 'editor',
          icon: 'supervised_user_circle',
          description: null,
          ip_access: ['10.0.0.0/8', '::1'],
          enforce_tfa: false,
          admin_access: false,
          app_access: true,
          users: [ada],
        },
        token: '**********',
        last_access: null,
        last_page: null,
        provider: 'default',
        external_identifier: null,
        auth_data: '**********',
        email_notifications: true,
        article_editors: [`1,${ada}`, `2,${ada}`],
        articles: [1],
        articles_via_article_editors: [1, 2],
      },
    });
  });

  it.each(['password', 'token', 'tfa_secret', 'auth_data', 'security_version', 'sessions'])(
    '%s is no name for anything but selecting it',
    async (name) => {
      for (const query of [
        `filter[author_id][${name}][_null]=true`,
        `filter[author_id][${name}]=CANARY-hash`,
        `sort=author_id.${name}`,
        `deep[author_id][_search]=x&fields=author_id.${name}.x`,
        `filter[author_id][count(${name})]=1`,
      ]) {
        expect(failure(await project.admin(`/items/articles?${query}`)), query).toBe('403 FORBIDDEN');
      }
    },
  );
});

describe('below /items', () => {
  it.each([
    '',
    '?limit=0',
    '?fields=id',
    '?filter[id]=1',
    '?filter[id][_eq]=abc',
    '?filter[status][_eq]=nothing',
    '?aggregate[count]=*',
    `/${ada}`,
    '/1',
    '/1?fields=id',
  ])('they do not exist, for nobody: platform_users%s', async (rest) => {
    const unknown = await project.ask(`/items/nothing${rest}`);
    expect(failure(unknown)).toBe('403 FORBIDDEN');
    for (const ask of [project.ask, project.admin]) {
      for (const name of ['platform_users', 'platform_sessions', 'platform_settings', '%70latform_users']) {
        expect((await ask(`/items/${name}${rest}`)).text).toBe(unknown.text);
      }
    }
    const search = { method: 'SEARCH', body: { query: { filter: { id: { _eq: 'abc' } } } } };
    expect((await project.admin('/items/platform_users', search)).text).toBe(
      (await project.ask('/items/nothing', search)).text,
    );
  });
});

describe('what is generated', () => {
  it('type-checks', async () => {
    expect(await typeCheck(project.folder)).toBe('');
  }, 120_000);

  it('has no input for what the server owns', async () => {
    const text = await readFile(join(project.folder, 'generated/collections/platform_users.d.ts'), 'utf8');
    const payload = /interface PlatformUsersCreate \{[\s\S]*?^\}/m.exec(text)?.[0] ?? '';
    expect(payload).toContain('email?: string | null;');
    for (const name of ['tfa_secret', 'auth_data', 'last_access']) expect(payload).not.toContain(name);
    const activity = await readFile(join(project.folder, 'generated/collections/platform_activity.d.ts'), 'utf8');
    expect(activity).not.toMatch(/PlatformActivityCreate|PlatformActivityUpdate/);
  });

  it('describes no routes for them, and to nobody what they may not see', async () => {
    const documents = await Promise.all([project.admin('/server/specs/oas'), project.ask('/server/specs/oas')]);
    for (const { json } of documents) {
      expect(Object.keys(json.paths).filter((path) => path.includes('platform_'))).toEqual([]);
    }
    const [, open] = documents;
    const { ItemsPlatformUsers: own, ValuesPlatformUsers: values } = open?.json.components.schemas ?? {};
    expect(Object.keys({ ...values.properties, ...own.properties }).toSorted()).toEqual([
      'articles',
      'articles_count',
      'first_name',
      'id',
      'password',
    ]);
    expect(open?.text).not.toMatch(/platform_roles|PlatformRoles|auth_data|email_notifications/);
  });
});

it('no answer holds a secret', async () => {
  for (const ask of [project.ask, project.admin]) {
    for (const path of [
      'articles?fields=*.*.*',
      'articles?fields=author_id.*.*&export=csv',
      'articles?fields=*.*.*.*',
    ]) {
      expect((await ask(`/items/${path}`)).text).not.toContain('CANARY');
    }
  }
});
