/** Facts about a server that is to be used: its settings, its files and its database. */
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { didYouMean } from '@tablewright/introspect/did-you-mean';
import type { Schema } from '@tablewright/introspect/schema';
import { type Environment, type EnvironmentProblem, readEnvironment, type Variables } from '@tablewright/runtime/tools';
import { loadSchema } from '../../compile/steps.ts';
import { CommandError, exitCodes } from '../../errors/failures.ts';
import { readManifest } from '../../output/manifest.ts';
import { environmentName, idleVariables } from '../../project/environment-file.ts';
import type { Project } from '../../project/project.ts';
import { databaseUrl } from '../../project/settings.ts';
import type { ConnectionFacts } from '../../sources/commands.ts';
import { migrationNames, projectMigrationState } from '../../sources/project-migrations.ts';
import type { Source } from '../../sources/source.ts';
import { systemState } from '../../sources/system.ts';
import { connectionFacts, connectionLimit } from '../examine-database.ts';

/** Everything that checks look at. */
export interface ProductionFacts {
  /** Version of Node: `24.1.0`. */
  readonly node: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Settings of the server; a variable that cannot be used has its default here. */
  readonly environment: Environment;
  readonly problems: readonly EnvironmentProblem[];
  /** Variables that the server does not read, whose names are near those of others that it reads. */
  readonly misspelt: readonly MisspeltVariable[];
  /** Variables without effect, a sentence each. */
  readonly idle: readonly string[];
  /** Files with secrets that every user of the machine can read. */
  readonly openFiles: readonly string[];
  /** Connections to hosts, by the variables that name these; none to the embedded database. */
  readonly connections: readonly NamedConnection[];
  /** Null where the database is out of reach. */
  readonly database: DatabaseFacts | null;
  /** Contract of the generated files; null where nothing is generated. */
  readonly contract: number | null;
  /** Processes that serve. */
  readonly workers: number;
  /** True if the platform's own tables are there. */
  readonly hasUsers: boolean;
  readonly hasGraphql: boolean;
}

interface MisspeltVariable {
  readonly name: string;
  readonly meant: string;
}

interface NamedConnection extends ConnectionFacts {
  readonly variable: string;
}

/** Results of earlier examinations, which need not be asked for again. */
export interface ExaminedFacts extends Pick<ProductionFacts, 'database' | 'workers'> {
  /** Null where neither database nor file could be read. */
  readonly schema: Schema | null;
}

/** Gathers the facts of a project, by the variables that a server of this process would have. */
export async function productionFacts(project: Project, examined: ExaminedFacts): Promise<ProductionFacts> {
  const { database, workers, schema } = examined;
  const settings = readSettings({ ...process.env, NODE_ENV: 'production' });
  return {
    ...settings,
    misspelt: misspeltVariables(process.env),
    idle: idleVariables(process.env),
    node: process.versions.node,
    now: Date.now(),
    openFiles: await openSecrets(project, process.env),
    connections: await namedConnections(databaseUrl(project), settings.environment),
    database,
    contract: (await readManifest(project.output))?.contract ?? null,
    workers,
    hasUsers:
      schema?.collections.some(({ system, name }) => system !== undefined && name === 'platform_users') ?? false,
    hasGraphql: project.config.graphql !== false,
  };
}

async function namedConnections(
  url: string | null,
  { database: { readUrl, listenUrl } }: Environment,
): Promise<readonly NamedConnection[]> {
  const urls = { DATABASE_URL: url, DATABASE_READ_URL: readUrl, DATABASE_LISTEN_URL: listenUrl };
  const reached = Object.entries(urls).map(async ([variable, address]) =>
    (address === null ? [] : await connectionFacts(address)).map((facts) => ({ variable, ...facts })),
  );
  return (await Promise.all(reached)).flat();
}

/** Reads the settings; where some cannot be used, the others count all the same. */
function readSettings(variables: Variables): Pick<ProductionFacts, 'environment' | 'problems'> {
  const reading = readEnvironment(variables);
  if (reading.ok) return { environment: reading.environment, problems: [] };
  const { problems } = reading;
  const refused = new Set(problems.flatMap(({ variable }) => [variable, `${variable}_FILE`]));
  const rest = readEnvironment(Object.fromEntries(Object.entries(variables).filter(([name]) => !refused.has(name))));
  const defaults = rest.ok ? rest : readEnvironment({ NODE_ENV: 'production' });
  if (!defaults.ok) throw new Error('The defaults of the environment are refused.');
  return { environment: defaults.environment, problems };
}

/** Characters of the shortest name that is compared: shorter ones are like those of the system. */
const leastLength = 8;

