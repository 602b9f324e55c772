/** Signing in at a provider: the way there, and the way back. Source: API specification, section 2.8. */
import type { Database } from '../../database/database.ts';
import { firstRow, type OwnSql } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import { clientOf } from '../../environment/networks.ts';
import type { ProviderEnvironment } from '../../environment/providers.ts';
import { type ErrorCode, PlatformError } from '../../errors.ts';
import { allowedUrl } from '../../mail/allowed-url.ts';
import type { Audit } from '../../operate/audit.ts';
import { describeCause, type Log } from '../../operate/log.ts';
import type { SystemPlace } from '../../system/place.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import { type Attempts, countFailures } from '../attempts.ts';
import { checkAddress } from '../ip-access.ts';
import { readMailed } from '../mailed-tokens/mailed-token.ts';
import { auditRefusal, stallFailure } from '../refusals.ts';
import { type MakePair, makeRefreshToken, type Sessions, type TokenPair } from '../sessions/sessions.ts';
import type { Tokens } from '../sessions/tokens.ts';
import { createProvider, type Provider } from './provider.ts';
import { type FindOrCreate, readProfile } from './registration.ts';
import { type HeldState, isStateOf, makeState, readState, secretsOf, signState, type UseState } from './state.ts';

/** Start of a sign-in at a provider. `cookie` is held until the browser is back. */
type Departure =
  | { readonly location: URL; readonly cookie: string }
  /** The provider cannot be asked, which the page is told that was to come afterwards. */
  | { readonly redirect: URL; readonly error: PlatformError };

/** Return of a browser from a provider. */
export interface Arrival {
  /** Address that the browser goes on to; null: it is answered. */
  readonly redirect: URL | null;
  /** True if the cookie is of no more use. A cookie of another sign-in, begun in another tab, still is. */
  readonly spent: boolean;
  readonly outcome: { readonly pair: TokenPair } | { readonly error: PlatformError };
}

export interface SingleSignOn {
  readonly environment: ProviderEnvironment;
  /**
   * Rejects with INVALID_QUERY where `redirect` is not allowed. Without one also with SERVICE_UNAVAILABLE, and for an
   * `invitation`, a token, that counts no more.
   */
  depart(redirect: string | null, invitation: string | null): Promise<Departure>;
  /** Never rejects because of the parameters. */
  arrive(brought: URLSearchParams, cookie: string | null, sender: RequestOrigin): Promise<Arrival>;
}

interface SingleSignOnOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly place: SystemPlace;
  readonly tokens: Tokens;
  readonly sessions: Pick<Sessions, 'begin'>;
  readonly attempts: Pick<Attempts, 'token'>;
  readonly makePair: MakePair;
  readonly useState: UseState;
  readonly findOrCreate: FindOrCreate;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly stallTime: number;
  /** Public address of the server, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly audit: Audit;
}

/** Characters of an address that still fits into a cookie. */
const longestRedirect = 2_000;

export function createSingleSignOn(
  providers: ReadonlyMap<string, ProviderEnvironment>,
  options: SingleSignOnOptions,
): ReadonlyMap<string, SingleSignOn> {
  return new Map([...providers].map(([name, environment]) => [name, new ProviderSignOn(environment, options)]));
}

class ProviderSignOn implements SingleSignOn {
  readonly environment: ProviderEnvironment;
  readonly #provider: Provider;
  readonly #options: SingleSignOnOptions;
  readonly #keepSql: OwnSql;

