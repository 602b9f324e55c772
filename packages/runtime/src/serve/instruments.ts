/** Metrics of one process: parts of a server are wrapped to be counted. Source: operations notes, section 1. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Accounts } from '../auth/accounts.ts';
import type { Credentials } from '../auth/sign-in.ts';
import type { SingleSignOn } from '../auth/sso/single-sign-on.ts';
import type { Database } from '../database/database.ts';
import { observeDatabase, type StatementObservers } from '../database/observed.ts';
import { sqlDialects } from '../dialects/index.ts';
import type { Environment } from '../environment.ts';
import { toPlatformError } from '../errors.ts';
import type { Generations } from '../generations/generations.ts';
import type { Listener, ListenerOptions } from '../http/fastify-adapter.ts';
import type { PartObservers } from '../http/server.ts';
import type { CompiledApi, Dialect } from '../language/index.ts';
import type { CreateCache } from '../language/values/bounded-cache.ts';
import { type Log, logsInfo } from '../operate/log.ts';
import { CollectionSeries, Counter, type CounterChild, type MetricValues } from '../operate/metrics/measured.ts';
import { PoolMetrics, type PoolObserver, unobserved } from '../operate/metrics/pool-metrics.ts';
import { measureProcess } from '../operate/metrics/print.ts';
import { RequestMetrics } from '../operate/metrics/request-metrics.ts';
import { StatementMetrics } from '../operate/metrics/statement-metrics.ts';
import { requestRecord } from '../operate/request-record.ts';
import { systemPlaceOf } from '../system/place.ts';
import { answerMetrics, listenForMetrics, type MetricsListener, type Watched } from './metrics-listener.ts';
import { CacheMetrics, VersionMetrics, WaitingMetrics } from './state-metrics.ts';

/** Gathers the metrics of all processes that serve together. */
export type GatherMetrics = Watched['gather'];

/** Wraps parts of a server so that they are counted. */
export interface Instruments {
  readonly listener: ListenerOptions;
  /** Hears of requests that waited for a connection. */
  readonly pool: PoolObserver;
  database(database: Database, dialect: Dialect, others: Omit<StatementObservers, 'meter'>): Database;
  /** Observers of what serves an API from now on. */
  serves(api: CompiledApi): Partial<PartObservers> & { readonly createCache?: CreateCache };
  generations(generations: Generations): Generations;
  /** Begins to measure the process, and listens. */
  open(parts: OpenParts): Promise<void>;
  /** Address of the second listener; null where there is none. */
  url(): string | null;
  read(): Promise<readonly MetricValues[]>;
  close(): void;
  /** Exports what was not exported yet, in so many milliseconds at most. */
  flush(ms: number): Promise<void>;
}

/** Parts of a server that are there when it begins to listen. */
interface OpenParts extends Pick<Watched, 'ready'> {
  readonly listener: Listener;
  readonly database: Pick<Database, 'query'>;
  readonly api: CompiledApi;
}

/** Makes the instruments that an environment asks for. With `gather`, another process listens for all. */
export function createInstruments(environment: Environment, gather: GatherMetrics | null): Instruments {
  const { port, token } = environment.operate.metrics;
  return port === null && token === null ? createUncounted(environment) : createCounted(environment, gather);
}

/** Counts nothing. Statements are timed only for lines of the log. */
const createUncounted = (environment: Environment): Instruments => ({
  listener: {},
  pool: unobserved,
  database(database, _dialect, others) {
    const isLogged = environment.operate.accessLog !== 'off' && logsInfo(environment);
    const isTimed = others.slow !== null || others.tracer !== undefined || isLogged;
    return isTimed ? observeDatabase(database, { meter: null, ...others }) : database;
  },
  serves: () => ({}),
  generations: (generations) => generations,
  async open() {},
  url: () => null,
  read: async () => [],
  close() {},
  async flush() {},
});

