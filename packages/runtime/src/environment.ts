/**
 * The environment of a server: text variables in, one typed value out, or every problem by the name of its variable.
 *
 * Source: API specification, section 16. Nothing is read from the process here, only files that variables name.
 */
import type { AddressInfo } from 'node:net';
import { type AuthEnvironment, readAuth } from './environment/auth.ts';
import { type DatabaseEnvironment, readDatabase } from './environment/database.ts';
import { type FilesEnvironment, readFiles } from './environment/files.ts';
import { type MailEnvironment, readMail } from './environment/mail.ts';
import { type OperateEnvironment, readOperate } from './environment/operate.ts';
import { allOptimizations, type Optimizations, readOptimizations } from './environment/optimizations.ts';
import {
  type CacheEnvironment,
  type GraphqlEnvironment,
  type RequestLimits,
  readCache,
  readGraphql,
  readRequestLimits,
} from './environment/requests.ts';
import { readStaticToken } from './environment/secrets.ts';
import {
  type EnvironmentProblem,
  type Read,
  type Reader,
  type Reading,
  readAddress,
  readBoolean,
  readChoice,
  readDuration,
  readDurationOrZero,
  readHost,
  readInteger,
  readNames,
  readOrigins,
  readSize,
  readText,
} from './environment/values.ts';
import { type Variables, variableText } from './environment/variable-text.ts';
import { defaultQueryBounds } from './language/index.ts';

/** Levels of the log, from the rarest line to every line. */
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Everything about a server that its surroundings decide. Durations are milliseconds, sizes are bytes. */
export interface Environment {
  /** NODE_ENV=production: no secret is made or printed. */
  readonly production: boolean;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Without a trailing slash; null: the address the server listens on. */
  readonly publicUrl: string | null;
  readonly logLevel: (typeof logLevels)[number];
  /** Time that all is served after a stop was asked for, so that who sends requests here hears of it first. */
  readonly shutdownDelay: number;
  /** Time that requests under way may take after that. */
  readonly shutdownTimeout: number;
  /** Time that a client may take to send one request. */
  readonly requestTimeout: number;
  readonly database: DatabaseEnvironment;
  readonly cache: CacheEnvironment;
  readonly streams: StreamsEnvironment;
  readonly maxPayloadSize: number;
  readonly maxRelationalDepth: number;
  /** Items that one request may write, null for no limit. */
  readonly maxBatchMutation: number | null;
  /** IDEMPOTENCY_TTL: milliseconds that the answer to a request with a key is kept. */
  readonly idempotencyTtl: number;
  readonly queryLimitDefault: number;
  /** Null: no limit. */
  readonly queryLimitMax: number | null;
  readonly queryRowsMax: number;
  /** Cost of one request at most, over REST and GraphQL. */
  readonly queryCostMax: number;
  /** GEO_MAX_POSITIONS: positions of one geometry. */
  readonly geoMaxPositions: number;
  readonly querystringMaxParseDepth: number;
  readonly querystringArrayLimit: number;
  /** Null: CORS is off, and no answer names an origin. */
  readonly cors: CorsEnvironment | null;
  /** Static token of the admin role; null: there is none. */
  readonly adminToken: string | null;
  readonly auth: AuthEnvironment;
  readonly graphql: GraphqlEnvironment;
  /** DOCS, an addition: true if `GET /docs` shows browsers the OpenAPI document of the caller. */
  readonly docs: boolean;
  /** EXPLAIN, an addition: true if administrators may ask why reads are refused. Never with NODE_ENV=production. */
  readonly explain: boolean;
  /** SYSTEM_NAME_ALIAS_PREFIX: prefix that may stand for `platform_` in the paths of the model; null: none. */
  readonly systemNameAliasPrefix: string | null;
  readonly mail: MailEnvironment;
  readonly files: FilesEnvironment;
  readonly requestLimits: RequestLimits;
  readonly operate: OperateEnvironment;
  /** PLATFORM_OPTIMIZE: optimisations that are on. */
  readonly optimizations: Optimizations;
}

