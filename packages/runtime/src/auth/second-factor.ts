/** Setting up, using and taking away second factors. Source: API specification, section 3.4. */

import { randomBytes } from 'node:crypto';
import type { Database, Transaction } from '../database/database.ts';
import { firstRow, identifiedRow, type OwnSql } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import { fromRows, type Rows } from '../dialects/own-tables.ts';
import { PlatformError } from '../errors.ts';
import { isUuid } from '../language/types/uuid.ts';
import type { Audit, AuditOrigin } from '../operate/audit.ts';
import type { Passwords } from '../passwords/passwords.ts';
import type { SystemPlace } from '../system/place.ts';
import type { AccountFinder, SigningIn } from '../users/account.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import { type TransactionBody, withoutAnswer } from '../write/execute/transaction-body.ts';
import { type Attempts, countWrongOtp } from './attempts.ts';
import type { Identities } from './identities.ts';
import { auditRefusal } from './refusals.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { ReadAccountSettings } from './settings.ts';
import type { Changing, KeepUserHistory } from './user-history.ts';

/** User who sets up a second factor, the session in use, if there is one, and the origin of the request. */
interface Owner {
  readonly user: string;
  readonly session?: string;
  readonly sender: RequestOrigin;
}

/** Uses up a one-time password or recovery code in the transaction of the action. Rejects with INVALID_OTP. */
type UseOtp = (
  transaction: Transaction,
  user: { readonly id: string; readonly secret: string },
  otp: string | null,
) => Promise<void>;

interface SecondFactorOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly place: SystemPlace;
  readonly finder: Pick<AccountFinder, 'byId'>;
  readonly sessions: Pick<Sessions, 'endAll'>;
  readonly identities: Pick<Identities<unknown>, 'forget'>;
  readonly passwords: Pick<Passwords, 'verify'>;
  readonly attempts: Pick<Attempts, 'login' | 'otp'>;
  readonly settings: ReadAccountSettings;
  readonly keepHistory: KeepUserHistory;
  readonly audit: Audit;
}

const codesMade = 10;

/** $1 is the user everywhere. No row means that a condition does not hold. */
function textsOf(location: SystemPlace) {
  const sql = ownTables(location);
  const rowsOf = (table: string, alias: string, column: string, more = ''): Rows => ({
    ...{ target: `${sql.table(table)} AS ${alias}`, alias, where: `${alias}.${column} = $1::uuid${more}` },
  });
  const user = (more = ''): Rows => rowsOf('platform_users', 'u', 'id', more);
  const factor = (more = ''): Rows => rowsOf('platform_tfa', 't', '"user"', more);
  const codes = (more = ''): Rows => rowsOf('platform_recovery_codes', 'c', '"user"', more);
  const secret = 'u.tfa_secret = $2::text';
  const hash = sql.sha256('$2');
  const found = (rows: Rows, lock = ''): OwnSql => sql.rows(`SELECT NULL, 'true'${fromRows(rows)}${lock}`);
  return {
    ...sql.statements.secondFactors,
    exists: found(user()),
    /** Locks the user while the secret is still $2, so that each request for new codes sees those of the one before. */
    hold: found(user(` AND ${secret}`), sql.lock('u', 'NO KEY UPDATE')),
    /** Takes the second factor away; where $2 is not null only when that is its secret. */
    disable: sql.write(
      sql.update(user(` AND u.tfa_secret IS NOT NULL AND ($2::text IS NULL OR ${secret})`), {
        tfa_secret: 'NULL',
        security_version: 'u.security_version + 1',
      }),
    ),
    /** Tells if the secret $2 waits to be confirmed. */
    pending: found(factor(` AND t.pending_hash = ${hash} AND t.pending_until > ${sql.now}`)),
    /** Removes a secret that waits to be confirmed. The last step stays, so that it cannot be used again. */
    forgetPending: sql.write(sql.update(factor(), { pending_hash: 'NULL', pending_until: 'NULL' })),
    /** Uses up the recovery code $2. */
    useCode: sql.write(sql.update(codes(` AND c.hash = ${hash} AND c.used_at IS NULL`), { used_at: sql.now })),
    forgetCodes: sql.write(sql.remove(codes())),
  };
}

/** The services of a server. Each rejects with the error that answers the request. */
export class SecondFactors {
  readonly #options: SecondFactorOptions;
  readonly #texts: ReturnType<typeof textsOf>;

