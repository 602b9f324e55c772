/** The dashboard and the alerts against what a server answers at /metrics, Grafana's own types and Prometheus' own tool. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { dashboardMistakes, grafanaFile, namesInQuery, type Panel } from '../support/grafana.ts';
import { type Metrics, parseMetrics } from '../support/metrics-text.ts';
import { administrator, createProject, type Platform, runPlatform, startUnchecked } from '../support/platform.ts';
import { installSystem } from '../support/system.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

const noPromtool = spawnSync('promtool', ['--version']).error !== undefined;
const withoutPromtool = noPromtool ? ' (skipped: promtool is not installed: apt-get install prometheus)' : '';

const dashboard: Dashboard = JSON.parse(grafanaFile('tablewright.json'));
const rules: readonly Rule[] = parse(grafanaFile('alerts.yaml')).groups.flatMap(
  ({ rules }: { readonly rules: readonly Rule[] }) => rules,
);

let database: TestDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
let server: Platform;
let metrics: Metrics;
beforeAll(async () => {
  database = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY)');
  await installSystem(database.url);
  project = await createProject();
  writeFileSync(join(project.folder, 'permissions.yaml'), 'permissions: { public: { docs: { read: true } } }\n');
  // The first process compiles; the others count.
  const args = ['--generate', '--workers', '2'];
  server = await startUnchecked(project.folder, database.url, { METRICS_PORT: '0' }, args);
  const url = /"metrics":"([^"]*)"/.exec(server.log())?.[1] ?? '';
  await server.ask('/items/docs?limit=1');
  await server.ask('/items/docs/1');
  await server.ask('/auth/login', { method: 'POST', body: administrator });
  // Mails are counted beside the first answer.
  do metrics = parseMetrics(await (await fetch(`${url}/metrics`)).text());
  while (metrics.value('tablewright_mails_waiting') === undefined);
});
afterAll(async () => {
  await server?.stop();
  await project?.remove();
  await database?.drop();
});

/** Names that Prometheus adds to every series, and a series that it makes of every server. */
const added = ['job', 'instance', 'up'];

/** Names of a query that the server does not know. */
function unknownIn(query: string): readonly string[] {
  const { selectors, groups } = namesInQuery(query);
  expect(selectors.length, query).toBeGreaterThan(0);
  const known = new Set([...added, ...selectors.flatMap(({ metric }) => labelsOf(metric))]);
  return [
    ...selectors.flatMap(({ metric, labels }) => {
      if (metric === 'up') return labels.filter(({ name }) => !added.includes(name)).map(({ name }) => name);
      if (!metrics.samples.some(({ name }) => name === metric)) return [metric];
      return labels.flatMap(({ name, values }) => {
        if (added.includes(name)) return [];
        if (!labelsOf(metric).includes(name)) return [`${metric}{${name}}`];
        // Failures of the database have not happened here.
        const present = name === 'error_type' ? values : metrics.labelValues(metric, name);
        return values.filter((value) => !present.includes(value)).map((value) => `${metric}{${name}="${value}"}`);
      });
    }),
    ...groups.filter((label) => !known.has(label)),
  ];
}

function labelsOf(metric: string): readonly string[] {
  return Object.keys(metrics.samples.find(({ name }) => name === metric)?.labels ?? {});
}

/** Labels that a text takes from the result of a query. */
function unknownLabels(text: string, query: string): readonly string[] {
  const { selectors, groups } = namesInQuery(query);
  const known = groups.length > 0 ? groups : [...added, ...selectors.flatMap(({ metric }) => labelsOf(metric))];
  const used = [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label);
  return used.filter((label) => !known.includes(label));
}

const queries = dashboard.panels.flatMap(({ targets = [] }) => targets);