/** Limits of answers that their clients do not read. */
interface StreamsEnvironment {
  /** STREAM_STALL_TIMEOUT: milliseconds that an answer waits for its reader before it is cut. */
  readonly stallTimeout: number;
  /** STREAM_BUFFER_MAX: bytes that wait for their readers, of all answers. */
  readonly bufferMax: number;
  /** STREAM_CLIENT_MAX: answers streamed to one client address at once; null: one less than to all. */
  readonly clientMax: number | null;
}

/** Permissions of pages of other origins. */
export interface CorsEnvironment {
  /** Exact origins, or `*` for all of them without credentials. */
  readonly origins: readonly string[];
  readonly credentials: boolean;
  readonly methods: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  /** Seconds a browser may keep the answer to a preflight. */
  readonly maxAge: number;
}

/** An environment, or everything wrong with it. */
export type EnvironmentReading =
  | { readonly ok: true; readonly environment: Environment }
  | { readonly ok: false; readonly problems: readonly EnvironmentProblem[] };

export type { DatabaseEnvironment } from './environment/database.ts';
export type { Variables } from './environment/variable-text.ts';

/** Reads every variable the server knows; all problems are collected, unknown variables are ignored. */
export function readEnvironment(variables: Variables): EnvironmentReading {
  const problems: EnvironmentProblem[] = [];
  const { read, requireVariable } = createReaders(variables, problems);
  const host = read('HOST', readHost, '127.0.0.1');
  const port = read('PORT', readInteger(0, 65_535), 8055);
  const publicUrl = read<string | null>('PUBLIC_URL', readAddress, null);
  const production = variables.NODE_ENV === 'production';
  // The name of the API specification, from when there was a bound for GraphQL alone.
  const queryCostMax = read(
    'QUERY_COST_MAX',
    readInteger(1),
    read('GRAPHQL_MAX_COST', readInteger(1), defaultQueryBounds.maxCost),
  );
  const environment: Environment = {
    production,
    host,
    port,
    publicUrl,
    logLevel: read('LOG_LEVEL', readChoice(logLevels), 'info'),
    shutdownDelay: read('SHUTDOWN_DELAY', readDurationOrZero, 0),
    shutdownTimeout: read('SHUTDOWN_TIMEOUT', readDuration, 10_000),
    requestTimeout: read('REQUEST_TIMEOUT', readDuration, 60_000),
    database: readDatabase(read, problems),
    cache: readCache(read),
    streams: {
      stallTimeout: read('STREAM_STALL_TIMEOUT', readDuration, 10_000),
      bufferMax: read('STREAM_BUFFER_MAX', readSize, 64 * 1024 ** 2),
      clientMax: read<number | null>('STREAM_CLIENT_MAX', readInteger(1), null),
    },
    maxPayloadSize: read('MAX_PAYLOAD_SIZE', readSize, 1024 ** 2),
    maxRelationalDepth: read('MAX_RELATIONAL_DEPTH', readInteger(1, 100), 10),
    maxBatchMutation: read<number | null>('MAX_BATCH_MUTATION', readBatchLimit, null),
    idempotencyTtl: read('IDEMPOTENCY_TTL', readDuration, 86_400_000),
    queryLimitDefault: read('QUERY_LIMIT_DEFAULT', readInteger(0), 100),
    queryLimitMax: read<number | null>('QUERY_LIMIT_MAX', readInteger(1), null),
    queryRowsMax: read('QUERY_ROWS_MAX', readInteger(1), defaultQueryBounds.maxRows),
    queryCostMax,
    geoMaxPositions: read('GEO_MAX_POSITIONS', readInteger(1, 1_000_000), 10_000),
    querystringMaxParseDepth: read('QUERYSTRING_MAX_PARSE_DEPTH', readInteger(1, 100), 10),
    querystringArrayLimit: read('QUERYSTRING_ARRAY_LIMIT', readInteger(1), 500),
    cors: readCors(read),
    adminToken: read<string | null>('ADMIN_TOKEN', readStaticToken(production ? 32 : 16), null),
    auth: readAuth(read, requireVariable, isLocalHttp(publicUrl, host)),
    graphql: readGraphql(read, queryCostMax),
    docs: read('DOCS', readBoolean, false),
    explain: read('EXPLAIN', readBoolean, false) && !production,
    systemNameAliasPrefix: read<string | null>('SYSTEM_NAME_ALIAS_PREFIX', readText, null),
    mail: readMail(read),
    files: readFiles(read, requireVariable),
    requestLimits: readRequestLimits(read),
    operate: readOperate(read),
    optimizations: read('PLATFORM_OPTIMIZE', readOptimizations, allOptimizations),
  };
  return problems.length === 0 ? { ok: true, environment } : { ok: false, problems };
}

