/** A project of a test's own: a database made of SQL, configuration and permissions as text, and the platform over it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type ContractDatabase,
  createContractDatabase,
  createSystemDatabase,
  isOnMariadb,
  uncounted,
  withRows,
} from './contract-database.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { startBothLanes, startOneLane } from './lanes.ts';
import { createProject, type Platform } from './platform.ts';
import { type CountingProxy, countStatements } from './proxy.ts';

/** What a project is made of. */
export interface ProjectParts {
  /** Creates and fills the database. */
  readonly sql: string;
  /** Installs the platform's own tables before that. */
  readonly system?: true;
  /** Says that `sql` makes the same on MariaDB, which it does with the tables of the platform as well. */
  readonly portable?: true;
  /** What comes behind `sql` on PostgreSQL alone. */
  readonly postgres?: string;
  /** What `defineConfig` takes, in TypeScript. */
  readonly config?: string;
  /** Text of `permissions.yaml`. */
  readonly permissions?: string;
  /** Files of the folder `extensions`, by their paths in it. */
  readonly extensions?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Serves it in processes of its own, as the command does; so it is where there are extensions, which may have state. */
  readonly alone?: true;
  /** Says that others write while requests do, which cannot be taken back. */
  readonly disturbed?: true;
}

/** A project that is compiled and served. */
export interface ServedProject extends Platform {
  readonly database: TestDatabase;
  /** Folder of the project, with `generated/` in it. */
  readonly folder: string;
  /** Runs SQL, written for PostgreSQL, and gives the rows of the last statement. */
  rows(sql: string): Promise<readonly Record<string, unknown>[]>;
  /** The same, each row as the values of its columns. */
  cells(sql: string): Promise<readonly (readonly unknown[])[]>;
  /** Notes the statements that the server sends. */
  readonly statements: CountingProxy;
  /** Stops the server and removes database and project. */
  close(): Promise<void>;
}

/** Makes the project, compiles it and serves it on a free port. */
export async function serveProject(parts: ProjectParts): Promise<ServedProject> {
  const database = await makeDatabase(parts);
  const project = await createProject();
  if (parts.config !== undefined) {
    const text = `import { defineConfig } from 'tablewright/config';\n\nexport default defineConfig(${parts.config});\n`;
    await writeFile(join(project.folder, 'platform.config.ts'), text);
  }
  if (parts.permissions !== undefined) await writeFile(join(project.folder, 'permissions.yaml'), parts.permissions);
  for (const [name, text] of Object.entries(parts.extensions ?? {})) {
    const path = join(project.folder, 'extensions', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const onMariadb = canMove(parts) && isOnMariadb();
  const statements = onMariadb ? uncounted(database.url) : await countStatements(database.url);
  const platform = await (onMariadb ? startOneLane : startBothLanes)({
    folder: project.folder,
    databaseUrl: statements.url,
    directUrl: database.url,
    ...(parts.environment && { environment: parts.environment }),
    alone: parts.alone === true || parts.extensions !== undefined,
    hooked: parts.extensions !== undefined || parts.disturbed === true,
  });
  return {
    ...platform,
    database,
    folder: project.folder,
    statements,
    rows: (sql) => database.rows(sql),
    cells: (sql) => database.cells(sql),
    async close() {
      await platform.stop();
      await statements.close();
      await Promise.all([database.drop(), project.remove()]);
    },
  };
}

/** Whether the tests of a project may run on another server than PostgreSQL. */
function canMove({ system, portable }: ProjectParts): boolean {
  return system === true || portable === true;
}

async function makeDatabase(parts: ProjectParts): Promise<ContractDatabase> {
  const { sql, system, portable, postgres = '' } = parts;
  const all = canMove(parts) && isOnMariadb() ? sql : sql + postgres;
  if (system) return createSystemDatabase(all);
  return portable ? createContractDatabase(all) : withRows(await createDatabase(all));
}

/** Status and code of a failed answer, as tests compare them. */
export function failure(answer: { readonly status: number; readonly json: { readonly errors?: unknown } }): string {
  const [first] = Array.isArray(answer.json?.errors) ? answer.json.errors : [];
  return `${answer.status} ${first?.extensions?.code ?? 'no error'}`;
}
