/** Signing in, carrying on, signing out. Source: API specification, sections 2.3 to 2.5. */
import type { Database, Transaction } from '../database/database.ts';
import type { AuthEnvironment } from '../environment/auth.ts';
import { clientOf } from '../environment/networks.ts';
import { type ErrorCode, PlatformError } from '../errors.ts';
import type { Audit } from '../operate/audit.ts';
import type { Passwords } from '../passwords/passwords.ts';
import type { AccountFinder, SigningIn } from '../users/account.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import { type Attempt, type Attempts, countFailures, countWrongOtp } from './attempts.ts';
import type { Identities } from './identities.ts';
import { checkAddress } from './ip-access.ts';
import { auditRefusal, stallFailure } from './refusals.ts';
import {
  hashRefreshToken,
  type MakePair,
  makeRefreshToken,
  type Sessions,
  type TokenPair,
} from './sessions/sessions.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Null when none was sent. */
  readonly otp: string | null;
}

/** The services of a server. Each rejects with the error that answers the request. */
export interface SignIn {
  login(credentials: Credentials, sender: RequestOrigin): Promise<TokenPair>;
  refresh(token: string, sender: RequestOrigin): Promise<TokenPair>;
  /** Ends the session of a refresh token, or all sessions of its user. An unknown token ends none. */
  logout(token: string, all: boolean): Promise<void>;
}

/** Uses up a one-time password in the transaction that needs it; rejects with INVALID_OTP when missing or wrong. */
type CheckOtp = (transaction: Transaction, user: SigningIn, otp: string | null) => Promise<void>;

interface SignInOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly finder: Pick<AccountFinder, 'byEmail'>;
  readonly sessions: Sessions;
  readonly makePair: MakePair;
  readonly passwords: Passwords;
  readonly attempts: Attempts;
  readonly checkOtp: CheckOtp;
  readonly identities: Pick<Identities<unknown>, 'forget'>;
  readonly environment: Pick<AuthEnvironment, 'loginStallTime'>;
  readonly audit: Audit;
}

export function createSignIn(options: SignInOptions): SignIn {
  const { database, sessions, makePair, passwords, attempts, checkOtp, identities, environment, audit } = options;

  async function login(credentials: Credentials, sender: RequestOrigin, attempt: Attempt): Promise<TokenPair> {
    const user = await authenticate(options, credentials, clientOf(sender));
    const { account, password } = user;
    const outdated = password === null || passwords.isOutdated(password);
    const rehashed = outdated ? await passwords.hash(credentials.password, clientOf(sender)) : null;
    const refresh = makeRefreshToken();
    await (account.hasTfa ? attempt.begin() : attempt.succeeded());
    const begin = () =>
      database.transaction(async (transaction) => {
        if (account.hasTfa) await checkOtp(transaction, user, credentials.otp);
        checkAddress(account, sender, audit);
        return { value: await sessions.begin(transaction, { account, sender, refresh, rehashed }) };
      });
    const usesOtp = account.hasTfa && credentials.otp !== null;
    const session = await (usesOtp ? countWrongOtp(attempts.otp(account.id), begin) : begin());
    if (account.hasTfa) await attempt.succeeded();
    // The user was changed since the credentials were compared, so they may be wrong by now.
    if (session === null) throw new PlatformError('INVALID_CREDENTIALS');
    audit('sign-in', sender, { user: account.id, provider: 'default' });
    return makePair(account, session, refresh);
  }

  async function refresh(token: string, sender: RequestOrigin): Promise<TokenPair> {
    const next = makeRefreshToken();
    const rotation = await database.transaction(async (transaction) => {
      const value = await sessions.rotate(transaction, hashRefreshToken(token), next);
      // Thrown in here, so that the token is as good as before.
      if (value.kind === 'rotated') checkAddress(value.account, sender, audit);
      return { value };
    });
    if (rotation.kind === 'rotated') return makePair(rotation.account, rotation.session, next);
    if (rotation.ended !== null) {
      audit('refresh-token-reused', sender, { user: rotation.ended });
      identities.forget(rotation.ended);
    }
    throw new PlatformError(rotation.kind === 'expired' ? 'TOKEN_EXPIRED' : 'INVALID_CREDENTIALS');
  }

  return {
    login: (credentials, sender) =>
      stallFailure(environment.loginStallTime, () => {
        const attempt = attempts.login(credentials.email, clientOf(sender));
        // A sign-in that is asked for a one-time password has not failed yet.
        const wrong = credentials.otp === null ? refused : [...refused, 'INVALID_OTP' as const];
        const counted = () => countFailures(attempt, wrong, () => login(credentials, sender, attempt));
        return auditRefusal(audit, sender, { name: credentials.email }, counted, credentials.otp !== null);
      }),
    refresh: (token, sender) =>
      countFailures(attempts.token('refresh', clientOf(sender)), refused, () => refresh(token, sender)),
    async logout(token, all) {
      const user = await database.transaction(async (transaction) => ({
        value: await sessions.end(transaction, hashRefreshToken(token), all),
      }));
      if (user !== null) identities.forget(user);
    },
  };
}

/** An existing and a missing user take the same way: one look-up, one comparison of hashes. */
async function authenticate(
  { finder, passwords }: SignInOptions,
  { email, password }: Credentials,
  client: string,
): Promise<SigningIn> {
  const found = await finder.byEmail(email);
  const matches = await passwords.verify(found?.password ?? null, password, client);
  if (found !== null && matches && found.account.status === 'active' && found.account.provider === 'default') {
    return found;
  }
  throw new PlatformError('INVALID_CREDENTIALS');
}

const refused: readonly ErrorCode[] = ['INVALID_CREDENTIALS'];
