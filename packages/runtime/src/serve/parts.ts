/** The parts of a server, put together. None of them runs before it is started. */
import { randomBytes } from 'node:crypto';
import { createPurges, type Purges } from '../caching/purges.ts';
import { createTags, watchChanges } from '../caching/tags.ts';
import type { Database } from '../database/database.ts';
import { createDriftWatch, type DriftWatch } from '../drift-watch.ts';
import { type Environment, readLimits } from '../environment.ts';
import { createGenerations, type Generations } from '../generations/generations.ts';
import { createModelWatch, type ModelWatch } from '../generations/model-watch.ts';
import { type KnownCallers, recordRequests } from '../http/exchanges.ts';
import { createListener, type Listener } from '../http/fastify-adapter.ts';
import { createHealth, readinessOf } from '../http/health.ts';
import { createHost, type HostParts } from '../http/host.ts';
import { createServer } from '../http/server.ts';
import type { CompiledApi } from '../language/index.ts';
import { readMadeTables } from '../migrations/migrate.ts';
import { compiledModel, frozenModel } from '../model/model-changer.ts';
import type { Broadcast } from '../operate/broadcast.ts';
import type { Log } from '../operate/log.ts';
import { headsOf, serverSeams } from '../optimize/index.ts';
import { createPlanner } from '../query/planner.ts';
import { systemPlaceOf } from '../system/place.ts';
import { type Acceptor, createAcceptor } from './acceptor.ts';
import type { RunningServer, ServeOptions } from './options.ts';
import { type PreparedDatabase, prepareDatabase, requireRowContexts } from './prepare-database.ts';
import type { ServeSetting } from './setting.ts';

/** Folder of mail when no mail server is configured and no other folder is named. */
const mailFolder = '.platform/mail';

/** Folder of uploaded files when no other is named. */
const uploadsFolder = '.platform/uploads';

export interface ServeParts extends Omit<PreparedDatabase, 'listen'> {
  readonly listener: Listener;
  readonly acceptor: Acceptor;
  readonly host: HostParts;
  readonly model: ServedModel;
  readonly generations: Generations;
  readonly cache: SharedCache;
  readonly ready: RunningServer['ready'];
}

export async function createParts(api: CompiledApi, options: ServeOptions, setting: ServeSetting): Promise<ServeParts> {
  const { environment, instruments } = setting;
  const prepared = await prepareDatabase(api, setting, () => listener.server.log, options.room);
  const { late, database, watched, hosts, listen } = prepared;
  const consistency = hosts?.consistency ?? null;
  const listener = createListener(environment, () => generations.current().server, {
    ...instruments.listener,
    consistency,
    heads: headsOf(environment.optimizations),
  });
  const acceptor = createAcceptor(listener, environment, options.connections);
  const host = createHost(listener, acceptor, environment, watched);
  const model = createModel(api, database, options, {
    listener,
    listen,
    isShared: 'url' in setting.location,
    generations: () => generations,
    broadcast: host.broadcast,
  });
  const cache = openSharedCache(environment, () => listener.server.log);
  const parts = { database, listener, acceptor, host, model, cache };
  const generations = cache.renew(instruments.generations(createServed(api, options, setting, parts)));
  return { late, watched, hosts, ...parts, generations, ready: readyOf(setting, { ...parts, generations }) };
}

/** The watch over the tables that the API is compiled from, which begins with the first API that has them. */
interface ServedModel extends ModelWatch {
  /** Takes an API that is about to be served. */
  adopt(api: CompiledApi): void;
}

/** Handles writes to the collections that the API is compiled from. */
function createModel(
  api: CompiledApi,
  database: Database,
  { recompiler, frozen = false }: ServeOptions,
  served: {
    readonly listener: Listener;
    readonly listen: PreparedDatabase['listen'];
    readonly isShared: boolean;
    readonly generations: () => Generations;
    readonly broadcast: Broadcast | null;
  },
): ServedModel {
  const { listen, broadcast } = served;
  const compiled = frozen ? frozenModel : compiledModel;
  let watch: ModelWatch | null = null;
  let isStarted = false;
  const model: ServedModel = {
    get changes() {
      return watch?.changes ?? compiled;
    },
    look: async () => watch?.look(),
    isOutdated: async (outdated) => (await watch?.isOutdated(outdated)) ?? false,
    start() {
      // Once: tables that were dropped may be installed again.
      if (watch === null || isStarted) return;
      isStarted = true;
      watch.start();
    },
    stop: async () => (watch === null ? recompiler?.close() : watch.stop()),
    adopt(next) {
      const tables = systemPlaceOf(next);
      if (watch !== null || tables === null || recompiler === undefined || frozen) return;
      watch = createModelWatch({
        ...{ database, place: tables, recompiler, log: served.listener.server.log },
        current: () => served.generations().current().api,
        swap: (made) => served.generations().replace(made),
        isShared: served.isShared,
        ...(listen !== null && { listen }),
        ...(broadcast !== null && { broadcast }),
      });
    },
  };
  model.adopt(api);
  return model;
}

