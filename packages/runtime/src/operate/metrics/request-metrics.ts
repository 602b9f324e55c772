/** Metrics of requests. Their children are bound when a route, a class or a collection is first met. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorCode, errorCodes, errorStatus } from '../../errors.ts';
import { findOrCreate } from '../../language/values/once.ts';
import { type RequestRecord, requestMethod, routePattern, statusOf } from '../request-record.ts';
import {
  type CollectionSeries,
  Counter,
  type CounterChild,
  gauge,
  Histogram,
  type HistogramChild,
  linesOfHistogram,
  type MetricValues,
} from './measured.ts';

type RequestSurface = 'rest' | 'graphql' | 'pages';
type Outcome = 'ok' | 'refused' | 'limited' | 'failed';
type Counters = Readonly<Record<Outcome, CounterChild>>;

const itemMethods = { GET: 'list', HEAD: 'list', SEARCH: 'search', POST: 'create', PATCH: 'update', DELETE: 'delete' };
const keyMethods = { GET: 'read', HEAD: 'read', PATCH: 'update', DELETE: 'delete' };

/** Routes that people see. */
const pages = /^\/(?:$|(?:admin|docs)(?:\/|$))/;

interface RouteMetrics {
  readonly surface: RequestSurface;
  /** By method, then by status. */
  readonly durations: Map<string, HistogramChild[]>;
  readonly byClass: Map<string, Counters>;
}

/** Children of one collection by the method of a request: for many items, and for one. */
interface CollectionMetrics {
  readonly many: Map<string, HistogramChild>;
  readonly byKey: Map<string, HistogramChild>;
}

/** Counts and times requests. */
export class RequestMetrics {
  readonly #durations = new Histogram(
    'http_server_request_duration_seconds',
    'Time from the arrival of a request to the end of its answer.',
  );
  readonly #operations = new Histogram(
    'tablewright_collection_duration_seconds',
    'The same of requests for items, by collection.',
  );
  readonly #requests = new Counter('tablewright_requests_total', 'Requests by the access class of their caller.');
  readonly #errors = new Counter('tablewright_errors_total', 'Errors of answers by their code.');
  readonly #byRoute = new Map<string, RouteMetrics>();
  readonly #byCollection = new Map<string, CollectionMetrics>();
  readonly #byLabels = new Map<string, HistogramChild>();
  readonly #byClass = new Map<string, Counters>();
  readonly #byCode = new Map<ErrorCode, CounterChild>();
  readonly #series: CollectionSeries;
  #active = 0;

  constructor(series: CollectionSeries) {
    this.#series = series;
    for (const code of errorCodes) this.#byCode.set(code, this.#errors.child({ code }));
  }

  read(): readonly MetricValues[] {
    return [
      this.#durations.read(),
      gauge('http_server_active_requests', 'Requests under way.', [{ labels: {}, value: this.#active }]),
      this.#operations.read(),
      this.#requests.read(),
      this.#errors.read(),
    ];
  }

  /** Names the collections of an API. Other names are texts of requests, which no label may hold. */
  addCollections(names: readonly string[]): void {
    for (const name of names) {
      findOrCreate(this.#byCollection, name, () => ({ many: new Map(), byKey: new Map() }));
    }
  }

  /** Counts a request that has arrived. */
  begin(): void {
    this.#active++;
  }

  /** Counts a request that was answered, or whose client has left. */
  readonly end = (record: RequestRecord, response: ServerResponse<IncomingMessage>, ms: number): void => {
    this.#active--;
    const { req: request } = response;
    const { call, errors } = record;
    const seconds = ms / 1000;
    // A client that left before the answer has no status.
    const status = statusOf(record, response) ?? 0;
    const route = routePattern(record, request) ?? '';
    const metrics = findOrCreate(this.#byRoute, route, newRoute);
    const { method = '' } = request;
    this.#duration(metrics, route, method, status).observe(seconds);
    this.#counters(metrics, call?.caller.accessClass ?? '')[outcomeOf(status, errors)].value++;
    if (call?.item) this.#operation(call.item, method)?.observe(seconds);
    if (errors !== null) for (const code of errors) this.#countError(code);
  };

  #countError(code: ErrorCode): void {
    const counter = this.#byCode.get(code);
    if (counter !== undefined) counter.value++;
  }

  #duration({ durations }: RouteMetrics, route: string, sent: string, status: number): HistogramChild {
    // Only methods that are known have children of their own.
    const bound = durations.get(sent)?.[status];
    if (bound !== undefined) return bound;
    const method = requestMethod({ method: sent });
    const byStatus = findOrCreate(durations, method, (): HistogramChild[] => []);
    const child =
      byStatus[status] ??
      this.#durations.child({
        http_request_method: method,
        http_route: route,
        http_response_status_code: status === 0 ? '' : status,
      });
    byStatus[status] = child;
    return child;
  }

  #operation({ collection, key }: { readonly collection: string; readonly key: string | null }, method: string) {
    const bound = this.#byCollection.get(collection);
    if (bound === undefined) return undefined;
    const children = key === null ? bound.many : bound.byKey;
    return (
      children.get(method) ?? this.#bindOperation(children, collection, key === null ? itemMethods : keyMethods, method)
    );
  }

  #bindOperation(
    children: Map<string, HistogramChild>,
    collection: string,
    operations: Readonly<Record<string, string>>,
    method: string,
  ): HistogramChild | undefined {
    const operation = Object.hasOwn(operations, method) ? operations[method] : undefined;
    if (operation === undefined) return undefined;
    const cached = this.#byLabels.get(`${operation} ${collection}`);
    // Collections beyond the bound share a child.
    const label = cached === undefined ? this.#series.nameFor(collection, linesOfHistogram) : collection;
    const child = findOrCreate(this.#byLabels, `${operation} ${label}`, () =>
      this.#operations.child({ collection: label, operation }),
    );
    children.set(method, child);
    return child;
  }

  #counters({ byClass, surface }: RouteMetrics, name: string): Counters {
    const bound = byClass.get(name);
    if (bound !== undefined) return bound;
    const bind = (outcome: Outcome) => this.#requests.child({ class: name, surface, outcome });
    const counters = findOrCreate(this.#byClass, `${surface} ${name}`, () => ({
      ok: bind('ok'),
      refused: bind('refused'),
      limited: bind('limited'),
      failed: bind('failed'),
    }));
    byClass.set(name, counters);
    return counters;
  }
}

function newRoute(route: string): RouteMetrics {
  const surface = pages.test(route) ? 'pages' : 'rest';
  return { surface: route.startsWith('/graphql') ? 'graphql' : surface, durations: new Map(), byClass: new Map() };
}

/**
 * Answers of GraphQL have the status 200 with errors in them. A client that left has no status: people who type on cancel
 * what they asked for, and a server that hangs shows in its times.
 */
function outcomeOf(status: number, errors: readonly ErrorCode[] | null): Outcome {
  if (status >= 500) return 'failed';
  if (status === 429) return 'limited';
  if (status >= 400 || status === 0) return 'refused';
  if (errors === null) return 'ok';
  return errors.some((code) => errorStatus(code) >= 500) ? 'failed' : 'refused';
}