  constructor(options: SecondFactorOptions) {
    this.#options = options;
    this.#texts = textsOf(options.place);
  }

  async use(transaction: Transaction, { id, secret }: Parameters<UseOtp>[1], otp: string | null): Promise<void> {
    if (otp === null) throw new PlatformError('INVALID_OTP', 'A one-time password is needed.');
    const step = await stepOf(secret, otp);
    const code = readRecoveryCode(otp);
    const used =
      (step !== null && (await this.#held(transaction, this.#texts.use, [id, String(step)]))) ||
      (code !== null && (await this.#held(transaction, this.#texts.useCode, [id, code])));
    if (!used) throw new PlatformError('INVALID_OTP');
  }

  /** Makes a secret for a user who knows the password. Guessing it here counts against `client` like guessing it anywhere. */
  async generate(user: string, password: string, client: string) {
    const { database, finder, passwords, attempts, settings } = this.#options;
    const found = await finder.byId(user);
    const email = found?.account.email ?? user;
    const attempt = attempts.login(email, client);
    await attempt.begin();
    if (!(await passwords.verify(found?.password ?? null, password, client))) {
      await attempt.failed();
      throw new PlatformError('INVALID_CREDENTIALS');
    }
    await attempt.succeeded();
    const secret = await makeOtpSecret();
    const offered = await database.transaction(async (transaction) => ({
      value: await this.#held(transaction, this.#texts.offer, [user, secret]),
    }));
    if (!offered) throw alreadyEnabled();
    const { projectName } = await settings();
    return { secret, otpauthUrl: otpauthUrl(projectName, email, secret) };
  }

  async enable(owner: Owner, secret: string, otp: string): Promise<void> {
    const { user } = owner;
    if ((await this.#userOf(user)).tfaSecret !== null) throw alreadyEnabled();
    const waits = await this.#options.database.transaction(async (transaction) => ({
      value: await this.#held(transaction, this.#texts.pending, [user, secret]),
    }));
    if (!waits) throw notOffered();
    await this.#attempt(user, owner.sender, async (transaction) => {
      const step = await stepOf(secret, otp);
      if (step === null) throw new PlatformError('INVALID_OTP');
      await this.#options.keepHistory(transaction, ownChange(owner), async () => {
        if (await this.#held(transaction, this.#texts.enable, [user, secret, String(step)])) return true;
        throw (await this.#held(transaction, this.#texts.pending, [user, secret]))
          ? new PlatformError('INVALID_OTP')
          : notOffered();
      });
      await this.#endOthers(transaction, owner);
    });
    this.#options.identities.forget(user);
  }

  async disable(owner: Owner, otp: string): Promise<void> {
    const { user } = owner;
    const secret = await this.#secretOf(user);
    await this.#attempt(user, owner.sender, async (transaction) => {
      await this.use(transaction, { id: user, secret }, otp);
      await this.#options.keepHistory(transaction, ownChange(owner), async () => {
        if (await this.#held(transaction, this.#texts.disable, [user, secret])) return true;
        throw new PlatformError('INVALID_OTP');
      });
      await this.#forgetAll(transaction, user);
      await this.#endOthers(transaction, owner);
    });
    this.#options.identities.forget(user);
  }

  /** Work that takes the second factor of a user away, where there is one. It is FORBIDDEN where there is no user. */
  disableFor(user: string, by: Omit<Changing, 'user'>): TransactionBody {
    if (!isUuid(user)) throw new PlatformError('FORBIDDEN');
    const { keepHistory, sessions, identities } = this.#options;
    const run = async (transaction: Transaction): Promise<void> => {
      const disable = async () => (await this.#held(transaction, this.#texts.disable, [user, null])) || undefined;
      if ((await keepHistory(transaction, { ...by, user }, disable)) === true) {
        await this.#forgetAll(transaction, user);
        await sessions.endAll(transaction, user);
      } else if (!(await this.#held(transaction, this.#texts.exists, [user]))) throw new PlatformError('FORBIDDEN');
    };
    return withoutAnswer({ run, affected: () => [], committed: () => identities.forget(user) });
  }

  /** Makes ten recovery codes in place of all that there were. */
  async makeCodes({ user, sender }: Owner, otp: string): Promise<readonly string[]> {
    const secret = await this.#secretOf(user);
    const codes = Array.from({ length: codesMade }, makeRecoveryCode);
    await this.#attempt(user, sender, async (transaction) => {
      await this.use(transaction, { id: user, secret }, otp);
      if (!(await this.#held(transaction, this.#texts.hold, [user, secret]))) throw new PlatformError('INVALID_OTP');
      // Codes are letters and dashes, so they need no quotes in an array.
      await this.#held(transaction, this.#texts.replaceCodes, [user, `{${codes.join()}}`]);
    });
    return codes;
  }

  /** Runs a statement, and returns true if its condition held. */
  async #held(transaction: Transaction, sql: OwnSql, values: readonly (string | null)[]): Promise<boolean> {
    return (await identifiedRow(transaction, sql, values)) !== undefined;
  }

  /** The user, who cannot have gone without the session that asks. */
  async #userOf(id: string): Promise<SigningIn> {
    const found = await this.#options.finder.byId(id);
    if (found === null) throw new PlatformError('INVALID_CREDENTIALS');
    return found;
  }

  /** A user's secret. Rejects with INVALID_PAYLOAD where there is none. */
  async #secretOf(id: string): Promise<string> {
    const { tfaSecret } = await this.#userOf(id);
    if (tfaSecret === null) throw new PlatformError('INVALID_PAYLOAD', 'Two-factor authentication is not enabled.');
    return tfaSecret;
  }

  /** Runs work in a transaction that counts as an attempt with a one-time password. */
  async #attempt(user: string, origin: AuditOrigin, work: (transaction: Transaction) => Promise<void>): Promise<void> {
    const { attempts, audit, database } = this.#options;
    const run = () => database.transaction(async (transaction) => ({ value: await work(transaction) }));
    await countWrongOtp(attempts.otp(user), () => auditRefusal(audit, origin, { user }, run));
  }

  async #endOthers(transaction: Transaction, { user, session }: Owner): Promise<void> {
    await this.#options.sessions.endAll(transaction, user, session);
  }

  async #forgetAll(transaction: Transaction, user: string): Promise<void> {
    await firstRow(transaction, this.#texts.forgetPending, [user]);
    await firstRow(transaction, this.#texts.forgetCodes, [user]);
  }
}

