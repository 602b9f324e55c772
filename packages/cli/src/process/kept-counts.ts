/** Counts of processes that have ended or do not answer: Prometheus takes a falling sum for a restart. */
import type { MetricValues } from '@tablewright/runtime';

type ProcessMetrics = readonly MetricValues[];
type Values = MetricValues['values'];

export class KeptCounts {
  readonly #latest = new Map<number, ProcessMetrics>();
  #ended: ProcessMetrics = [];

  record(id: number, metrics: ProcessMetrics): void {
    this.#latest.set(
      id,
      metrics.filter(({ type }) => type === 'counter' || type === 'histogram'),
    );
  }

  end(id: number): void {
    this.#ended = add(this.#ended, this.#latest.get(id) ?? []);
    this.#latest.delete(id);
  }

  /** Counts of all processes but some. */
  ofOthers(ids: ReadonlySet<number>): readonly ProcessMetrics[] {
    const others = [...this.#latest].flatMap(([id, counts]) => (ids.has(id) ? [] : [counts]));
    return [this.#ended, ...others];
  }
}

function add(left: ProcessMetrics, right: ProcessMetrics): ProcessMetrics {
  const byName = new Map(left.map((metric) => [metric.name, metric]));
  for (const metric of right) {
    const earlier = byName.get(metric.name);
    const values = earlier === undefined ? metric.values : addValues(earlier.values, metric.values);
    byName.set(metric.name, { ...metric, values });
  }
  return [...byName.values()];
}

function addValues(left: Values, right: Values): Values {
  const byLine = new Map(left.map((line) => [keyOf(line), line]));
  for (const line of right) {
    const key = keyOf(line);
    byLine.set(key, { ...line, value: line.value + (byLine.get(key)?.value ?? 0) });
  }
  return [...byLine.values()];
}

/** Processes name labels in the same order. */
function keyOf({ metricName, labels }: Values[number]): string {
  return JSON.stringify([metricName, labels]);
}
