/** Text of metrics, which prom-client adds up and prints. It is loaded when metrics are first asked for. */
import type { Registry, RegistryContentType } from 'prom-client';
import type { MetricValue, MetricValues } from './measured.ts';

/** True for an `Accept` that asks for OpenMetrics, as Prometheus sends it. */
export function acceptsOpenMetrics(accept = ''): boolean {
  return /(?:^|,)\s*application\/openmetrics-text\b/i.test(accept);
}

/** Adds up the metrics of some processes and prints them. */
export async function printMetrics(processes: readonly (readonly MetricValues[])[], isOpen: boolean) {
  const { default: client } = await import('prom-client');
  const type = isOpen ? client.openMetricsContentType : client.prometheusContentType;
  const prepared = processes.map((metrics) => metrics.map((metric) => (isOpen ? openMetric(metric) : metric)));
  const registry: Pick<
    Registry<RegistryContentType>,
    'setContentType' | 'metrics'
  > = client.AggregatorRegistry.aggregate(prepared);
  registry.setContentType(type);
  return { type, text: await registry.metrics() };
}

/** OpenMetrics names counters without `_total`, which prom-client appends to their lines; bounds of it have a point. */
function openMetric(metric: MetricValues): MetricValues {
  if (metric.type === 'counter') return { ...metric, name: metric.name.replace(/_total$/, '') };
  if (metric.type !== 'histogram') return metric;
  const values = metric.values.map((value) => {
    const { le } = value.labels;
    return typeof le === 'number' && Number.isInteger(le)
      ? { ...value, labels: { ...value.labels, le: le.toFixed(1) } }
      : value;
  });
  return { ...metric, values };
}

/** Begins to measure the process itself, as every dashboard of Node knows it; the result reads the values. */
export async function measureProcess(): Promise<() => Promise<readonly MetricValues[]>> {
  const { default: client } = await import('prom-client');
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  return async function readProcess() {
    const metrics = await registry.getMetricsAsJSON();
    return metrics.map(({ name, help, type, aggregator, values }) => ({
      name,
      help,
      type: String(type),
      aggregator: aggregatorOf(String(aggregator)),
      values: values.map(finite),
    }));
  };
}

/**
 * The library would leave out the start of several processes. It would take the average of delays, which hides the one
 * process that is late, so the greatest is told.
 */
function aggregatorOf(aggregator: string): string {
  if (aggregator === 'omit') return 'min';
  return aggregator === 'average' ? 'max' : aggregator;
}

/** Messages between processes hold no NaN, which the library gives where nothing was measured yet. */
function finite(value: MetricValue): MetricValue {
  return Number.isFinite(value.value) ? value : { ...value, value: 0 };
}
