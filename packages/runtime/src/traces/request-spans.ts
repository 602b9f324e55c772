/** Spans of requests, and the contexts that all other spans belong to. Source: operations notes, section 2. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Attributes, Context } from '@opentelemetry/api';
import { errorStatus } from '../errors.ts';
import {
  currentRecord,
  type PassRequest,
  type RequestRecord,
  readTraceparent,
  requestMethod,
  requestRecord,
  routePattern,
  statusOf,
} from '../operate/request-record.ts';
import type { OpenTelemetry } from './open-telemetry.ts';

export interface TraceParent {
  /** Context whose span is the parent of what begins here. */
  readonly context: Context;
  /** Time since 1970 of the zero of `performance.now()`, in milliseconds: the same for all spans of a request. */
  readonly origin: number;
}

/** Milliseconds in which work that goes on after the answer has spans: later it is that of the server, as a timer is. */
const lateMs = 10_000;

export class RequestSpans {
  readonly #telemetry: OpenTelemetry;
  readonly #parents = new WeakMap<RequestRecord, TraceParent & { until: number }>();
  readonly #collections = new Set<string>();

  constructor(telemetry: OpenTelemetry) {
    this.#telemetry = telemetry;
  }

  /** Names the collections of an API. Other names are texts of requests, which no span may hold. */
  addCollections(names: readonly string[]): void {
    for (const name of names) this.#collections.add(name);
  }

  /** Parent of what begins in the running code; undefined outside of requests, and in those that are not sampled. */
  parent(): TraceParent | undefined {
    const record = currentRecord();
    const parent = record && this.#parents.get(record);
    if (parent === undefined || performance.now() > parent.until) return undefined;
    // Spans of hooks, and those that code of the project makes, are nearer than that of the request.
    const { context, trace } = this.#telemetry.api;
    const active = context.active();
    return trace.getSpan(active) === undefined ? parent : { origin: parent.origin, context: active };
  }

  /** Begins the span of each request, within which the rest runs. */
  wrap(pass: PassRequest): PassRequest {
    const { api, tracer } = this.#telemetry;
    return (request, response) => {
      const { [requestRecord]: record } = request;
      if (record === undefined) return pass(request, response);
      const method = requestMethod(request);
      const origin = Date.now() - performance.now();
      const startTime = origin + record.startedAt;
      const options = {
        kind: api.SpanKind.SERVER,
        startTime,
        attributes: { 'http.request.method': method, 'url.scheme': 'http' },
      };
      const parent = this.#parentOf(request);
      const span = tracer.startSpan(method, options, parent);
      const context = api.trace.setSpan(parent, span);
      record.traceId = span.spanContext().traceId;
      if (span.isRecording()) this.#parents.set(record, { context, origin, until: Number.POSITIVE_INFINITY });
      api.context.with(context, pass, undefined, request, response);
    };
  }

  readonly end = (record: RequestRecord, response: ServerResponse<IncomingMessage>, ms: number): void => {
    const parent = this.#parents.get(record);
    const span = parent && this.#telemetry.api.trace.getSpan(parent.context);
    if (parent === undefined || span === undefined) return;
    const { req: request } = response;
    const route = routePattern(record, request);
    const { call, errors } = record;
    const attributes: Attributes = {};
    if (route !== undefined) {
      span.updateName(`${requestMethod(request)} ${route}`);
      attributes['http.route'] = route;
    }
    const status = statusOf(record, response);
    if (status !== undefined) attributes['http.response.status_code'] = status;
    if (call !== null) attributes['tablewright.class'] = call.caller.accessClass;
    const names = call?.item ? [call.item.collection] : record.collections;
    const [name, ...others] = names.filter((each) => this.#collections.has(each));
    if (name !== undefined) attributes['tablewright.collection'] = others.length === 0 ? name : [name, ...others];
    const [code] = errors ?? [];
    // A client that left before the answer has no status.
    const type = code ?? (status === undefined ? 'connection' : status >= 500 ? String(status) : undefined);
    if (type !== undefined) attributes['error.type'] = type;
    span.setAttributes(attributes);
    const isFailed = status === undefined || status >= 500 || (errors ?? []).some((error) => errorStatus(error) >= 500);
    if (isFailed) span.setStatus({ code: this.#telemetry.api.SpanStatusCode.ERROR });
    span.end(parent.origin + record.startedAt + ms);
    parent.until = record.startedAt + ms + lateMs;
  };

  /** A span that is there already, as one of an instrumentation of Node's servers; else that of the client. */
  #parentOf({ headers: { traceparent } }: IncomingMessage): Context {
    const { context, trace } = this.#telemetry.api;
    const active = context.active();
    if (trace.getSpan(active) !== undefined) return active;
    const remote = readTraceparent(traceparent);
    return remote === undefined ? active : trace.setSpanContext(active, { ...remote, isRemote: true });
  }
}