function createCounted(environment: Environment, gatherOthers: GatherMetrics | null): Instruments {
  const { port, token, seriesMax } = environment.operate.metrics;
  const series = new CollectionSeries(seriesMax, () =>
    log?.warn({ seriesMax }, 'METRICS_SERIES_MAX is reached: further collections are counted as one.'),
  );
  const requests = new RequestMetrics(series);
  const pool = new PoolMetrics();
  const isScrape = token === null ? () => false : createScrapeTest(token);
  let log: Log | null = null;
  const caches = new CacheMetrics();
  const signIns = new SignInMetrics();
  const versions = new VersionMetrics();
  let statements: StatementMetrics | null = null;
  let opened: Database | null = null;
  let waiting: WaitingMetrics | null = null;
  let readProcess: () => Promise<readonly MetricValues[]> = async () => [];
  let listener: MetricsListener | null = null;

  const read = async (): Promise<readonly MetricValues[]> => [
    ...requests.read(),
    ...(statements?.read() ?? []),
    ...pool.read(opened?.load?.().pool),
    ...caches.read(),
    ...signIns.read(),
    ...versions.read(),
    ...((await waiting?.read()) ?? []),
    ...(await readProcess()),
  ];
  const gather = gatherOthers ?? (async () => [await read()]);

  return {
    listener: {
      observers: [requests.end],
      wrap: (next, responder) => countRequests(requests, isScrape, gather, next, responder),
    },
    pool,
    database(database, dialect, others) {
      opened = database;
      statements = new StatementMetrics(sqlDialects[dialect].systemName, series);
      return observeDatabase(database, { meter: statements, ...others });
    },
    serves(api) {
      requests.addCollections(api.collections.map(({ name }) => name));
      return { createCache: caches.createCache, accounts: (accounts) => signIns.observe(accounts) };
    },
    generations: (generations) => versions.observe(generations),
    async open({ listener: httpListener, ready, database, api }) {
      log = httpListener.server.log;
      const location = systemPlaceOf(api);
      waiting = location === null ? null : new WaitingMetrics(database, location);
      readProcess = await measureProcess();
      if (port === null || gatherOthers !== null) return;
      listener = await listenForMetrics(environment, httpListener.responder, { gather, ready });
    },
    url: () => listener?.url ?? null,
    read,
    close: () => listener?.close(),
    async flush() {},
  };
}

type Wrap = NonNullable<Instruments['listener']['wrap']>;

/** Counts the requests that begin, and answers those for metrics. */
function countRequests(
  requests: RequestMetrics,
  isScrape: (request: IncomingMessage) => boolean,
  gather: GatherMetrics,
  ...[next, responder]: Parameters<Wrap>
): ReturnType<Wrap> {
  return function countRequest(request, response) {
    requests.begin();
    if (!isScrape(request)) return next(request, response);
    const { [requestRecord]: record } = request;
    if (record !== undefined) record.route = '/metrics';
    const httpContext = { request, response };
    answerMetrics(responder, httpContext, { gather }).catch((thrown: unknown) => {
      responder.fail(httpContext, toPlatformError(thrown));
    });
  };
}

/** Makes the test if a request may read the metrics on the public port. Hashes have one length and betray nothing. */
function createScrapeTest(token: string): (request: IncomingMessage) => boolean {
  const expected = hash('sha256', token, 'buffer');
  return function isScrape({ url = '', method, headers }) {
    if (!/^\/metrics(?:\?|$)/.test(url) || (method !== 'GET' && method !== 'HEAD')) return false;
    const sent = /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    return sent !== undefined && timingSafeEqual(hash('sha256', sent, 'buffer'), expected);
  };
}

const results = ['ok', 'refused', 'limited', 'second_factor'] as const;
type SignInResult = (typeof results)[number];

const passwordProvider = 'default';

class SignInMetrics {
  readonly #signIns = new Counter('tablewright_sign_ins_total', 'Sign-ins by their result.');
  readonly #byProvider = new Map<string, ReadonlyMap<SignInResult, CounterChild>>();

  /** Counts the sign-ins of some accounts from now on. */
  observe<T>(accounts: Accounts<T>): Accounts<T> {
    const { signIn, singleSignOn } = accounts;
    this.#bind(passwordProvider);
    return {
      ...accounts,
      signIn: {
        ...signIn,
        login: async (credentials, sender) => {
          try {
            const pair = await signIn.login(credentials, sender);
            this.#count(passwordProvider, 'ok');
            return pair;
          } catch (error) {
            this.#count(passwordProvider, resultOf(error, credentials));
            throw error;
          }
        },
      },
      singleSignOn: new Map([...singleSignOn].map(([name, way]) => [name, this.#observeWay(name, way)])),
    };
  }

  read(): readonly MetricValues[] {
    return this.#byProvider.size === 0 ? [] : [this.#signIns.read()];
  }

  #observeWay(name: string, way: SingleSignOn): SingleSignOn {
    this.#bind(name);
    return {
      environment: way.environment,
      depart: (redirect, invitation) => way.depart(redirect, invitation),
      arrive: async (brought, cookie, sender) => {
        const arrival = await way.arrive(brought, cookie, sender);
        this.#count(name, 'pair' in arrival.outcome ? 'ok' : resultOf(arrival.outcome.error, null));
        return arrival;
      },
    };
  }

  /** Later versions of the API count on. */
  #bind(provider: string): void {
    if (this.#byProvider.has(provider)) return;
    const bound = results.map((result) => [result, this.#signIns.child({ result, provider })] as const);
    this.#byProvider.set(provider, new Map(bound));
  }

  #count(provider: string, result: SignInResult | null): void {
    const counter = result === null ? undefined : this.#byProvider.get(provider)?.get(result);
    if (counter !== undefined) counter.value++;
  }
}

/** Null for a failure that says nothing about the credentials. */
function resultOf(thrown: unknown, credentials: Credentials | null): SignInResult | null {
  const { code, status } = toPlatformError(thrown);
  if (status >= 500) return null;
  if (code === 'REQUESTS_EXCEEDED') return 'limited';
  return code === 'INVALID_OTP' && credentials?.otp === null ? 'second_factor' : 'refused';
}
