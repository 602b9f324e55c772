/** Variables about the database and its servers. Source: API specification, section 16; scale-out notes, section 2. */
import { databaseUrlStart, exampleDatabaseUrl, familyOf } from '../language/index.ts';
import { hostListProblem, hostUrls, parseAddress } from './renewable-url.ts';
import {
  type EnvironmentProblem,
  type Read,
  type Reading,
  readBoolean,
  readChoice,
  readDuration,
  readDurationOrZero,
  readInteger,
} from './values.ts';

/** Settings of the database. */
export type DatabaseEnvironment = ReturnType<typeof readDatabase>;

/** Time that a write waits for a primary where DATABASE_FAILOVER_WAIT does not say, in milliseconds. */
export const usualFailoverWait = 5_000;

export function readDatabase(read: Read, problems: EnvironmentProblem[]) {
  const environment = {
    /** Null: the embedded database. Several hosts are candidates for writing, in order. */
    url: read<string | null>('DATABASE_URL', (text) => readDatabaseUrl(text, 'write'), null),
    /** DATABASE_FAILOVER_WAIT: how long a write waits for a server that takes it; null: the default, where there is a choice. */
    failoverWait: read<number | null>('DATABASE_FAILOVER_WAIT', readDuration, null),
    /** DATABASE_READ_URL: replicas; null: there are none. */
    readUrl: read<string | null>('DATABASE_READ_URL', (text) => readDatabaseUrl(text, 'read'), null),
    /** DATABASE_READ_MAX_LAG: a replica that lags more is not asked. */
    readMaxLag: read('DATABASE_READ_MAX_LAG', readDuration, 5_000),
    /** DATABASE_READ_WAIT: how long a read waits for a position that no replica has reached. */
    readWait: read('DATABASE_READ_WAIT', readDuration, 50),
    /** DATABASE_LISTEN_URL: a way past a pooler, by which changes of rules are heard; null: that of DATABASE_URL. */
    listenUrl: read<string | null>('DATABASE_LISTEN_URL', (text) => readDatabaseUrl(text, 'write'), null),
    /** Driver of connections to a server; an embedded database does not ask. */
    driver: read('DATABASE_DRIVER', readChoice(drivers), 'auto'),
    poolMax: read('DATABASE_POOL_MAX', readInteger(1, 10_000), 10),
    poolTimeout: read('DATABASE_POOL_TIMEOUT', readDuration, 2000),
    statementTimeout: read('DATABASE_STATEMENT_TIMEOUT', readDuration, 30_000),
    /** DATABASE_READ_ONLY: refuses all writes, even if the database would accept them. */
    readOnly: read('DATABASE_READ_ONLY', readBoolean, false),
    /** DATABASE_PUBLIC_STATEMENT_TIMEOUT: that of callers without a token; 0: the same as of all others. */
    publicStatementTimeout: read('DATABASE_PUBLIC_STATEMENT_TIMEOUT', readDurationOrZero, 10_000),
    /** DATABASE_STREAM_MAX: answers streamed at once; null: a third of the connections. */
    streamMax: read<number | null>('DATABASE_STREAM_MAX', readInteger(1), null),
  } as const;
  // One that cannot be used contradicts nothing.
  if (!problems.some(({ variable }) => variable === 'DATABASE_URL')) problems.push(...contradictions(environment));
  return environment;
}

function contradictions({ url, readUrl, listenUrl, readOnly }: DatabaseEnvironment): readonly EnvironmentProblem[] {
  const variable = 'DATABASE_READ_URL';
  const others = Object.entries({ [variable]: readUrl, DATABASE_LISTEN_URL: listenUrl });
  const unfit = others.find(([, other]) => other !== null && (url === null || familyOf(other) !== familyOf(url)));
  if (unfit !== undefined) {
    const message = `${unfit[0]} ${url === null ? 'is set, but DATABASE_URL names no server' : 'leads to another kind of server than DATABASE_URL'}.`;
    return [{ variable: unfit[0], message }];
  }
  if (readUrl === null) return [];
  const message = `${variable} and DATABASE_READ_ONLY are both set. A server that only reads needs DATABASE_URL alone.`;
  return readOnly ? [{ variable, message }] : [];
}

const isDatabaseUrl = new RegExp(`^${databaseUrlStart}`);

/** The value can hold a password, so the sentence never repeats it. */
function readDatabaseUrl(text: string, purpose: 'write' | 'read'): Reading<string> {
  const urls = hostUrls(text);
  if (!urls.every((url) => isDatabaseUrl.test(url) && parseAddress(url) !== null)) {
    return { problem: `must be an address such as "${exampleDatabaseUrl}".` };
  }
  const problem = hostListProblem(text, purpose);
  return problem === null ? { value: text } : { problem };
}

/** Ways to a server: `fast` is our pipelined client, `pg` the plain driver, `auto` fast unless a pooler forbids it. */
const drivers = ['auto', 'fast', 'pg'] as const;

export type Driver = (typeof drivers)[number];
