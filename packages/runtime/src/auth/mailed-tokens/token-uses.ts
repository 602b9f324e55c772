/** Mailed tokens that are used: for a new password, or for an invited user of a provider. */
import type { Database } from '../../database/database.ts';
import { firstRow, identifiedRow, type OwnSql } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import type { AuthEnvironment } from '../../environment/auth.ts';
import type { LinkEnvironment } from '../../environment/mail.ts';
import { clientOf } from '../../environment/networks.ts';
import { PlatformError } from '../../errors.ts';
import type { Audit } from '../../operate/audit.ts';
import { refusePasswords } from '../../passwords/password-policy.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { SystemPlace } from '../../system/place.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import { type Attempts, countFailures } from '../attempts.ts';
import type { Identities } from '../identities.ts';
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

/** Gives the user of an invitation an identity at a provider, and no password. Rejects with INVALID_TOKEN or TOKEN_EXPIRED. */
export type LinkInvited = (
  token: string,
  identity: { readonly provider: string; readonly identifier: string },
  sender: RequestOrigin,
) => Promise<void>;

interface TokenUsesOptions {
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

interface TokenUses {
  readonly setPassword: SetPassword;
  readonly linkInvited: LinkInvited;
}

export function createTokenUses(options: TokenUsesOptions): TokenUses {
  const { tokens, attempts, passwords, settings, audit } = options;
  const { passwordMinLength: minLength, disableDefault } = options.environment;
  const texts = ownTables(options.place).statements.mailedTokens;
  const uses = { invite: texts.use('invite'), password_reset: texts.use('password_reset') };
  const { check, use } = createSpending(options);

  async function set(kind: MailedKind, token: string, password: string, sender: RequestOrigin): Promise<void> {
    // Mailed before sign-in by password was switched off, or by another server.
    if (disableDefault && kind === 'password_reset') throw new PlatformError('INVALID_TOKEN');
    if (disableDefault) throw new PlatformError('UNPROCESSABLE_ENTITY', acceptedElsewhere);
    const { user, key, proof } = readMailed(tokens, kind, token);
    await check(kind, [user, key, proof]);
    const { passwordPolicy: pattern } = await settings();
    const client = clientOf(sender);
    const refusal = await refusePasswords([password], { minLength, pattern }, client);
    if (refusal !== undefined) throw refusal;
    const encoded = await passwords.hash(password, client);
    await use(uses[kind], [user, key, proof, encoded], { user, by: user, sender });
    audit('password-changed', sender, { user, by: user, action: kind });
  }

  return {
    setPassword(kind, token, password, sender) {
      const attempt = attempts.token(kind === 'invite' ? 'invite_accept' : 'reset', clientOf(sender));
      return countFailures(attempt, ['INVALID_TOKEN', 'TOKEN_EXPIRED'], () => set(kind, token, password, sender));
    },
    async linkInvited(token, { provider, identifier }, sender) {
      const { user, key, proof } = readMailed(tokens, 'invite', token);
      await check('invite', [user, key, proof]);
      await use(texts.link, [user, key, proof, provider, identifier], { user, by: user, sender });
      audit('password-changed', sender, { user, by: user, provider, action: 'invite' });
    },
  };
}

/** Makes what looks at a token, and what uses it up and changes its user. */
function createSpending({ database, place: location, keepHistory, sessions, identities }: TokenUsesOptions) {
  const { mailedTokens } = ownTables(location).statements;
  const looks = { invite: mailedTokens.look('invite'), password_reset: mailedTokens.look('password_reset') };
  return {
    /** Tells an expired token from one that counts no more, before a password is hashed. */
    async check(kind: MailedKind, values: readonly string[]): Promise<void> {
      const row = await database.transaction(async (transaction) => ({
        value: await firstRow(transaction, looks[kind], values),
      }));
      if (row === undefined) throw new PlatformError('INVALID_TOKEN');
      if (row[1] === 'true') throw new PlatformError('TOKEN_EXPIRED');
    },
    async use(statement: OwnSql, values: readonly string[], changing: Changing): Promise<void> {
      await database.transaction(async (transaction) => {
        await keepHistory(transaction, changing, async () => {
          const used = await identifiedRow(transaction, statement, values);
          if (used === undefined) throw new PlatformError('INVALID_TOKEN');
          await sessions.endAll(transaction, changing.user);
          return true;
        });
        return { value: undefined };
      });
      identities.forget(changing.user);
    },
  };
}

const acceptedElsewhere =
  'There are no passwords here: accept the invitation by signing in at a provider, with the token as "invitation".';

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
