/**
 * Counters, gauges and histograms whose children are bound before they are needed, so that counting is one addition and
 * observing two. Those of prom-client look their labels up each time, which takes forty times as long.
 */

/** Labels of a child by name. */
type Labels = Readonly<Partial<Record<string, string | number>>>;

/** One value of a metric, as prom-client adds them up and prints them. */
export interface MetricValue {
  readonly labels: Labels;
  readonly value: number;
  /** Name of the line where it differs from that of the metric. */
  readonly metricName?: string;
}

/** Rules by which values of several processes become one. */
type Aggregator = 'sum' | 'first' | 'min' | 'max' | 'average';

/** A metric with its values, as processes hand it to each other. */
export interface MetricValues {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: string;
  readonly values: readonly MetricValue[];
}

interface Measured {
  read(): MetricValues;
}

/** A number that only grows. */
export interface CounterChild {
  value: number;
}

/** A counter with one child per set of labels. */
export class Counter implements Measured {
  readonly #name: string;
  readonly #help: string;
  readonly #children: { readonly labels: Labels; readonly child: CounterChild }[] = [];

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  /** Binds a child; each set of labels once. */
  child(labels: Labels): CounterChild {
    const child = { value: 0 };
    this.#children.push({ labels, child });
    return child;
  }

  read(): MetricValues {
    const values = this.#children.map(({ labels, child }) => ({ labels, value: child.value }));
    return { name: this.#name, help: this.#help, type: 'counter', aggregator: 'sum', values };
  }
}

/** A gauge of values that are read when they are asked for. */
export function gauge(
  name: string,
  help: string,
  values: readonly MetricValue[],
  aggregator: Aggregator = 'sum',
): MetricValues {
  return { name, help, type: 'gauge', aggregator, values };
}

/** Upper bounds of durations, in seconds. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Lines of one child: its buckets with the infinite one, the sum and the count. */
export const linesOfHistogram = bounds.length + 3;

/** Durations under one set of labels. */
export class HistogramChild {
  readonly counts: number[] = Array.from({ length: bounds.length + 1 }, () => 0);
  sum = 0;

  observe(seconds: number): void {
    let index = 0;
    while (index < bounds.length && seconds > (bounds[index] ?? 0)) index++;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.sum += seconds;
  }
}

/** A histogram of durations with one child per set of labels. */
export class Histogram implements Measured {
  readonly #name: string;
  readonly #help: string;
  readonly #children: { readonly labels: Labels; readonly child: HistogramChild }[] = [];

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  /** Binds a child; each set of labels once. */
  child(labels: Labels): HistogramChild {
    const child = new HistogramChild();
    this.#children.push({ labels, child });
    return child;
  }

  read(): MetricValues {
    const values = this.#children.flatMap(({ labels, child }) => this.#valuesOf(labels, child));
    return { name: this.#name, help: this.#help, type: 'histogram', aggregator: 'sum', values };
  }

  #valuesOf(labels: Labels, { counts, sum }: HistogramChild): readonly MetricValue[] {
    const metricName = `${this.#name}_bucket`;
    let total = 0;
    const buckets = counts.map((count, index): MetricValue => {
      total += count;
      return { metricName, labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${this.#name}_sum`, labels, value: sum },
      { metricName: `${this.#name}_count`, labels, value: total },
    ];
  }
}

/** Name of the collections that have no series of their own. */
const otherCollection = '_other';

/** Counts the series that name a collection. */
export class CollectionSeries {
  readonly #max: number;
  readonly #onFull: () => void;
  #lines = 0;
  #isFull = false;

  /** `onFull` is called once, when the first collection gets no series of its own. */
  constructor(max: number, onFull: () => void) {
    this.#max = max;
    this.#onFull = onFull;
  }

  /** Name under which a child of so many lines is bound. */
  nameFor(collection: string, lines: number): string {
    if (this.#lines + lines <= this.#max) {
      this.#lines += lines;
      return collection;
    }
    if (!this.#isFull) this.#onFull();
    this.#isFull = true;
    return otherCollection;
  }
}
