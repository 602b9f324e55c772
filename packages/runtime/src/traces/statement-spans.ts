/** Spans of statements, with their texts and without their values. Source: operations notes, section 2. */
import type { Attributes, Link } from '@opentelemetry/api';
import type { RowSink, SharedEnd, Statement } from '../database/database.ts';
import { errorTypeOf, type StatementTracer } from '../database/observed.ts';
import type { StatementRun } from '../database/statement-run.ts';
import { operationName, tableName } from '../operate/metrics/statement-metrics.ts';
import type { OpenTelemetry } from './open-telemetry.ts';
import type { RequestSpans, TraceParent } from './request-spans.ts';

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
  /** When it was left alone by a statement that failed. */
  aloneSince: number;
  /** Error of that statement. */
  refusal: unknown;
}

/** A span of which all is known. */
interface ClosedSpan {
  readonly parent: TraceParent;
  readonly startedAt: number;
  readonly rows: number;
  readonly errorType: string;
  readonly links?: Link[];
  readonly text?: string | undefined;
}

/** Writes the spans of the statements of requests. */
export class StatementSpans implements StatementTracer {
  readonly #telemetry: OpenTelemetry;
  readonly #requests: Pick<RequestSpans, 'parent'>;
  readonly #system: string;
  readonly #facts = new WeakMap<Statement, StatementFacts>();
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

  /** Writes a span that ends now. */
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

  #factsOf(statement: Statement): StatementFacts {
    const cached = this.#facts.get(statement);
    if (cached !== undefined) return cached;
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
    const facts = { summary, attributes, hasRows };
    this.#facts.set(statement, facts);
    return facts;
  }
}

/** A text of that many bytes at most, which ends between two characters. */
function shortened(text: string): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