  constructor(environment: ProviderEnvironment, options: SingleSignOnOptions) {
    const { table, same, write } = ownTables(options.place);
    this.environment = environment;
    this.#provider = createProvider(environment);
    this.#options = options;
    this.#keepSql = write(`UPDATE ${table('platform_users')} SET auth_data = $2::pg_catalog.jsonb
WHERE id = $1::uuid AND NOT (${same('auth_data', '$2::pg_catalog.jsonb')})`);
  }

  async depart(requested: string | null, invitation: string | null): Promise<Departure> {
    const { name, redirects } = this.environment;
    const redirect = requested === null ? null : allowed(requested, redirects);
    if (requested !== null && redirect === null) {
      const list = `AUTH_${name.toUpperCase()}_REDIRECT_ALLOW_LIST`;
      throw new PlatformError('INVALID_QUERY', `"redirect" is not allowed by ${list}.`);
    }
    const state = makeState(redirect?.href ?? null, invitation);
    try {
      if (invitation !== null) readMailed(this.#options.tokens, 'invite', invitation);
      const location = await this.#provider.authorize({ secrets: secretsOf(state), redirectUri: this.#redirectUri() });
      return { location, cookie: signState(this.#options.tokens, name, state) };
    } catch (error) {
      if (redirect === null || !(error instanceof PlatformError)) throw error;
      // The provider's failures are for operators; an error of the request may quote it.
      if (error.status >= 500) this.#report(error);
      return { redirect, error };
    }
  }

  async arrive(brought: URLSearchParams, cookie: string | null, sender: RequestOrigin): Promise<Arrival> {
    const { tokens, stallTime, attempts, audit } = this.#options;
    const { name, redirects } = this.environment;
    const held = cookie === null ? null : readState(tokens, name, cookie);
    const redirect = held === null || held.redirect === null ? null : allowed(held.redirect, redirects);
    const spent = cookie !== null && (held === null || held.expired || isStateOf(held, stateIn(brought)));
    try {
      const pair = await stallFailure(stallTime, () =>
        auditRefusal(audit, sender, { provider: name }, () =>
          countFailures(attempts.token('sso', clientOf(sender)), wrong, () => this.#signIn(held, brought, sender)),
        ),
      );
      return { redirect, spent, outcome: { pair } };
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code === 'INTERNAL_SERVER_ERROR') throw error;
      return { redirect, spent, outcome: { error } };
    }
  }

  async #signIn(held: HeldState | null, brought: URLSearchParams, sender: RequestOrigin): Promise<TokenPair> {
    const { database, sessions, makePair, useState, findOrCreate, audit } = this.#options;
    try {
      if (held === null) throw lost('no cookie of a sign-in that began at the host of PUBLIC_URL');
      if (!isStateOf(held, stateIn(brought))) throw lost('the cookie of another sign-in');
      if (held.expired) throw new PlatformError('TOKEN_EXPIRED');
      if (!(await useState(held.key))) throw lost('the cookie of a sign-in that is over');
      const claims = await this.#provider.profile(
        { secrets: secretsOf(held), redirectUri: this.#redirectUri() },
        brought,
      );
      const profile = readProfile(claims, this.environment.keys);
      const account = await findOrCreate(this.environment, profile, sender, held.invitation);
      if (account.status !== 'active') throw new PlatformError('INVALID_CREDENTIALS');
      checkAddress(account, sender, audit);
      const refresh = makeRefreshToken();
      const session = await database.transaction(async (transaction) => {
        await firstRow(transaction, this.#keepSql, [account.id, profile.data]);
        const begun = await sessions.begin(transaction, { account, sender, refresh, rehashed: null });
        // The user was changed since it was looked up.
        if (begun === null) throw new PlatformError('INVALID_CREDENTIALS');
        return { value: begun };
      });
      audit('sign-in', sender, { user: account.id, provider: this.environment.name });
      return makePair(account, session, refresh);
    } catch (error) {
      this.#report(error);
      throw error;
    }
  }

  /** Logs a failure: the client gets only a code, but the operator may have to set something right. */
  #report(error: unknown): void {
    if (!(error instanceof PlatformError)) return;
    const details = { provider: this.environment.name, code: error.code, cause: describeCause(error.cause ?? error) };
    const { log } = this.#options;
    if (error.status >= 500) log.warn(details, 'A provider could not be asked.');
    else log.info(details, 'A user from a provider was not signed in.');
  }

  #redirectUri(): string {
    return `${this.#options.publicUrl()}/auth/login/${this.environment.name}/callback`;
  }
}

/** Error codes that count as a failed attempt. */
const wrong: readonly ErrorCode[] = ['INVALID_TOKEN', 'INVALID_CREDENTIALS', 'TOKEN_EXPIRED'];

/** Error for a return that belongs to no sign-in; the log has what the browser brought. */
function lost(brought: string): PlatformError {
  return new PlatformError('INVALID_TOKEN', undefined, {}, { cause: new Error(`The browser brought ${brought}.`) });
}

function allowed(text: string, redirects: readonly string[]): URL | null {
  return text.length > longestRedirect ? null : allowedUrl(text, redirects);
}

/** The state that was brought; none where there are two. */
function stateIn(brought: URLSearchParams): string | null {
  const [state = null, ...more] = brought.getAll('state');
  return more.length > 0 ? null : state;
}