/** Makes what answers requests: anew for each API that is served. */
function createServed(
  api: CompiledApi,
  options: ServeOptions,
  { environment, instruments }: ServeSetting,
  { database, listener, host, model, cache }: Pick<ServeParts, 'database' | 'listener' | 'host' | 'model' | 'cache'>,
): Generations {
  const mail = { folder: mailFolder, templates: null, ...options.mail };
  const { trustedDocuments = false, pages = null, uploads = uploadsFolder, onExchange } = options;
  const callers: KnownCallers | null = onExchange === undefined ? null : new WeakMap();
  if (callers !== null && onExchange !== undefined) recordRequests(listener.server.server, callers, onExchange);
  const watched = new WeakMap<DriftWatch, CompiledApi>();
  return createGenerations(api, (compiled, existing) => {
    const observers = instruments.serves(compiled);
    const seams = serverSeams(environment.optimizations, observers.createCache);
    const isOutdated = () => model.isOutdated(watched.get(watch) ?? compiled);
    const watch: DriftWatch = existing ?? createDriftWatch({ database, ...watchedOf(compiled, database), isOutdated });
    watched.set(watch, compiled);
    const planner = createPlanner(compiled, { limits: readLimits(environment), ...seams });
    // Every statement of requests has to name its side.
    const securedDatabase = compiled.rowSecurity === undefined ? database : requireRowContexts(database);
    const server = createServer({
      ...{
        api: compiled,
        database: cache.watch(securedDatabase, compiled),
        tags: cache.tags,
        purgeAll: cache.purgeAll,
        environment,
        planner,
        watch,
        mail,
        pages,
        trustedDocuments,
        uploads,
        host,
      },
      observers,
      ...seams,
      model: model.changes,
      ...(callers && { callers }),
    });
    return { api: compiled, watch, server };
  });
}

/** Options of the drift watch of an API: its fingerprint and the platform's own tables. */
function watchedOf(api: CompiledApi, database: Database) {
  const { fingerprint, dialect, collections } = api;
  const tables = collections.filter(({ system }) => system === true).map(({ table }) => table);
  return { fingerprint, dialect, ownTables: new Set(tables), readMade: () => readMadeTables(api, database) };
}

function readyOf(
  { environment: { database: setting } }: ServeSetting,
  { database, host, generations }: Pick<ServeParts, 'database' | 'host' | 'generations'>,
): RunningServer['ready'] {
  const { hostState } = host;
  const { watch } = generations;
  const { poolTimeout: timeoutMs, readOnly } = setting;
  const health = createHealth({ database, hostState, watch, timeoutMs, readOnly });
  return async (role) => readinessOf(await health(), role, host.draining());
}

/** The caches as a process sees them. */
type SharedCache = ReturnType<typeof openSharedCache>;

/** Seconds for which any collection lets answers be kept, at most. */
const longestSeconds = 300;

/** Opens them. Nothing is sent before the first version is served. */
function openSharedCache({ auth, cache, database }: Environment, log: () => Log) {
  const { purgeUrls: urls, tagHeader } = cache;
  // Without purges no tag has to be known to another process, so that each may have tags of its own.
  const tags = createTags(auth.secret ?? randomBytes(32).toString('base64url'));
  const { all } = tags;
  const purges: Purges | null =
    urls.length === 0 ? null : createPurges({ urls, tagHeader, all, seconds: longestSeconds, log });
  const purgeAll = (): void => purges?.purge([all]);
  return {
    /** Null where no answer may be kept: a server that only reads cannot tell if it has come to the latest write. */
    tags: database.readOnly ? null : tags,
    /** Has the caches drop all answers. */
    purgeAll,
    /** Has transactions purge what they change. */
    watch(target: Database, { caching }: Pick<CompiledApi, 'caching'>): Database {
      if (purges === null || caching === undefined) return target;
      return watchChanges(target, { caching, tags, changed: (changed) => purges.purge(changed) });
    },
    /** Has new versions of the API purge everything. */
    renew: (generations: Generations): Generations => ({
      ...generations,
      async start(to) {
        await generations.start(to);
        purgeAll();
      },
      async replace(api) {
        await generations.replace(api);
        purgeAll();
      },
    }),
    /** Sends what waits. */
    async close(graceMs: number): Promise<void> {
      // Until now it may have answered by an older version than the processes that take over.
      purgeAll();
      await purges?.close(graceMs);
    },
  };
}