it('every metric, label and value that the dashboard names is there', () => {
  expect(queries.length).toBeGreaterThan(30);
  expect(queries.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
  expect(queries.flatMap(({ expr, legendFormat }) => unknownLabels(legendFormat, expr))).toEqual([]);
  expect(dashboard.annotations.list.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
  const variables = dashboard.templating.list.flatMap(({ query }) => (typeof query === 'string' ? [] : query.query));
  const asked = variables.map((query) => /^label_values\((.*), (\w+)\)$/.exec(query) ?? []);
  expect(asked.flatMap(([, query = '', label = '']) => [...unknownIn(query), label])).toEqual(['job', 'instance']);
});

it('every metric, label and value that the alerts name is there', () => {
  expect(rules.length).toBeGreaterThan(10);
  expect(rules.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
  expect(rules.flatMap(({ expr, annotations }) => unknownLabels(annotations.summary ?? '', expr))).toEqual([]);
});

it('every alert names a page of the documentation', () => {
  const pages = rules.map(({ annotations }) => annotations.runbook?.replace('node_modules/tablewright/', '') ?? '');
  expect(pages.filter((page) => !existsSync(join(import.meta.dirname, '../..', page)) || page === '')).toEqual([]);
});

it('a name that no server has is found', () => {
  expect(unknownIn('sum by (class, colour) (rate(tablewright_requests_total{outcome="fine",shape!=""}[5m]))')).toEqual([
    'tablewright_requests_total{outcome="fine"}',
    'tablewright_requests_total{shape}',
    'colour',
  ]);
  expect(unknownIn('rate(tablewright_request_total[5m]) > 0 or db_client_connection_max{job="a"}')).toEqual([
    'tablewright_request_total',
  ]);
  expect(unknownLabels('{{colour}} {{outcome}}', 'sum by (outcome) (tablewright_requests_total)')).toEqual(['colour']);
});

it('docs/metrics.md has every metric with its type and labels, and no other', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` +\| (counter|gauge|histogram) +\| (.*?) *\|$/gm)];
  const told = rows.map(([, name = '', type = '', labels = '']) => {
    const names = [...labels.replaceAll(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, label]) => label);
    return [name, type, names.sort()];
  });
  const present = [...metrics.types].filter(([name]) => !/^(?:nodejs|process)_/.test(name));
  const answered = present.map(([name, type]) => {
    const sample = metrics.samples.find((one) => one.name.replace(/_(?:bucket|sum|count)$/, '') === name);
    const own = metrics.samples.find((one) => one.name === name) ?? sample;
    return [
      name,
      type,
      Object.keys(own?.labels ?? {})
        .filter((label) => label !== 'le')
        .sort(),
    ];
  });
  const byName = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);
  expect(answered.toSorted(byName)).toEqual(told.toSorted(byName));
});

it('`platform init --deploy grafana` writes both files', async () => {
  const { folder } = project;
  const { code } = await runPlatform(['init', '--yes', '--deploy', 'grafana', '--project', folder], {
    DATABASE_URL: database.url,
  });
  expect(code).toBe(0);
  for (const name of ['tablewright.json', 'alerts.yaml']) {
    expect(readFileSync(join(folder, 'grafana', name), 'utf8')).toBe(grafanaFile(name));
  }
});

describe('the dashboard', () => {
  it('has the types of Grafana’s own library, which would find a mistake', () => {
    const text = grafanaFile('tablewright.json');
    expect(dashboardMistakes(text)).toEqual([]);
    const wrong = text
      .replace('"gridPos"', '"gridPosition"')
      .replace('"lastNotNull"', '7')
      .replace('"absolute"', '"absolutely"')
      .replace('"legendFormat"', '"legend"')
      .replace('"type": "timeseries"', '"type": "timeserie"');
    const found = dashboardMistakes(wrong).join('\n');
    for (const part of ['gridPosition', "'number'", '"absolutely"', '"legend"', 'timeserie.'])
      expect(found).toContain(part);
  });

  it('has panels that lie side by side, each with a number and a description of its own', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
    const silent = panels.filter((panel) => panel.type !== 'row' && !('description' in panel));
    expect(silent.map(({ title }) => title)).toEqual([]);
  });
});

describe.skipIf(noPromtool)(`promtool${withoutPromtool}`, () => {
  const path = join(import.meta.dirname, '../../templates/deploy/grafana/alerts.yaml');

  it('reads the alerts, and the queries of the dashboard', () => {
    const checked = (file: string) => execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    expect(checked(path)).toContain(`SUCCESS: ${rules.length} rules found`);
    const folder = mkdtempSync(join(tmpdir(), 'platform-queries-'));
    try {
      const text = (expr: string): string => expr.replaceAll('$__rate_interval', '1m');
      const recorded = queries.map(({ expr }, index) => ({ record: `query_${index}`, expr: text(expr) }));
      writeFileSync(join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'panels', rules: recorded }] }));
      expect(checked(join(folder, 'rules.json'))).toContain(`SUCCESS: ${queries.length} rules found`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('sees failures and a full disk raise their alerts, and refusals raise none', () => {
    const folder = mkdtempSync(join(tmpdir(), 'platform-alerts-'));
    const requests = (outcome: string, values: string) => ({
      series: `tablewright_requests_total{job="tablewright",instance="a:1",class="public",surface="rest",outcome="${outcome}"}`,
      values,
    });
    const failures = (errorType: string, values: string) => ({
      series: `db_client_operation_duration_seconds_count{job="tablewright",db_operation_name="INSERT",error_type="${errorType}"}`,
      values,
    });
    const alert = (alertname: string, evalTime: string, found: object[]) => ({
      ...{ alertname, eval_time: evalTime },
      exp_alerts: found.map((one) => ({ exp_annotations: annotationsOf(alertname), ...one })),
    });
    const labels = { severity: 'critical', job: 'tablewright' };
    const tests = [
      {
        interval: '1m',
        input_series: [requests('ok', '0+98x30'), requests('failed', '0x10 2+2x20'), failures('53100', '0x10 1x20')],
        alert_rule_test: [
          alert('TablewrightRequestsFail', '10m', []),
          alert('TablewrightRequestsFail', '25m', [
            { exp_labels: labels, exp_annotations: annotationsOf('TablewrightRequestsFail', '2%') },
          ]),
          alert('TablewrightDiskFull', '9m', []),
          alert('TablewrightDiskFull', '12m', [
            {
              exp_labels: { ...labels, error_type: '53100' },
              exp_annotations: annotationsOf('TablewrightDiskFull', '', '53100'),
            },
          ]),
          alert('TablewrightDatabaseLost', '25m', []),
        ],
      },
      {
        interval: '1m',
        input_series: [requests('ok', '0+50x30'), requests('refused', '0+50x30'), failures('23505', '0+50x30')],
        alert_rule_test: ['TablewrightRequestsFail', 'TablewrightDiskFull', 'TablewrightDatabaseLost'].map((name) =>
          alert(name, '30m', []),
        ),
      },
      {
        // The one failure of a server, which has no such series before.
        interval: '1m',
        input_series: [failures('53100', '_x10 1x30')],
        alert_rule_test: [
          alert('TablewrightDiskFull', '12m', [
            {
              exp_labels: { ...labels, error_type: '53100' },
              exp_annotations: annotationsOf('TablewrightDiskFull', '', '53100'),
            },
          ]),
          alert('TablewrightDiskFull', '25m', []),
        ],
      },
    ];
    try {
      writeFileSync(join(folder, 'tests.json'), JSON.stringify({ rule_files: [path], tests }));
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', join(folder, 'tests.json')]);
      expect([status, String(stdout) + String(stderr)]).toEqual([0, expect.stringContaining('SUCCESS')]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Annotations as Prometheus fills them in. */
function annotationsOf(name: string, value = '', errorType = ''): Readonly<Record<string, string>> {
  const annotations = rules.find(({ alert }) => alert === name)?.annotations ?? {};
  const filled = Object.entries(annotations).map(([key, text]) => [
    key,
    text.replaceAll('{{ $labels.error_type }}', errorType).replaceAll(/\{\{ \$value[^}]*\}\}/g, value),
  ]);
  return Object.fromEntries(filled);
}
