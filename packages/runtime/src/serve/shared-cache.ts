/** Shared caches in front of a server: tags of answers, and purges after changes. */
import { randomBytes } from 'node:crypto';
import { createPurges, type Purges } from '../caching/purges.ts';
import { createTags, type Tags } from '../caching/tags.ts';
import { watchChanges } from '../caching/watch-changes.ts';
import type { Database } from '../database/database.ts';
import type { Environment } from '../environment.ts';
import type { Generations } from '../generations/generations.ts';
import type { CompiledApi } from '../language/index.ts';
import type { Log } from '../operate/log.ts';

/** The caches as a process sees them. */
export interface SharedCache {
  /** Null where no answer may be kept: a server that only reads cannot tell if it has come to the latest write. */
  readonly tags: Tags | null;
  /** Has the caches drop all answers. */
  purgeAll(): void;
  /** Has transactions purge what they change. */
  watch(database: Database, api: Pick<CompiledApi, 'caching'>): Database;
  /** Has new versions of the API purge everything. */
  renew(generations: Generations): Generations;
  /** Sends what waits. */
  close(graceMs: number): Promise<void>;
}

/** Seconds for which any collection lets answers be kept, at most. */
const longestSeconds = 300;

/** Opens them. Nothing is sent before the first version is served. */
export function openSharedCache({ auth, cache, database }: Environment, log: () => Log): SharedCache {
  const { purgeUrls: urls, tagHeader } = cache;
  // Without purges no tag has to be known to another process, so that each may have tags of its own.
  const tags = createTags(auth.secret ?? randomBytes(32).toString('base64url'));
  const { all } = tags;
  const purges: Purges | null =
    urls.length === 0 ? null : createPurges({ urls, tagHeader, all, seconds: longestSeconds, log });
  const purgeAll = (): void => purges?.purge([all]);
  return {
    tags: database.readOnly ? null : tags,
    purgeAll,
    watch(target, { caching }) {
      if (purges === null || caching === undefined) return target;
      return watchChanges(target, { caching, tags, changed: (changed) => purges.purge(changed) });
    },
    renew: (generations) => ({
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
    async close(graceMs) {
      // Until now it may have answered by an older version than the processes that take over.
      purgeAll();
      await purges?.close(graceMs);
    },
  };
}