function ownChange({ user, sender }: Owner): Changing {
  return { user, by: user, sender };
}

function alreadyEnabled(): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', 'Two-factor authentication is enabled already.');
}

function notOffered(): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', 'The secret is not one that was generated within the last 10 minutes.');
}

const period = 30;
const digits = 6;
/** 160 bits. */
const secretBytes = 20;

/** Makes a secret: 32 characters of base32. */
async function makeOtpSecret(): Promise<string> {
  const { generateSecret } = await import('otplib');
  return generateSecret({ length: secretBytes });
}

/** The step of 30 seconds that a one-time password belongs to: now, the one before or the one after; null for any other. */
async function stepOf(secret: string, otp: string, now: number = Date.now()): Promise<number | null> {
  if (!/^[0-9]{6}$/.test(otp)) return null;
  const { verifySync } = await import('otplib');
  const epoch = Math.floor(now / 1000);
  const result = verifySync({ secret, token: otp, epoch, period, digits, algorithm: 'sha1', epochTolerance: period });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}

/** URL that authenticator apps read as a QR code. */
function otpauthUrl(project: string, email: string, secret: string): string {
  const [issuer, account] = [encodeURIComponent(project), encodeURIComponent(email)];
  const settings = `period=${period}&digits=${digits}&algorithm=SHA1`;
  return `otpauth://totp/${issuer}:${account}?secret=${secret}&${settings}&issuer=${issuer}`;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** Makes a code for the day when the authenticator is lost: four groups of four letters, 80 bits. */
function makeRecoveryCode(): string {
  const letters = [...randomBytes(16)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return letters.replace(/.{4}(?=.)/g, '$&-');
}

/** Returns a recovery code in its original form, from any case and separators; null for any other text. */
function readRecoveryCode(text: string): string | null {
  if (text.length > 64) return null;
  const letters = text.toLowerCase().replace(/[\s-]/g, '');
  return /^[a-z2-7]{16}$/.test(letters) ? letters.replace(/.{4}(?=.)/g, '$&-') : null;
}
