/**
 * The environment of a server: text variables in, one typed value out, or every problem by the name of its variable.
 *
 * Source: API specification, section 16. Nothing is read from the process here, only files that variables name.
 */
import type { AddressInfo } from 'node:net';
import { readAuth } from './environment/auth.ts';
import { readDatabase } from './environment/database.ts';
import { readFiles } from './environment/files.ts';
import { readMail } from './environment/mail.ts';
import { readOperate } from './environment/operate.ts';
import { allOptimizations, readOptimizations } from './environment/optimizations.ts';
import { readCache, readGraphql, readRequestLimits } from './environment/requests.ts';
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
export type Environment = ReturnType<typeof readSettings>;

/** Permissions of pages of other origins. */
export type CorsEnvironment = NonNullable<ReturnType<typeof readCors>>;

/** An environment, or everything wrong with it. */
export type EnvironmentReading =
  | { readonly ok: true; readonly environment: Environment }
  | { readonly ok: false; readonly problems: readonly EnvironmentProblem[] };

export type { DatabaseEnvironment } from './environment/database.ts';
export type { Variables } from './environment/variable-text.ts';

/** Reads every variable the server knows; all problems are collected, unknown variables are ignored. */
export function readEnvironment(variables: Variables): EnvironmentReading {
  const problems: EnvironmentProblem[] = [];
  const environment = readSettings(variables, problems);
  return problems.length === 0 ? { ok: true, environment } : { ok: false, problems };
}

function readSettings(variables: Variables, problems: EnvironmentProblem[]) {
  const { read, requireVariable } = createReaders(variables, problems);
  const host = read('HOST', readHost, '127.0.0.1');
  const port = read('PORT', readInteger(0, 65_535), 8055);
  const publicUrl = read<string | null>('PUBLIC_URL', readAddress, null);
  const production = read('NODE_ENV', readText, '') === 'production';
  // The name of the API specification, from when there was a bound for GraphQL alone.
  const graphqlMaxCost = read('GRAPHQL_MAX_COST', readInteger(1), defaultQueryBounds.maxCost);
  const queryCostMax = read('QUERY_COST_MAX', readInteger(1), graphqlMaxCost);
  return {
    /** NODE_ENV=production: no secret is made or printed. */
    production,
    host,
    /** 0 lets the system choose. */
    port,
    /** Without a trailing slash; null: the address the server listens on. */
    publicUrl,
    logLevel: read('LOG_LEVEL', readChoice(logLevels), 'info'),
    /** Time that all is served after a stop was asked for, so that who sends requests here hears of it first. */
    shutdownDelay: read('SHUTDOWN_DELAY', readDurationOrZero, 0),
    /** Time that requests under way may take after that. */
    shutdownTimeout: read('SHUTDOWN_TIMEOUT', readDuration, 10_000),
    /** Time that a client may take to send one request. */
    requestTimeout: read('REQUEST_TIMEOUT', readDuration, 60_000),
    database: readDatabase(read, problems),
    cache: readCache(read),
    streams: readStreams(read),
    ...readBounds(read),
    /** Cost of one request at most, over REST and GraphQL. */
    queryCostMax,
    /** Null: CORS is off, and no answer names an origin. */
    cors: readCors(read),
    /** Static token of the admin role; null: there is none. */
    adminToken: read<string | null>('ADMIN_TOKEN', readStaticToken(production ? 32 : 16), null),
    auth: readAuth(read, requireVariable, isLocalHttp(publicUrl, host)),
    graphql: readGraphql(read, queryCostMax),
    /** DOCS, an addition: true if `GET /docs` shows browsers the OpenAPI document of the caller. */
    docs: read('DOCS', readBoolean, false),
    /** EXPLAIN, an addition: true if administrators may ask why reads are refused. Never with NODE_ENV=production. */
    explain: read('EXPLAIN', readBoolean, false) && !production,
    /** SYSTEM_NAME_ALIAS_PREFIX: prefix that may stand for `platform_` in the paths of the model; null: none. */
    systemNameAliasPrefix: read<string | null>('SYSTEM_NAME_ALIAS_PREFIX', readText, null),
    mail: readMail(read),
    files: readFiles(read, requireVariable),
    requestLimits: readRequestLimits(read),
    operate: readOperate(read),
    /** PLATFORM_OPTIMIZE: optimisations that are on. */
    optimizations: read('PLATFORM_OPTIMIZE', readOptimizations, allOptimizations),
  } as const;
}

