/** Metrics of the state of a process: the version that it serves, what waits in the platform's own tables, and caches of plans. */
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import type { Drift } from '../drift.ts';
import { orphanCounter } from '../files/loose-files.ts';
import type { Generations } from '../generations/generations.ts';
import type { CompiledApi } from '../language/index.ts';
import {
  type CacheName,
  type CreateCache,
  cacheNames,
  countLookups,
  createBoundedCache,
  plansKept,
} from '../language/values/bounded-cache.ts';
import { mailCounter } from '../mail/outbox.ts';
import { Counter, gauge, Histogram, type MetricValues } from '../operate/metrics/measured.ts';
import type { SystemPlace } from '../system/place.ts';
import { platformVersion } from '../version.ts';

const severities: readonly Drift['severity'][] = ['error', 'info'];

export class VersionMetrics {
  readonly #swaps = new Counter('tablewright_api_swaps_total', 'Replacements of the served API.');
  readonly #times = new Histogram('tablewright_api_swap_seconds', 'Time of a replacement.');
  readonly #swap = this.#swaps.child({});
  readonly #time = this.#times.child({});
  #generations: Generations | null = null;

  /** Counts the replacements of some generations from now on. */
  observe(generations: Generations): Generations {
    this.#generations = generations;
    return {
      ...generations,
      replace: async (api) => {
        const start = performance.now();
        await generations.replace(api);
        this.#swap.value++;
        this.#time.observe((performance.now() - start) / 1000);
      },
    };
  }

  read(): readonly MetricValues[] {
    if (this.#generations === null) return [];
    const { current, watch } = this.#generations;
    const { api } = current();
    const drifts = watch.drifts();
    const counted = severities.map((severity) => ({
      labels: { severity },
      value: drifts.filter((drift) => drift.severity === severity).length,
    }));
    return [
      gauge('tablewright_build_info', 'Versions of what runs.', [{ labels: buildLabels(api), value: 1 }], 'first'),
      gauge(
        'tablewright_api_version_info',
        'Digest of the tables, roles and rules of the served API.',
        [{ labels: { version: digestOf(api) }, value: 1 }],
        'first',
      ),
      this.#swaps.read(),
      this.#times.read(),
      gauge('tablewright_schema_drifts', 'Differences between the database and the API.', counted, 'max'),
    ];
  }
}

function buildLabels({ contract, dialect }: CompiledApi) {
  return { version: platformVersion(), node: process.version, contract, database: dialect };
}

/** Digest by which operators see if two servers serve the same. */
function digestOf({ fingerprint, permissionsDigest = '', modelDigest = '' }: CompiledApi): string {
  return hash('sha256', `${fingerprint.hash} ${permissionsDigest} ${modelDigest}`, 'hex').slice(0, 12);
}

/** Milliseconds for which a count is kept, and for which a reader waits for the next one. */
const keptMs = 60_000;
const timeoutMs = 500;

/** Counts them when they are asked for, at most once a minute. */
export class WaitingMetrics {
  readonly #countMails: () => Promise<number>;
  readonly #countFiles: () => Promise<number>;
  #values: readonly MetricValues[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(database: Pick<Database, 'query'>, location: SystemPlace) {
    this.#countMails = mailCounter(database, location);
    this.#countFiles = orphanCounter(database, location);
  }

  /** The latest values; none while the tables cannot be read. */
  async read(): Promise<readonly MetricValues[]> {
    if (performance.now() - this.#readAt >= keptMs) {
      this.#reading ??= this.#count().finally(() => {
        this.#reading = null;
      });
      await Promise.race([this.#reading, sleep(timeoutMs, undefined, { ref: false })]);
    }
    return this.#values;
  }

  async #count(): Promise<void> {
    try {
      const [mails, files] = await Promise.all([this.#countMails(), this.#countFiles()]);
      // Every process counts the same.
      this.#values = [
        gauge('tablewright_mails_waiting', 'Mails to be sent.', [{ labels: {}, value: mails }], 'max'),
        gauge(
          'tablewright_orphaned_files',
          'Contents that no file names, and that should be gone.',
          [{ labels: {}, value: files }],
          'max',
        ),
      ];
      this.#readAt = performance.now();
    } catch {
      this.#values = [];
    }
  }
}

/** Makes caches whose lookups are counted together, by name. */
export class CacheMetrics {
  readonly #requests = new Counter('tablewright_plan_cache_requests_total', 'Lookups in the caches of plans.');
  readonly #byName = new Map(
    cacheNames.map((cache: CacheName) => [
      cache,
      {
        hits: this.#requests.child({ cache, result: 'hit' }),
        misses: this.#requests.child({ cache, result: 'miss' }),
      },
    ]),
  );

  readonly createCache: CreateCache = <Value>(name: CacheName | null) => {
    const counters = name === null ? undefined : this.#byName.get(name);
    const cache = createBoundedCache<Value>(plansKept);
    return counters === undefined ? cache : countLookups(cache, counters.hits, counters.misses);
  };

  read(): readonly MetricValues[] {
    return [this.#requests.read()];
  }
}
