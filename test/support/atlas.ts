/** The atlas as a database of a test's own, with the platform's own tables, and the platform over it. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ContractDatabase, createSystemDatabase } from './contract-database.ts';
import { withClient } from './database.ts';
import { startBothLanes } from './lanes.ts';
import { createProject, type Platform } from './platform.ts';
import { urlOfRole } from './roles.ts';

const migrations = fileURLToPath(new URL('../../fixtures/atlas/migrations', import.meta.url));

async function readScripts(): Promise<string> {
  const names = (await readdir(migrations)).sort();
  return (await Promise.all(names.map((name) => readFile(join(migrations, name), 'utf8')))).join('\n');
}

/** The fixture served for one test file. */
export interface Atlas extends Platform {
  readonly database: ContractDatabase;
  readonly folder: string;
  /** Static tokens of a user of each role. */
  readonly tokens: Readonly<Record<'clerk' | 'auditor', string>>;
  /** Stops the server and removes database and project. */
  close(): Promise<void>;
}

/** Key of the clerk. */
export const clerk = '5b0f6c1e-0000-4000-8000-000000000001';

/** Roles of the server, which databases of other test files have as well. */
const callers = ['atlas_public', 'atlas_clerk', 'atlas_auditor']
  .map(
    (name) => `DO $$ BEGIN CREATE ROLE ${name}; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;`,
  )
  .join('\n');

/** Shops that tests count are those of two regions. */
const withoutBrussels = `DELETE FROM shops WHERE region = 3; DELETE FROM regions WHERE id = 3;`;

const users = `
INSERT INTO platform.platform_roles (id, name) VALUES
  ('5b0f6c1e-0000-4000-8000-0000000000a1', 'clerk'), ('5b0f6c1e-0000-4000-8000-0000000000a2', 'auditor');
INSERT INTO platform.platform_users (id, email, role, token) VALUES
  ('${clerk}', 'clerk@example.com', '5b0f6c1e-0000-4000-8000-0000000000a1', 'static-token-of-the-clerk'),
  ('5b0f6c1e-0000-4000-8000-000000000002', 'auditor@example.com', '5b0f6c1e-0000-4000-8000-0000000000a2', 'static-token-of-the-auditor');`;

/** Compiles and serves the atlas; `sql` comes after its own, and texts stand in the place of its files. */
export async function startAtlas(
  files: { readonly sql?: string; readonly config?: string; readonly permissions?: string } = {},
): Promise<Atlas> {
  const database = await createSystemDatabase(callers);
  // Policies bind no superuser, so the server has a role of its own, which owns the tables.
  const url = await urlOfRole(
    database,
    'atlas',
    (role) =>
      `GRANT atlas_public, atlas_clerk, atlas_auditor TO ${role}; GRANT CREATE ON SCHEMA public, platform TO ${role};
      GRANT USAGE ON SCHEMA platform TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA platform TO ${role};
      GRANT ALL ON ALL SEQUENCES IN SCHEMA platform TO ${role};`,
  );
  const sql = (await readScripts()) + withoutBrussels + (files.sql ?? '') + users;
  await withClient(url, (client) => client.query(sql));
  const project = await createProject('fixtures/atlas');
  await rm(join(project.folder, 'migrations'), { recursive: true });
  if (files.config !== undefined) await writeFile(join(project.folder, 'platform.config.ts'), files.config);
  if (files.permissions !== undefined) await writeFile(join(project.folder, 'permissions.yaml'), files.permissions);
  const platform = await startBothLanes({
    folder: project.folder,
    databaseUrl: url,
    directUrl: url,
    hooked: true,
  });
  return {
    ...platform,
    database,
    folder: project.folder,
    tokens: { clerk: 'static-token-of-the-clerk', auditor: 'static-token-of-the-auditor' },
    async close() {
      await platform.stop();
      await Promise.all([database.drop(), project.remove()]);
    },
  };
}
