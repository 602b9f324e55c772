/** Spans of plans, by the look-ups in their caches, and of hooks. Source: operations notes, section 2. */

import type { Attributes, Link } from '@opentelemetry/api';
import type { RowSink, SharedEnd, Statement } from '../database/database.ts';
import { errorTypeOf, type StatementTracer } from '../database/observed.ts';
import type { StatementRun } from '../database/statement-run.ts';
import type { RegisteredHook } from '../language/index.ts';
import type { BoundedCache, CacheName, CreateCache } from '../language/values/bounded-cache.ts';
import { derivedOnce } from '../language/values/once.ts';
import { operationName, tableName } from '../operate/metrics/statement-metrics.ts';
import { currentRecord, type RequestRecord } from '../operate/request-record.ts';
import type { OpenTelemetry } from './open-telemetry.ts';
import type { RequestSpans, TraceParent } from './request-spans.ts';

/** Caches by the text of a request; what is not found there is looked up by its form in one of the others. */
const byText: ReadonlySet<CacheName> = new Set(['read_templates', 'graphql']);

/** Beginning of a plan. */
interface Begun {
  readonly record: RequestRecord | undefined;
  readonly startedAt: number;
}

/** Makes caches whose look-ups have a span: it ends when the plan was found, or made. Planning never waits. */
export function tracePlans(
  createCache: CreateCache,
  { api, tracer }: OpenTelemetry,
  requests: Pick<RequestSpans, 'parent'>,
): CreateCache {
  let begun: Begun | undefined;

  function write(cache: CacheName, result: 'hit' | 'miss', startedAt: number): void {
    const parent = requests.parent();
    if (parent === undefined) return;
    const attributes = { 'tablewright.plan.cache': cache, 'tablewright.plan.result': result };
    const startTime = parent.origin + startedAt;
    const span = tracer.startSpan('plan', { startTime, kind: api.SpanKind.INTERNAL, attributes }, parent.context);
    span.end(parent.origin + performance.now());
  }

  /** Time when the running request began to plan: by its text, where it was not found by that. */
  function beginning(now: number): number {
    const since = begun?.record === currentRecord() ? begun?.startedAt : undefined;
    begun = undefined;
    return since ?? now;
  }

  return <Value>(name: CacheName | null): BoundedCache<Value> => {
    const cache = createCache<Value>(name);
    if (name === null) return cache;
    let missed: { readonly key: string; readonly startedAt: number } | undefined;
    return {
      get(key) {
        const now = performance.now();
        const found = cache.get(key);
        if (byText.has(name)) {
          begun = { record: currentRecord(), startedAt: now };
          if (found !== undefined) write(name, 'hit', now);
          return found;
        }
        const startedAt = beginning(now);
        if (found === undefined) missed = { key, startedAt };
        else write(name, 'hit', startedAt);
        return found;
      },
      set(key, value) {
        cache.set(key, value);
        if (missed?.key === key) write(name, 'miss', missed.startedAt);
        missed = undefined;
      },
    };
  };
}

/** Makes the function that gives a hook a span for each run; what the hook does is below it. */
export function traceHooks(
  { api, tracer }: OpenTelemetry,
  requests: Pick<RequestSpans, 'parent'>,
): (hook: RegisteredHook) => RegisteredHook {
  return (hook) => ({
    ...hook,
    run(event) {
      const parent = requests.parent();
      if (parent === undefined) return hook.run(event);
      const options = {
        kind: api.SpanKind.INTERNAL,
        startTime: parent.origin + performance.now(),
        attributes: { 'tablewright.hook.stage': hook.stage, 'tablewright.hook.event': hook.event },
      };
      const span = tracer.startSpan(`hook ${hook.stage} ${hook.event}`, options, parent.context);
      const ended = (): void => span.end(parent.origin + performance.now());
      const failed = (error: unknown): void => {
        span.setAttribute('error.type', errorTypeOf(error));
        // Texts of errors may quote values.
        span.setStatus({ code: api.SpanStatusCode.ERROR });
        ended();
      };
      try {
        const running = api.context.with(api.trace.setSpan(parent.context, span), () => hook.run(event));
        if (running instanceof Promise) running.then(ended, failed);
        else ended();
        return running;
      } catch (error) {
        failed(error);
        throw error;
      }
    },
  });
}

/** Bytes of a statement's text at most. */
const maxBytes = 8_192;

