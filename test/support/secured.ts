/** A project whose callers are passed on to policies: roles of a test's own, users with tokens, and servers over them. */
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSystemDatabase } from './contract-database.ts';
import { withClient } from './database.ts';
import { startBothLanes } from './lanes.ts';
import { createProject, type Platform } from './platform.ts';
import { urlOfRole } from './roles.ts';

/** Names of roles of the database, which are those of the server: each project has its own. */
export interface DatabaseRoles {
  /** The role of DATABASE_URL. */
  readonly server: string;
  readonly anon: string;
  readonly member: string;
  readonly admin: string;
}

/** A project of the tests of policies. */
export interface SecuredParts {
  /** Tables, policies and grants. */
  readonly sql: (roles: DatabaseRoles) => string;
  readonly config: (roles: DatabaseRoles) => string;
  readonly permissions: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Files of the folder `extensions`. */
  readonly extensions?: Readonly<Record<string, string>>;
}

/** A user by key, and the token that stands for it. */
export interface TokenUser {
  readonly id: string;
  readonly token: string;
}

/** The project, served on both lanes. */
export interface SecuredProject extends Platform {
  readonly folder: string;
  readonly roles: DatabaseRoles;
  /** Address for the role of the server, and for the superuser. */
  readonly url: string;
  readonly superUrl: string;
  /** Runs SQL as the superuser. */
  rows(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Makes users of the API's role `member`, and more columns of each by its position. */
  addUsers(count: number, columns?: (position: number) => Readonly<Record<string, unknown>>): Promise<TokenUser[]>;
  close(): Promise<void>;
}

/** Makes database, roles and files, without a server. */
export async function prepareSecured(parts: SecuredParts) {
  const database = await createSystemDatabase('');
  const mark = randomBytes(4).toString('hex');
  let roles: DatabaseRoles = { server: '', anon: `anon_${mark}`, member: `member_${mark}`, admin: `admin_${mark}` };
  const url = await urlOfRole(
    database,
    'authenticator',
    (server) => {
      roles = { ...roles, server };
      const { anon, member, admin } = roles;
      return `CREATE ROLE ${anon}; CREATE ROLE ${member}; CREATE ROLE ${admin}; GRANT ${anon}, ${member}, ${admin} TO ${server};
      GRANT USAGE, CREATE ON SCHEMA platform TO ${server};
      GRANT ALL ON ALL TABLES IN SCHEMA platform TO ${server};
      GRANT ALL ON ALL SEQUENCES IN SCHEMA platform TO ${server};
      ${parts.sql(roles)}`;
    },
    'NOINHERIT',
  );
  const { folder, remove } = await createProject();
  const config = `import { defineConfig } from 'tablewright/config';\n\nexport default defineConfig(${parts.config(roles)});\n`;
  await writeFile(join(folder, 'platform.config.ts'), config);
  await writeFile(join(folder, 'permissions.yaml'), parts.permissions);
  const rows: SecuredProject['rows'] = (sql, values = []) => database.rows(sql, values);
  return { database, roles, url, superUrl: database.url, folder, rows, remove };
}

/** Makes the project, and serves it on both lanes: every read must give the same bytes. */
export async function serveSecured(parts: SecuredParts): Promise<SecuredProject> {
  const { database, remove, ...prepared } = await prepareSecured(parts);
  const { folder, url, rows } = prepared;
  const environment = { DATABASE_POOL_MAX: '6', ...parts.environment };
  const platform = await startBothLanes({ folder, databaseUrl: url, directUrl: url, environment });
  return {
    ...platform,
    ...prepared,
    async addUsers(count, columns = () => ({})) {
      await rows(
        `INSERT INTO platform.platform_roles (id, name) SELECT $1::uuid, 'member'
        WHERE NOT EXISTS (SELECT FROM platform.platform_roles WHERE name = 'member')`,
        [randomUUID()],
      );
      const [role] = await rows(`SELECT id FROM platform.platform_roles WHERE name = 'member'`);
      const users = Array.from({ length: count }, () => ({ id: randomUUID(), token: randomBytes(16).toString('hex') }));
      const list = users.map(({ id, token }, position) => ({
        ...{ id, token, email: `${id}@example.com`, role: role?.id, status: 'active' },
        ...columns(position),
      }));
      const names = Object.keys(list[0] ?? {}).join(', ');
      await withClient(database.url, (client) =>
        client.query(
          `INSERT INTO platform.platform_users (${names})
           SELECT ${names} FROM jsonb_populate_recordset(NULL::platform.platform_users, $1::jsonb)`,
          [JSON.stringify(list)],
        ),
      );
      return users;
    },
    async close() {
      await platform.stop();
      await Promise.all([database.drop(), remove()]);
    },
  };
}
