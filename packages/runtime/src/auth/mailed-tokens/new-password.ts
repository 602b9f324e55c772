/** New passwords by mailed tokens: after an invitation, and for who has forgotten the old one. */
import type { Database } from '../../database/database.ts';
import { firstRow, identifiedRow } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import type { AuthEnvironment } from '../../environment/auth.ts';
import type { LinkEnvironment } from '../../environment/mail.ts';
import { PlatformError } from '../../errors.ts';
import type { Audit } from '../../operate/audit.ts';
import { refusePassword } from '../../passwords/password-policy.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { SystemPlace } from '../../system/place.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import type { Attempts } from '../attempts.ts';
import type { Identities } from '../identities.ts';
import { clientOf } from '../ip-access.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Tokens } from '../sessions/tokens.ts';
import type { ReadAccountSettings } from '../settings.ts';
import type { Changing, KeepUserHistory } from '../user-history.ts';
import { createTokenPurge, type MailedKind, makeMailedKey, readMailed } from './mailed-token.ts';

/**
 * Gives the user of a token a password, and ends all sessions of that user. Rejects with INVALID_TOKEN, TOKEN_EXPIRED,
 * FAILED_VALIDATION (the token stays usable) or REQUESTS_EXCEEDED. Attempts are counted against the address of the sender.
 */
export type SetPassword = (kind: MailedKind, token: string, password: string, sender: RequestOrigin) => Promise<void>;

interface SetPasswordOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly place: SystemPlace;
  readonly tokens: Tokens;
  readonly attempts: Pick<Attempts, 'token'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly sessions: Pick<Sessions, 'endAll'>;
  readonly identities: Pick<Identities<unknown>, 'forget'>;
  readonly settings: ReadAccountSettings;
  readonly keepHistory: KeepUserHistory;
  readonly environment: Pick<AuthEnvironment, 'passwordMinLength' | 'disableDefault'>;
  readonly audit: Audit;
}

export function createSetPassword(options: SetPasswordOptions): SetPassword {
  const { database, tokens, attempts, passwords, sessions, identities, settings, keepHistory, audit } = options;
  const { passwordMinLength: minLength, disableDefault } = options.environment;
  const texts = ownTables(options.place).statements.mailedTokens;
  const statements = {
    invite: { look: texts.look('invite'), use: texts.use('invite') },
    password_reset: { look: texts.look('password_reset'), use: texts.use('password_reset') },
  };

  /** A token that is no good must not cost a hash. */
  async function check(kind: MailedKind, values: readonly string[]): Promise<void> {
    const row = await database.transaction(async (transaction) => ({
      value: await firstRow(transaction, statements[kind].look, values),
    }));
    if (row === undefined) throw new PlatformError('INVALID_TOKEN');
    if (row[1] === 'true') throw new PlatformError('TOKEN_EXPIRED');
  }

  async function use(kind: MailedKind, values: readonly string[], changing: Changing): Promise<void> {
    await database.transaction(async (transaction) => {
      await keepHistory(transaction, changing, async () => {
        const used = await identifiedRow(transaction, statements[kind].use, values);
        if (used === undefined) throw new PlatformError('INVALID_TOKEN');
        await sessions.endAll(transaction, changing.user);
        return true;
      });
      return { value: undefined };
    });
  }

  async function set(kind: MailedKind, token: string, password: string, sender: RequestOrigin): Promise<void> {
    // Mailed before sign-in by password was switched off, or by another server.
    if (disableDefault && kind === 'password_reset') throw new PlatformError('INVALID_TOKEN');
    const { user, key, proof } = readMailed(tokens, kind, token);
    await check(kind, [user, key, proof]);
    const { passwordPolicy: pattern } = await settings();
    const refusal = refusePassword(password, { minLength, pattern });
    if (refusal !== undefined) throw refusal;
    const encoded = await passwords.hash(password);
    await use(kind, [user, key, proof, encoded], { user, by: user, sender });
    identities.forget(user);
    audit('password-changed', sender, { user, by: user, action: kind });
  }

  return async function setPassword(kind, token, password, sender) {
    const attempt = attempts.token(kind === 'invite' ? 'invite_accept' : 'reset', clientOf(sender));
    await attempt.begin();
    try {
      await set(kind, token, password, sender);
    } catch (error) {
      if (error instanceof PlatformError && isWrong(error)) await attempt.failed();
      throw error;
    }
  };
}

function isWrong({ code }: PlatformError): boolean {
  return code === 'INVALID_TOKEN' || code === 'TOKEN_EXPIRED';
}

/**
 * Puts a mail down for the user with that address, if there is one who may have it: one statement, whether or not. `url` is
 * where its link leads, null for the page of the platform. Rejects with REQUESTS_EXCEEDED.
 */
export type RequestReset = (email: string, url: URL | null, client: string) => Promise<void>;

interface RequestResetOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly place: SystemPlace;
  readonly attempts: Pick<Attempts, 'mail'>;
  readonly environment: LinkEnvironment;
  /** True where users cannot sign in by password: no mail is sent, and the answer tells nothing of it. */
  readonly disableDefault: boolean;
}

export function createRequestReset({
  database,
  place: location,
  attempts,
  environment,
  disableDefault,
}: RequestResetOptions): RequestReset {
  const { statements } = ownTables(location);
  const ttl = `${environment.ttl} milliseconds`;
  const purgeOld = createTokenPurge(location);
  return async function requestReset(email, url, client) {
    await attempts.mail('reset', [email], client);
    if (disableDefault) return;
    const values = [email, makeMailedKey(), ttl, url?.href ?? null];
    await database.transaction(async (transaction) => {
      await identifiedRow(transaction, statements.mailedTokens.requestReset, values);
      await purgeOld(transaction);
      return { value: undefined };
    });
  };
}
