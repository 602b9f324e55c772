/** Metrics of what is served: the version of the API, its replacements, and differences from the database. */
import { hash } from 'node:crypto';
import type { Drift } from '../drift.ts';
import type { Generations } from '../generations/generations.ts';
import type { CompiledApi } from '../language/index.ts';
import { Counter, gauge, Histogram, type MetricValues } from '../operate/metrics/measured.ts';
import { platformVersion } from '../version.ts';

const severities: readonly Drift['severity'][] = ['error', 'info'];

/** Counts replacements of the served API. */
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

  /** Values of all metrics. */
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