/** Reads the bounds of requests over REST and GraphQL. */
function readBounds(read: Read) {
  return {
    maxPayloadSize: read('MAX_PAYLOAD_SIZE', readSize, 1024 ** 2),
    maxRelationalDepth: read('MAX_RELATIONAL_DEPTH', readInteger(1, 100), 10),
    /** Items that one request may write, null for no limit. */
    maxBatchMutation: read<number | null>('MAX_BATCH_MUTATION', readBatchLimit, null),
    /** IDEMPOTENCY_TTL: milliseconds that the answer to a request with a key is kept. */
    idempotencyTtl: read('IDEMPOTENCY_TTL', readDuration, 86_400_000),
    queryLimitDefault: read('QUERY_LIMIT_DEFAULT', readInteger(0), 100),
    /** Null: no limit. */
    queryLimitMax: read<number | null>('QUERY_LIMIT_MAX', readInteger(1), null),
    queryRowsMax: read('QUERY_ROWS_MAX', readInteger(1), defaultQueryBounds.maxRows),
    /** GEO_MAX_POSITIONS: positions of one geometry. */
    geoMaxPositions: read('GEO_MAX_POSITIONS', readInteger(1, 1_000_000), 10_000),
    querystringMaxParseDepth: read('QUERYSTRING_MAX_PARSE_DEPTH', readInteger(1, 100), 10),
    querystringArrayLimit: read('QUERYSTRING_ARRAY_LIMIT', readInteger(1), 500),
  } as const;
}

/** Reads the limits of answers that their clients do not read. */
function readStreams(read: Read) {
  return {
    /** STREAM_STALL_TIMEOUT: milliseconds that an answer waits for its reader before it is cut. */
    stallTimeout: read('STREAM_STALL_TIMEOUT', readDuration, 10_000),
    /** STREAM_BUFFER_MAX: bytes that wait for their readers, of all answers. */
    bufferMax: read('STREAM_BUFFER_MAX', readSize, 64 * 1024 ** 2),
    /** STREAM_CLIENT_MAX: answers streamed to one client address at once; null: one less than to all. */
    clientMax: read<number | null>('STREAM_CLIENT_MAX', readInteger(1), null),
  } as const;
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
    fieldLimits: {
      passwordMinLength: environment.auth.passwordMinLength,
      imageMaxDimension: environment.files.transform.maxDimension,
    },
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

function readCors(read: Read) {
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
  const cors = {
    /** Exact origins, or `*` for all of them without credentials. */
    origins: read('CORS_ORIGIN', readOrigins, []),
    credentials: read('CORS_CREDENTIALS', readBoolean, true),
    methods: read('CORS_METHODS', readNames('HTTP methods'), ['GET', 'POST', 'PATCH', 'DELETE', 'SEARCH']),
    allowedHeaders,
    exposedHeaders: read('CORS_EXPOSED_HEADERS', readNames('header names'), exposed),
    /** Seconds a browser may keep the answer to a preflight. */
    maxAge: read('CORS_MAX_AGE', readInteger(0, 2_147_483_647), 18_000),
  } as const;
  return read('CORS_ENABLED', readBoolean, false) ? cors : null;
}

/** The address as configured, so that the printed one is the one people know; the port is the real one. */
export function localUrl(host: string, address: AddressInfo | string | null): string {
  const named = host.includes(':') ? `[${host}]` : host;
  return address === null || typeof address === 'string' ? `http://${named}` : `http://${named}:${address.port}`;
}
