/**
 * Limits of sign-in attempts. Source: API specification, sections 2.9 and 10.12.
 *
 * Every answer of a limit is the same for existing and missing accounts: only the sent values are counted.
 */

import type { Database, Transaction } from '../database/database.ts';
import { ask, createPurge, firstRow, type OwnSql } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import type { Counter, Counting } from '../dialects/own-tables.ts';
import type { AttemptLimits } from '../environment/auth.ts';
import { type ErrorCode, PlatformError } from '../errors.ts';
import { exceeded } from '../limits/windows.ts';
import type { SystemPlace } from '../system/place.ts';
import type { ReadAccountSettings } from './settings.ts';

/** An attempt that may be wrong. Each of the three rejects with REQUESTS_EXCEEDED where a limit is reached. */
export interface Attempt {
  /** Before anything else is looked at. Sign-ins look again after a right password, which alone ends no row of failures. */
  begin(): Promise<void>;
  /** Called when the attempt was wrong. */
  failed(): Promise<void>;
  /**
   * Called when the attempt was right, before anything is given out. Others that ran at the same time may have reached the
   * limit meanwhile; then it is refused as well.
   */
  succeeded(): Promise<void>;
}

/** Limits of attempts. `client` is an address as `subnetOf` returns it. */
export type Attempts = ReturnType<typeof createAttempts>;

const mailWindow = 3_600_000;
const otpWindow = 30_000;

/** Times that a client is refused after too many consecutive failures, and that failures count as consecutive. */
const streakBan = 900_000;
const streakMemory = 86_400_000;

/** Called with the name of a limit that is reached, and who has reached it. */
export type LimitReached = (limit: string, subject: AttemptSubject) => void;

/** Address, client or user that makes an attempt, as far as it is limited by that. */
type AttemptSubject = Omit<Counter, 'purpose'>;

/** Makes the limits. If they are off, only attempts that the settings limit are counted. */
export function createAttempts(
  limits: AttemptLimits,
  counters: Counters,
  settings: ReadAccountSettings,
  reached: LimitReached = () => {},
) {
  function reporting(limit: string, subject: AttemptSubject, attempt: Attempt): Attempt {
    const report = (work: () => Promise<void>) => () => reportLimit(work, () => reached(limit, subject));
    return { begin: report(attempt.begin), failed: report(attempt.failed), succeeded: report(attempt.succeeded) };
  }

  return {
    login: (email: string, client: string): Attempt =>
      reporting('login', { email, client }, loginAttempt(limits, counters, settings, email, client)),
    /** Tokens that are tried out; static ones count with the sign-ins (`login`). */
    token(route: 'refresh' | 'reset' | 'invite_accept' | 'sso' | 'login', client: string): Attempt {
      if (!limits.enabled) return unlimited;
      const byClient: Counting = { purpose: `${route}.client`, client, window: limits.duration };
      const check = (counts: readonly Count[]): void => refuseFrom(counts, limits.addressPoints);
      return reporting(
        route,
        { client },
        {
          begin: async () => check(await counters.read([byClient])),
          failed: async () => void (await counters.count([byClient])),
          async succeeded() {},
        },
      );
    },
    /** One-time passwords of a user; attempts count until they turn out right, so that none slips in beside others. */
    otp(user: string): Attempt {
      if (!limits.enabled) return unlimited;
      const byUser: Counting = { purpose: 'otp.user', user, window: otpWindow };
      return reporting(
        'otp',
        { user },
        {
          begin: async () => refuseBeyond(await counters.count([byUser]), limits.otpPoints),
          async failed() {},
          succeeded: () => counters.giveBack([byUser]),
        },
      );
    },
    /** Counts a mail that is asked for to each address. Rejects with REQUESTS_EXCEEDED when one gets too many. */
    async mail(route: 'reset' | 'invite', emails: readonly string[], client: string): Promise<void> {
      if (!limits.enabled) return;
      const byClient: Counting = { purpose: `${route}.mail.client`, client, window: limits.duration };
      const count = async (): Promise<void> => {
        refuseBeyond(await counters.count([byClient]), limits.addressPoints);
        const byEmail = emails.map((email) => ({ purpose: `${route}.mail`, email, window: mailWindow }));
        refuseBeyond(await counters.count(byEmail), limits.mailPoints);
      };
      await reportLimit(count, () => reached(`${route}.mail`, { client }));
    },
    /** Counts a mail of an author to a user, in the transaction that queues it. False where that is one too many. */
    mention: (transaction: Transaction, author: string, user: string): Promise<boolean> =>
      mayMention(limits, counters, transaction, { user, client: author }),
  };
}

async function reportLimit(work: () => Promise<void>, reached: () => void): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'REQUESTS_EXCEEDED') reached();
    throw error;
  }
}

async function mayMention(
  { enabled, mailPoints }: AttemptLimits,
  counters: Counters,
  transaction: Transaction,
  subject: AttemptSubject,
): Promise<boolean> {
  if (!enabled) return true;
  const counts = await counters.countWithin(transaction, [{ purpose: 'mention.mail', ...subject, window: mailWindow }]);
  return counts.every(({ attempts }) => attempts <= mailPoints);
}

const unlimited: Attempt = { async begin() {}, async failed() {}, async succeeded() {} };

