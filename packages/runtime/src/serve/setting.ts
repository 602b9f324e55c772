/** The setting of a server: its variables, where its database is, and its instruments. Nothing is opened yet. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabasePlace } from '../dialects/open.ts';
import { type RenewableUrl, renewableUrl } from '../environment/renewable-url.ts';
import { keptSecret } from '../environment/secrets.ts';
import { EnvironmentError, secretAdvice } from '../environment/values.ts';
import { type Environment, readEnvironment, type Variables } from '../environment.ts';
import { type CompiledApi, dialectFacts, familyOf } from '../language/index.ts';
import { systemSchemaOf } from '../system/place.ts';
import { type FoundProvider, loadProvider } from '../traces/open-telemetry.ts';
import { createInstruments, type Instruments } from './instruments.ts';
import type { ServeOptions } from './options.ts';

/** Folder of the embedded database when no other is named. */
const embeddedFolder = '.platform/database';

export interface ServeSetting {
  readonly environment: Environment;
  readonly location: DatabasePlace;
  /** Address of the database, which may change while the server runs; undefined for an embedded one. */
  readonly address: RenewableUrl | undefined;
  readonly provider: FoundProvider;
  readonly instruments: Instruments;
}

/** Reads the setting. Rejects with `EnvironmentError` for unusable variables. */
export async function readSetting(api: CompiledApi, options: ServeOptions): Promise<ServeSetting> {
  const variables = options.variables ?? process.env;
  const initial = environmentOf(variables);
  const location = options.database ?? placeOf(initial);
  refuseOthers(api, location);
  refuseNew(location);
  const address = 'url' in location ? renewableUrl(variables, location.url) : undefined;
  const environment = await withSecret(api, initial, location);
  const provider = await loadProvider(environment.operate.tracesModule);
  const instruments = await instrumentsOf(environment, options, provider);
  return { environment, location, address, provider, instruments };
}

/** Statements for one server do not run on another, so a mismatch is refused before anything is opened. */
function refuseOthers({ dialect }: CompiledApi, location: DatabasePlace): void {
  if (dialectFacts[dialect].family === familyOf('url' in location ? location.url : '')) return;
  const reason = `the API was compiled for another kind of database, which is ${dialect}`;
  const message = `DATABASE_URL does not fit: ${reason}. Run \`platform generate\` with this DATABASE_URL.`;
  throw new EnvironmentError([{ variable: 'DATABASE_URL', message }]);
}

/** An embedded database that a server made would have no tables: DATABASE_URL was forgotten, or the folder is another. */
function refuseNew(location: DatabasePlace): void {
  if ('url' in location || typeof location.embedded !== 'string') return;
  const { embedded } = location;
  if (embedded.includes('://') || existsSync(join(embedded, 'PG_VERSION'))) return;
  const advice = 'Set DATABASE_URL, or start in the folder of a project that has one.';
  const message = `DATABASE_URL is not set, and ${embedded} holds no embedded database. ${advice}`;
  throw new EnvironmentError([{ variable: 'DATABASE_URL', message }]);
}

function environmentOf(variables: Variables): Environment {
  const reading = readEnvironment(variables);
  if (!reading.ok) throw new EnvironmentError(reading.problems);
  return reading.environment;
}

function placeOf({ database }: Environment): DatabasePlace {
  return database.url === null ? { embedded: embeddedFolder } : { url: database.url };
}

/** Instruments that the environment asks for, and those of a provider of spans. */
async function instrumentsOf(
  environment: Environment,
  { gatherMetrics }: ServeOptions,
  provider: FoundProvider,
): Promise<Instruments> {
  const instruments = createInstruments(environment, gatherMetrics ?? null);
  if (provider === null || 'problem' in provider) return instruments;
  const { traceInstruments } = await import('./traced-instruments.ts');
  return traceInstruments(instruments, provider);
}

/**
 * An environment with a secret where there are users. It is the one that was set, or that of an embedded database,
 * which is made once and kept beside it. Rejects with `EnvironmentError` when several processes would need one.
 */
async function withSecret(
  api: Pick<CompiledApi, 'collections' | 'caching'>,
  environment: Environment,
  location: DatabasePlace,
): Promise<Environment> {
  const purges = api.caching !== undefined && environment.cache.purgeUrls.length > 0;
  if (environment.auth.secret !== null || (systemSchemaOf(api) === null && !purges)) return environment;
  if (!('embedded' in location)) {
    const reason = purges ? 'with CACHE_PURGE_URL' : 'where there are users';
    const message = `SECRET is required ${reason}, the same for every process: ${secretAdvice}`;
    throw new EnvironmentError([{ variable: 'SECRET', message }]);
  }
  const { embedded } = location;
  // A database in memory, or of another process, has no folder; its sessions end with this process.
  const isFolder = typeof embedded === 'string' && !embedded.includes('://');
  const secret = isFolder ? await keptSecret(dirname(embedded)) : randomBytes(32).toString('base64url');
  return { ...environment, auth: { ...environment.auth, secret } };
}
