/** The fixture of tenants, served, with users of both companies. */
import { readFile } from 'node:fs/promises';
import { type ContractDatabase, createSystemDatabase } from './contract-database.ts';
import { startHosted } from './host.ts';
import { type Answer, type Ask, createProject } from './platform.ts';
import { type ServedProject, serveProject } from './project.ts';

const fixture = new URL('../../fixtures/tenants/', import.meta.url);

/** Users by name, each with the number in their key, role and company. */
const users = {
  ann: { number: 1, role: 'member', tenant: 1 },
  ben: { number: 2, role: 'member', tenant: 2 },
  lost: { number: 3, role: 'member', tenant: null },
  olga: { number: 4, role: 'operator', tenant: null },
} as const;

/** Name of a user of the fixture. */
export type TenantUser = keyof typeof users;

const roles = { member: '00000000-0000-4000-8000-0000000000a1', operator: '00000000-0000-4000-8000-0000000000a2' };

/** Key of a user. */
export function keyOf(user: TenantUser): string {
  return `00000000-0000-4000-8000-00000000000${users[user].number}`;
}

/** Statements that make users and their roles. */
function usersSql(): readonly string[] {
  const made = Object.entries(users).map(([name, { number, role, tenant }]) => {
    const company = ['nobody', 'amber', 'birch'][tenant ?? 0];
    const key = `00000000-0000-4000-8000-00000000000${number}`;
    return `INSERT INTO platform.platform_users (id, email, first_name, role, token, tenant_id)
      VALUES ('${key}', '${name}@${company}.example', '${company} ${name}', '${roles[role]}', '${tokenOf(name)}', ${tenant})`;
  });
  const named = Object.entries(roles).map(
    ([name, id]) => `INSERT INTO platform.platform_roles (id, name) VALUES ('${id}', '${name}')`,
  );
  return [...named, ...made];
}

function tokenOf(name: string): string {
  return `token-of-${name}-0000000000000000`;
}

/** The served fixture. */
export interface TenantProject extends ServedProject {
  as(user: TenantUser, path: string, ask?: Ask): Promise<Answer>;
  graphql(user: TenantUser, query: string, variables?: unknown): Promise<Answer>;
}

/** Serves the fixture over a database of its own. */
export async function serveTenants(): Promise<TenantProject> {
  const [sql = '', config = '', permissions = ''] = await Promise.all(
    ['database.sql', 'platform.config.ts', 'permissions.yaml'].map((name) => readFile(new URL(name, fixture), 'utf8')),
  );
  const options = /defineConfig\(([\s\S]*)\);/.exec(config)?.[1] ?? '';
  const project = await serveProject({ system: true, sql, config: options, permissions });
  for (const statement of usersSql()) await project.rows(statement);
  const as: TenantProject['as'] = (user, path, ask = {}) => project.ask(path, { ...ask, token: tokenOf(user) });
  return {
    ...project,
    as,
    graphql: (user, query, variables) => as(user, '/graphql', { method: 'POST', body: { query, variables } }),
  };
}

/** A server of the fixture that is asked as the user `ann`, without a look at documents. */
export interface TenantServer extends Pick<ContractDatabase, 'rows'> {
  send(request: { readonly method: string; readonly path: string; readonly body?: unknown }): Promise<Answer>;
  close(): Promise<void>;
}

const ben = keyOf('ben');

/** Rows of the other company in the tables of the platform. */
const ownRows = [
  `INSERT INTO platform.platform_activity (id, action, "user", collection, item) VALUES (9001, 'create', '${ben}', 'customers', '721')`,
  `INSERT INTO platform.platform_revisions (id, activity, collection, item, data) VALUES (9001, 9001, 'customers', '721', '{"id":721,"name":"birch one"}')`,
  `INSERT INTO platform.platform_files (id, storage, filename_download, title, uploaded_by) VALUES ('00000000-0000-4000-8000-00000000f002', 'local', 'birch.txt', 'birch file', '${ben}')`,
  "INSERT INTO platform.platform_folders (id, name) VALUES ('00000000-0000-4000-8000-00000000f003', 'birch folder')",
];

/** Takes the same rows away: a table that counts its keys goes on after them, on servers that note each key. */
const ownRemoved = [
  'DELETE FROM platform.platform_revisions WHERE id = 9001',
  'DELETE FROM platform.platform_activity WHERE id = 9001',
  "DELETE FROM platform.platform_files WHERE id = '00000000-0000-4000-8000-00000000f002'",
  "DELETE FROM platform.platform_folders WHERE id = '00000000-0000-4000-8000-00000000f003'",
];

/** Serves the fixture with both companies, or with the rows of one alone. */
export async function plainTenants(hasOthers: boolean): Promise<TenantServer> {
  const database = await createSystemDatabase(await readFile(new URL('database.sql', fixture), 'utf8'));
  const project = await createProject('fixtures/tenants');
  for (const statement of usersSql()) await database.rows(statement);
  const tables = 'task_labels project_labels labels tasks projects customers preferences platform.platform_users'.split(
    ' ',
  );
  const removed = tables.map((table) => `DELETE FROM ${table} WHERE tenant_id = 2`);
  const alone = [...ownRemoved, 'UPDATE projects SET parent = NULL WHERE tenant_id = 2', ...removed];
  for (const statement of [...ownRows, ...(hasOthers ? [] : alone)]) await database.rows(statement);
  // A busy machine must not answer otherwise.
  const server = await startHosted(project.folder, database.url, { DATABASE_POOL_TIMEOUT: '60s' });
  return {
    rows: database.rows,
    send: ({ path, method, body }) =>
      server.ask(path, { method, token: tokenOf('ann'), ...(body !== undefined && { body }) }),
    async close() {
      await server.stop();
      await Promise.all([database.drop(), project.remove()]);
    },
  };
}
