/** Metrics of the caches of plans. */
import {
  type CacheName,
  type CreatePlanCache,
  cacheNames,
  countLookups,
  createPlanCache,
  plansKept,
} from '../database/plan-cache.ts';
import { Counter, type MetricValues } from '../operate/metrics/measured.ts';

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

  readonly createCache: CreatePlanCache = <Value>(name: CacheName | null) => {
    const counters = name === null ? undefined : this.#byName.get(name);
    const cache = createPlanCache<Value>(plansKept);
    return counters === undefined ? cache : countLookups(cache, counters.hits, counters.misses);
  };

  read(): readonly MetricValues[] {
    return [this.#requests.read()];
  }
}