function createReaders(variables: Variables, problems: EnvironmentProblem[]) {
  const refused = new Set<string>();
  /** Null if the file of the variable cannot be used, which is reported once. */
  function textOf(variable: string): string | null {
    const reading = variableText(variables, variable);
    if ('value' in reading) return reading.value;
    if (!refused.has(variable)) problems.push({ variable, message: reading.problem });
    refused.add(variable);
    return null;
  }
  function read<T>(variable: string, reader: Reader<T>, absent: T): T {
    const text = textOf(variable);
    if (text === null || text === '') return absent;
    const reading = reader(text);
    if ('value' in reading) return reading.value;
    problems.push({ variable, message: `${variable} ${reading.problem}` });
    return absent;
  }
  function requireVariable<T>(variable: string, reader: Reader<T>, absent: T): T {
    if (textOf(variable) === '') problems.push({ variable, message: `${variable} is required.` });
    return read(variable, reader, absent);
  }
  return { read, requireVariable };
}

export function readLimits(environment: Environment) {
  return {
    relationalDepth: environment.maxRelationalDepth,
    parseDepth: environment.querystringMaxParseDepth,
    arrayLimit: environment.querystringArrayLimit,
    defaultLimit: environment.queryLimitDefault,
    maxRows: environment.queryRowsMax,
    maxCost: environment.queryCostMax,
    ...(environment.queryLimitMax === null ? {} : { maxLimit: environment.queryLimitMax }),
  };
}

/** Limits of an environment for requests: those of reads and those of writes. */
export function requestLimits(environment: Environment) {
  return {
    limits: readLimits(environment),
    fieldLimits: { passwordMinLength: environment.auth.passwordMinLength },
    maxItems: environment.maxBatchMutation,
  };
}

/** True if the address of the server is one of http on the loopback, where certificates are not available. */
function isLocalHttp(publicUrl: string | null, host: string): boolean {
  const url = URL.parse(publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}`);
  if (url?.protocol !== 'http:') return false;
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname) || url.hostname.endsWith('.localhost');
}

function readBatchLimit(text: string): Reading<number | null> {
  return text === 'unlimited' ? { value: null } : readInteger(1)(text);
}

const consistencyHeader = 'X-Consistency-Token';

function readCors(read: Read): CorsEnvironment | null {
  const allowedHeaders = read('CORS_ALLOWED_HEADERS', readNames('header names'), [
    'Content-Type',
    'Authorization',
    'Idempotency-Key',
    'If-Match',
    'If-None-Match',
    consistencyHeader,
  ]);
  // A page that sees a token sends it back, which it has to be allowed to.
  const mayCarry = allowedHeaders.some((name) => name.toLowerCase() === consistencyHeader.toLowerCase());
  const exposed = ['Content-Range', 'ETag', 'Retry-After', ...(mayCarry ? [consistencyHeader] : [])];
  const cors: CorsEnvironment = {
    origins: read('CORS_ORIGIN', readOrigins, []),
    credentials: read('CORS_CREDENTIALS', readBoolean, true),
    methods: read('CORS_METHODS', readNames('HTTP methods'), ['GET', 'POST', 'PATCH', 'DELETE', 'SEARCH']),
    allowedHeaders,
    exposedHeaders: read('CORS_EXPOSED_HEADERS', readNames('header names'), exposed),
    maxAge: read('CORS_MAX_AGE', readInteger(0, 2_147_483_647), 18_000),
  };
  return read('CORS_ENABLED', readBoolean, false) ? cors : null;
}

/** The address as configured, so that the printed one is the one people know; the port is the real one. */
export function localUrl(host: string, address: AddressInfo | string | null): string {
  const named = host.includes(':') ? `[${host}]` : host;
  return address === null || typeof address === 'string' ? `http://${named}` : `http://${named}:${address.port}`;
}