function misspeltVariables(variables: Variables): readonly MisspeltVariable[] {
  const read = new Set<string>();
  const noting = new Proxy(
    { ...variables },
    {
      getOwnPropertyDescriptor(target, name) {
        read.add(String(name));
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
    },
  );
  readEnvironment(noting);
  const candidates = [...read].filter((name) => !name.endsWith('_FILE'));
  return Object.keys(variables).flatMap((name) => {
    if (name.length < leastLength || read.has(name)) return [];
    const near = candidates.filter((candidate) => areNearByWords(name, candidate));
    const meant = didYouMean(name, near);
    return meant === null ? [] : [{ name, meant }];
  });
}

/** False where a whole word is another one, as in variables of other programs: `DATABASE_USER` beside `DATABASE_URL`. */
function areNearByWords(name: string, candidate: string): boolean {
  const [segments, others] = [name.split('_'), candidate.split('_')];
  if (segments.length !== others.length) return true;
  return segments.every((text, index) => text === others[index] || didYouMean(text, [others[index] ?? '']) !== null);
}

interface DatabaseFacts {
  /** Connections that the role may have at once; null where that is unknown, as of the embedded database. */
  readonly connections: number | null;
  /** Names of migrations that the database lacks. */
  readonly pending: readonly string[];
  /** Reasons why migrations may be lacking that are not known. */
  readonly unknown: readonly string[];
}

/** Asks for them. Every question stands alone. */
export async function readDatabase(source: Source, project: Project): Promise<DatabaseFacts> {
  const found = await Promise.all([pendingSystem(source, project), pendingOfProject(source, project)].map(orUnknown));
  return {
    connections: source.embedded === null ? await connectionLimit(source).catch(() => null) : null,
    pending: found.flatMap(({ pending }) => pending),
    unknown: (await isCompiledWithUsers(project)) ? found.flatMap(({ unknown }) => unknown) : [],
  };
}

/** True if the files say that the database has the tables of the platform, which the role may not see. */
async function isCompiledWithUsers(project: Project): Promise<boolean> {
  const compiled = await loadSchema(project).catch(() => null);
  return compiled?.collections.some(({ system }) => system !== undefined) ?? false;
}

async function pendingSystem(source: Source, project: Project): Promise<readonly string[]> {
  const { installed, pending } = await systemState(source, project);
  return installed ? pending.map(({ id, name }) => `${id} ${name}`) : [];
}

async function pendingOfProject(source: Source, project: Project): Promise<readonly string[]> {
  if ((await migrationNames(project)).length === 0) return [];
  // A folder beside a database without the platform's tables is that of another tool. They may be hidden.
  const { installed } = await systemState(source, project).catch(() => ({ installed: true }));
  if (!installed) return [];
  const { pending, halfApplied } = await projectMigrationState(source, project);
  return [...new Set([...pending, ...halfApplied].map(({ name }) => name))];
}

type Pending = Pick<DatabaseFacts, 'pending' | 'unknown'>;

/** Migrations of another version and files that were changed are findings of their own. */
function orUnknown(names: Promise<readonly string[]>): Promise<Pending> {
  return names.then(
    (pending) => ({ pending, unknown: [] }),
    (error: unknown) => {
      const isHidden = error instanceof CommandError && error.exitCode === exitCodes.database;
      return { pending: [], unknown: isHidden ? [error.message] : [] };
    },
  );
}

/** Variables whose content opens something. */
const secretName = /(?:SECRET(?:_PREVIOUS)?|PASSWORD|TOKEN|DATABASE(?:_READ|_LISTEN)?_URL|REDIS|_KEY)$/;

/** Files of the folder of state that hold secrets. */
const kept = ['secret', 'admin-token', 'admin-password'];

/** Files with secrets that every user of the machine can read: those of variables, of `.env` and of the state. */
async function openSecrets(
  { folder, stateFolder }: Pick<Project, 'folder' | 'stateFolder'>,
  variables: Variables,
): Promise<readonly string[]> {
  const named = Object.entries(variables).flatMap(([name, path]) =>
    name.endsWith('_FILE') && secretName.test(name.slice(0, -'_FILE'.length)) && path ? [resolve(path)] : [],
  );
  const environment = join(folder, environmentName);
  const files = [...named, ...((await holdsSecret(environment)) ? [environment] : [])];
  const all = new Set([...files, ...kept.map((name) => join(stateFolder, name))].filter(existsSync));
  const open = await Promise.all([...all].map(async (file) => ((await isOpen(file)) ? [file] : [])));
  return open.flat().map((file) => (file.startsWith(folder) ? relative(folder, file) : file));
}

async function holdsSecret(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').some((line) => secretName.test(line.split('=')[0]?.trim() ?? ''));
}

/** True if others may read the file, and enter every folder above it. Systems without modes are left alone. */
async function isOpen(file: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  const { mode } = await stat(file);
  return (mode & 0o004) !== 0 && isEntered(dirname(file));
}

async function isEntered(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  const parent = dirname(folder);
  return (mode & 0o001) !== 0 && (parent === folder || isEntered(parent));
}
