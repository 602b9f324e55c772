/** A strict reader of the two texts of metrics: that of Prometheus and OpenMetrics. */
import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';

/** One line of a metric. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Metrics by name, those of counters with `_total`. */
export interface Metrics {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** Value of the one line with these labels, others apart; undefined where there is none. Sums up where there are several. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** Values that a label has. */
  labelValues(name: string, label: string): readonly string[];
}

const sampleForm = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const labelForm = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

/** Parses a text; fails the test where it breaks a rule of its form. */
export function parseMetrics(text: string, isOpen = false): Metrics {
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  expect(text.endsWith('\n')).toBe(true);
  const lines = text.slice(0, -1).split('\n');
  if (isOpen) expect(lines.pop()).toBe('# EOF');
  let [family, familyType] = ['', ''];
  for (const line of lines) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      expect(helped.has(name), line).toBe(false);
      helped.add(name);
    } else if (keyword === 'TYPE') {
      expect(types.has(totalName(name, rest, isOpen)), line).toBe(false);
      expect(['counter', 'gauge', 'histogram', 'summary'], line).toContain(rest);
      if (isOpen) expect(name.endsWith('_total') && rest === 'counter', line).toBe(false);
      types.set(totalName(name, rest, isOpen), rest);
      [family, familyType] = [name, rest];
    } else if (line !== '' || isOpen) {
      const sample = parseSample(line);
      expect(belongsTo(sample.name, family, familyType, isOpen), line).toBe(true);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      expect(seen.has(key), `twice: ${line}`).toBe(false);
      seen.add(key);
      samples.push(sample);
    }
  }
  const matching = (name: string, labels: Readonly<Record<string, string>>): readonly Sample[] =>
    samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
    );
  checkHistograms(types, samples);
  return {
    types,
    samples,
    value(name, labels = {}) {
      const found = matching(name, labels);
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
    labelValues: (name, label) => [...new Set(matching(name, {}).map(({ labels }) => labels[label] ?? ''))],
  };
}

function totalName(name: string, type: string, isOpen: boolean): string {
  return isOpen && type === 'counter' ? `${name}_total` : name;
}

function parseSample(line: string): Sample {
  const [, name = '', inner = '', number = ''] = sampleForm.exec(line) ?? [];
  expect(name, line).not.toBe('');
  const labels: Record<string, string> = {};
  labelForm.lastIndex = 0;
  for (let end = 0; end < inner.length; end = labelForm.lastIndex) {
    const [, label = '', text = ''] = labelForm.exec(inner) ?? [];
    expect(label, line).not.toBe('');
    expect(Object.hasOwn(labels, label), line).toBe(false);
    labels[label] = text.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));
  }
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  expect(number === 'NaN' || !Number.isNaN(value), line).toBe(true);
  return { name, labels, value };
}

function belongsTo(name: string, family: string, type: string, isOpen: boolean): boolean {
  if (type === 'gauge' || !name.startsWith(family)) return name === family;
  const end = name.slice(family.length);
  if (type === 'counter') return end === (isOpen ? '_total' : '');
  return ['_sum', '_count', ...(type === 'histogram' ? ['_bucket'] : [''])].includes(end);
}

/** Buckets grow with their bounds, the last one is infinite and equals the count. */
function checkHistograms(types: ReadonlyMap<string, string>, samples: readonly Sample[]): void {
  for (const [family, type] of types) {
    if (type !== 'histogram') continue;
    const children = Map.groupBy(
      samples.filter(({ name }) => name === `${family}_bucket`),
      ({ labels: { le: _, ...labels } }) => JSON.stringify(labels),
    );
    for (const [labels, buckets] of children) {
      const sorted = buckets.toSorted((a, b) => boundOf(a) - boundOf(b));
      for (const [index, { value }] of sorted.entries()) {
        expect(value, `${family} ${labels}`).toBeGreaterThanOrEqual(sorted[index - 1]?.value ?? 0);
      }
      const last = sorted.at(-1);
      expect(last?.labels.le).toBe('+Inf');
      const counted = samples.find(
        ({ name, labels: own }) => name === `${family}_count` && JSON.stringify(own) === labels,
      );
      expect(counted?.value).toBe(last?.value);
    }
  }
}

function boundOf({ labels: { le = '' } }: Sample): number {
  return le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
}

/** Lines of `promtool check metrics`; null where it is not installed. */
export function promtool(text: string): readonly string[] | null {
  const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text });
  if (error !== undefined) return null;
  // 3 are remarks about names; everything else is a text that cannot be read.
  expect([0, 3], String(stderr)).toContain(status);
  return `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
}