/** Runs the work of an attempt. Errors of these codes count as a failure; other errors do not. */
export async function countFailures<T>(
  attempt: Attempt,
  wrong: readonly ErrorCode[],
  work: () => Promise<T>,
): Promise<T> {
  await attempt.begin();
  try {
    return await work();
  } catch (error) {
    if (error instanceof PlatformError && wrong.includes(error.code)) await attempt.failed();
    throw error;
  }
}

/** Runs work that uses up a one-time password: its attempt counts where that was wrong, and no other error counts. */
export async function countWrongOtp<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
  await attempt.begin();
  let isWrong = false;
  try {
    return await work();
  } catch (error) {
    isWrong = error instanceof PlatformError && error.code === 'INVALID_OTP';
    throw error;
  } finally {
    if (!isWrong) await attempt.succeeded();
  }
}

/** Failures count against client and account, so that an attacker elsewhere cannot lock out an owner. */
function loginAttempt(
  limits: AttemptLimits,
  counters: Counters,
  settings: ReadAccountSettings,
  email: string,
  client: string,
): Attempt {
  const streak: Counter = { purpose: 'login.streak', email, client };
  const windowed: readonly Counting[] = [
    { purpose: 'login.account', email, window: limits.duration },
    { purpose: 'login.client', client, window: limits.duration },
    { purpose: 'login.pair', email, client, window: limits.duration },
  ];
  const all = limits.enabled ? [...windowed, streak] : [streak];

  async function decide(): Promise<readonly Count[]> {
    const [counts, { loginAttempts }] = await Promise.all([counters.read(all), settings()]);
    const countsOf = (purpose: string): readonly Count[] => counts.filter((count) => count.purpose === purpose);
    refuseFrom(countsOf('login.client'), limits.addressPoints);
    if (countsOf('login.pair').length > 0) refuseFrom(countsOf('login.account'), limits.accountPoints);
    if (loginAttempts !== null) refuseFrom(countsOf('login.streak'), loginAttempts);
    return countsOf('login.streak');
  }

  return {
    begin: async () => void (await decide()),
    async failed() {
      const { loginAttempts } = await settings();
      const ban = loginAttempts === null ? {} : { last: { attempts: loginAttempts, window: streakBan } };
      const counted = loginAttempts === null ? [] : [{ ...streak, window: streakMemory, ...ban }];
      await counters.count(limits.enabled ? [...windowed, ...counted] : counted);
    },
    async succeeded() {
      const failures = await decide();
      if (failures.length > 0) await counters.clear([streak]);
    },
  };
}

/** Refuses who has made all attempts that there are. */
function refuseFrom(counts: readonly Count[], points: number): void {
  const full = counts.find(({ attempts }) => attempts >= points);
  if (full !== undefined) throw exceeded(points, full.left);
}

/** Refuses an attempt that has been counted and is one too many. */
function refuseBeyond(counts: readonly Count[], points: number): void {
  const over = counts.find(({ attempts }) => attempts > points);
  if (over !== undefined) throw exceeded(points, over.left);
}

interface Count {
  readonly purpose: string;
  readonly attempts: number;
  /** Milliseconds until it begins anew. */
  readonly left: number;
}

type Counters = ReturnType<typeof createCounters>;

/** Interval at which counters whose window has ended are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 60_000;
const maxPurged = 1_000;

/**
 * Counters of attempts, in windows, in the database, so that every process sees the same. The subject of a counter is
 * stored as a hash. One statement each; a counter begins anew with the first attempt after its window.
 */
export function createCounters(database: Pick<Database, 'query' | 'transaction'>, location: SystemPlace) {
  const texts = ownTables(location).statements.counters(maxPurged);
  const purgeOld = createPurge(texts.purge, purgeEveryMs);

  function write(text: OwnSql, counters: readonly Counter[]): Promise<readonly Count[]> {
    return database.transaction(async (transaction) => {
      const row = firstRow(transaction, text, [texts.input(counters)]);
      // Expired counters mean nothing, so a failure is ignored, and their removal tried again later.
      purgeOld(transaction).catch(() => {});
      const [counts = null, id] = (await row) ?? [];
      if (typeof id === 'string') transaction.identify(id);
      return { value: readCounts(counts) };
    });
  }

  return {
    /** Returns the counts of those counters whose window is running. */
    async read(counters: readonly Counter[]): Promise<readonly Count[]> {
      const [row] = await ask(database, texts.read, [texts.input(counters)]);
      return readCounts(row?.[0] ?? null);
    },
    /** Counts one attempt on each, and returns the new counts. */
    count: (counters: readonly Counting[]): Promise<readonly Count[]> => write(texts.count, counters),
    /** The same in a transaction, which may undo it. */
    async countWithin(transaction: Transaction, counters: readonly Counting[]): Promise<readonly Count[]> {
      const [counts = null] = (await firstRow(transaction, texts.count, [texts.input(counters)])) ?? [];
      return readCounts(counts);
    },
    /** Takes back one attempt on each, as if it had not been made. */
    giveBack: async (counters: readonly Counter[]): Promise<void> => void (await write(texts.giveBack, counters)),
    /** Lets counters begin anew. */
    clear: async (counters: readonly Counter[]): Promise<void> => void (await write(texts.clear, counters)),
  };
}

function readCounts(text: string | null): readonly Count[] {
  const rows: readonly (readonly [string, number, number])[] = text === null ? [] : JSON.parse(text);
  return rows.map(([purpose, attempts, left]) => ({ purpose, attempts, left }));
}
