import * as api from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Parameter, Statement } from '../../packages/runtime/src/database/database.ts';
import { ServerError, toDatabaseError } from '../../packages/runtime/src/database/errors.ts';
import { StatementRun } from '../../packages/runtime/src/database/statement-run.ts';
import { StatementSpans } from '../../packages/runtime/src/traces/inner-spans.ts';
import { loadProvider } from '../../packages/runtime/src/traces/open-telemetry.ts';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer('test');
const telemetry = { api, tracer, flush: async () => {} };
const read: Statement = {
  name: 'r',
  text: 'SELECT t0."id" FROM "public"."docs" t0 WHERE t0."id" = $1',
  tables: ['"public"."docs"'],
};
const row = Buffer.alloc(4);
let parents: api.Span[] = [];
beforeEach(() => {
  exporter.reset();
  parents = [];
});

/** Spans of statements that belong to a new request each. */
function createSpans(): StatementSpans {
  const parent = () => {
    const span = tracer.startSpan('request');
    parents.push(span);
    return { context: api.trace.setSpan(api.ROOT_CONTEXT, span), origin: performance.timeOrigin };
  };
  return new StatementSpans(telemetry, { parent }, 'postgresql');
}

function begin(spans: StatementSpans, statement = read, parameters: readonly Parameter[] = []): StatementRun {
  const run = new StatementRun(statement, parameters, { row: () => {} });
  spans.begin(run);
  return run;
}

const written = () =>
  exporter.getFinishedSpans().map(({ name, attributes, links, status }) => ({ name, attributes, links, status }));

describe('a statement that serves several', () => {
  it('has one span, which is linked to each', () => {
    const spans = createSpans();
    const runs = [begin(spans), begin(spans), begin(spans)];
    const ended = runs[0]?.shared?.({ ...read, text: 'SELECT 1 = ANY ($1)' }, runs);
    for (const run of runs) run.row(row, 0, 4);
    for (const run of runs) spans.end(run, '');
    ended?.();
    const [shared, ...others] = written();
    expect(others).toEqual([]);
    expect(shared?.links.map(({ context }) => context)).toEqual(parents.map((span) => span.spanContext()));
    expect(shared?.attributes).toMatchObject({
      'db.response.returned_rows': 3,
      'db.query.text': 'SELECT 1 = ANY ($1)',
    });
  });

  it('and fails has one span with an error; each that runs alone has its own, and who gets that error has none', () => {
    const spans = createSpans();
    const runs = [begin(spans), begin(spans)];
    const [alone, refused] = runs;
    const ended = alone?.shared?.(read, runs);
    const error = toDatabaseError(new ServerError(new Map(Object.entries({ C: '22012', M: 'division of a-value' }))));
    ended?.({ error });
    if (refused !== undefined) spans.end(refused, '22012', error);
    alone?.row(row, 0, 4);
    if (alone !== undefined) spans.end(alone, '');
    expect(
      written().map(({ attributes, links, status }) => [attributes['error.type'], links.length, status.code]),
    ).toEqual([
      ['22012', 2, api.SpanStatusCode.ERROR],
      [undefined, 0, api.SpanStatusCode.UNSET],
    ]);
    expect(JSON.stringify(written())).not.toContain('a-value');
  });
});

it('a long text ends between two characters, after 8 kB at most', () => {
  const spans = createSpans();
  spans.end(begin(spans, { ...read, text: `SELECT '${'é'.repeat(9_000)}'` }, ['a-value']), '');
  const text = String(written()[0]?.attributes['db.query.text']);
  expect(Buffer.byteLength(text)).toBe(8_192);
  expect(text.endsWith('é')).toBe(true);
  expect(JSON.stringify(written())).not.toContain('a-value');
});

it('the text is that which was sent', () => {
  const spans = createSpans();
  const run = begin(spans);
  run.sent(performance.now(), 'SELECT another');
  spans.end(run, '');
  expect(written()[0]?.attributes['db.query.text']).toBe('SELECT another');
});

it('rows are told only where they are those of the table', () => {
  const spans = createSpans();
  for (const text of ['UPDATE docs SET id = 1', 'UPDATE docs SET id = 1 RETURNING id', 'SELECT 1']) {
    const run = begin(spans, { name: 'w', text });
    run.row(row, 0, 4);
    spans.end(run, '');
  }
  expect(written().map(({ attributes }) => attributes['db.response.returned_rows'])).toEqual([undefined, 1, 1]);
});

it('the package without a provider is as if it were not there', async () => {
  expect(await loadProvider(null)).toBeNull();
  // The API has registered something, but no provider of spans.
  api.diag.setLogger(new api.DiagConsoleLogger(), api.DiagLogLevel.NONE);
  expect(await loadProvider(null)).toBeNull();
  api.trace.setGlobalTracerProvider(provider);
  expect(await loadProvider(null)).toMatchObject({ tracer: expect.anything() });
  api.trace.disable();
  api.diag.disable();
  expect(await loadProvider(null)).toBeNull();
});
