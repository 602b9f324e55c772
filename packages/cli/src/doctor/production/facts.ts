/** Facts about a server that is to be used: its settings, its files and its database. */
import type { Schema } from '@tablewright/introspect/schema';
import { type Environment, type EnvironmentProblem, readEnvironment, type Variables } from '@tablewright/runtime/tools';
import { readManifest } from '../../output/manifest.ts';
import type { Project } from '../../project/project.ts';
import { databaseUrl } from '../../project/settings.ts';
import type { ConnectionFacts } from '../../sources/connection.ts';
import { connectionFacts } from '../examine-database.ts';
import { openSecrets } from './open-secrets.ts';
import type { DatabaseFacts } from './read-database.ts';

/** Everything that checks look at. */
export interface ProductionFacts {
  /** Version of Node: `24.1.0`. */
  readonly node: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Settings of the server; a variable that cannot be used has its default here. */
  readonly environment: Environment;
  readonly problems: readonly EnvironmentProblem[];
  /** Files with secrets that every user of the machine can read. */
  readonly openFiles: readonly string[];
  /** Null: the embedded database. */
  readonly connection: ConnectionFacts | null;
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

/** Results of earlier examinations, which need not be asked for again. */
export interface ExaminedFacts extends Pick<ProductionFacts, 'database' | 'workers'> {
  /** Null where neither database nor file could be read. */
  readonly schema: Schema | null;
}

/** Gathers the facts of a project, by the variables that a server of this process would have. */
export async function productionFacts(project: Project, examined: ExaminedFacts): Promise<ProductionFacts> {
  const url = databaseUrl(project);
  const { database, workers, schema } = examined;
  return {
    ...readSettings({ ...process.env, NODE_ENV: 'production' }),
    node: process.versions.node,
    now: Date.now(),
    openFiles: await openSecrets(project, process.env),
    connection: url === null ? null : await connectionFacts(url),
    database,
    contract: (await readManifest(project.output))?.contract ?? null,
    workers,
    hasUsers:
      schema?.collections.some(({ system, name }) => system !== undefined && name === 'platform_users') ?? false,
    hasGraphql: project.config.graphql !== false,
  };
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