/** Name of a statement's spans, and what all of them have. */
interface StatementFacts {
  readonly summary: string;
  readonly attributes: Attributes;
  /** False where the row of an answer may only tell how many were written. */
  readonly hasRows: boolean;
}

/** A run of a request, until its span is written. */
interface OpenSpan {
  readonly run: StatementRun;
  readonly parent: TraceParent;
  /** True while another statement serves it, whose span is another one. */
  isShared: boolean;
  /** Time when a statement that failed left it alone. */
  aloneSince: number;
  /** Error of that statement. */
  refusal: unknown;
}

interface ClosedSpan {
  readonly parent: TraceParent;
  readonly startedAt: number;
  readonly rows: number;
  readonly errorType: string;
  readonly links?: Link[];
  readonly text?: string | undefined;
}

export class StatementSpans implements StatementTracer {
  readonly #telemetry: OpenTelemetry;
  readonly #requests: Pick<RequestSpans, 'parent'>;
  readonly #system: string;
  readonly #open = new WeakMap<RowSink, OpenSpan>();

  /** `system` is the name that OpenTelemetry has for the database. */
  constructor(telemetry: OpenTelemetry, requests: Pick<RequestSpans, 'parent'>, system: string) {
    this.#telemetry = telemetry;
    this.#requests = requests;
    this.#system = system;
  }

  begin(run: StatementRun): void {
    const parent = this.#requests.parent();
    if (parent === undefined) return;
    run.shared = this.#share;
    this.#open.set(run, { run, parent, isShared: false, aloneSince: 0, refusal: undefined });
  }

  end(run: StatementRun, errorType: string, error?: unknown): void {
    const span = this.#open.get(run);
    if (span === undefined || span.isShared || (error !== undefined && error === span.refusal)) return;
    const startedAt = Math.max(run.startedAt, span.aloneSince);
    const { rows, otherText: text } = run;
    this.#write(run.statement, { parent: span.parent, startedAt, rows, errorType, text });
  }

  /**
   * Begins the span of a statement that serves several runs; it is linked to the request of each. The result ends it. After
   * an error each is served alone, or gets that error.
   */
  readonly #share = (statement: Statement, sinks: readonly RowSink[]): SharedEnd => {
    const spans = sinks.flatMap((sink) => this.#open.get(sink) ?? []);
    const { trace } = this.#telemetry.api;
    const links = spans.flatMap(({ parent: { context } }) => {
      const linked = trace.getSpanContext(context);
      return linked === undefined ? [] : { context: linked };
    });
    const startedAt = performance.now();
    for (const span of spans) span.isShared = true;
    return (failure) => {
      const [first] = spans;
      if (first === undefined) return;
      const rows = spans.reduce((sum, { run }) => sum + run.rows, 0);
      const errorType = failure === undefined ? '' : errorTypeOf(failure.error);
      this.#write(statement, { parent: first.parent, startedAt, rows, errorType, links });
      if (failure === undefined) return;
      const aloneSince = performance.now();
      for (const span of spans) Object.assign(span, { isShared: false, aloneSince, refusal: failure.error });
    };
  };

  #write(statement: Statement, { parent, startedAt, rows, errorType, links = [], text }: ClosedSpan): void {
    const { api, tracer } = this.#telemetry;
    const facts = this.#factsOf(statement);
    const attributes: Attributes = { ...facts.attributes };
    if (text !== undefined) attributes['db.query.text'] = shortened(text);
    if (errorType !== '') attributes['error.type'] = errorType;
    else if (facts.hasRows) attributes['db.response.returned_rows'] = rows;
    const startTime = parent.origin + startedAt;
    const options = { kind: api.SpanKind.CLIENT, startTime, attributes, links };
    const span = tracer.startSpan(facts.summary, options, parent.context);
    // Texts of errors may quote values.
    if (errorType !== '') span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end(parent.origin + performance.now());
  }

  readonly #factsOf = derivedOnce((statement: Statement): StatementFacts => {
    const { text } = statement;
    const operation = operationName(text);
    const table = tableName(statement);
    const summary = table === '' ? operation : `${operation} ${table}`;
    const attributes: Attributes = {
      'db.system.name': this.#system,
      'db.operation.name': operation,
      'db.query.summary': summary,
      'db.query.text': shortened(text),
    };
    if (table !== '') attributes['db.collection.name'] = table;
    const hasRows = operation === 'SELECT' || /\bRETURNING\b/.test(text);
    return { summary, attributes, hasRows };
  });
}

/** A text of that many bytes at most, which ends between two characters. */
function shortened(text: string): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
