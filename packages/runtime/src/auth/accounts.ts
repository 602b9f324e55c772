/** Everything of a server that knows users, over the platform's own tables. */
import type { Database } from '../database/database.ts';
import type { DueRows } from '../database/due-rows.ts';
import { identifiedRow, type OwnSql } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import type { DriftGuard } from '../drift-watch.ts';
import type { Environment } from '../environment.ts';
import type { CompiledApi } from '../language/index.ts';
import { createOutbox } from '../mail/outbox.ts';
import { loadMailTemplates } from '../mail/templates.ts';
import { createMailTransport } from '../mail/transport.ts';
import type { Audit } from '../operate/audit.ts';
import type { Log } from '../operate/log.ts';
import { createPasswords } from '../passwords/passwords.ts';
import { defaultReadLimits } from '../query/parse/parse-read.ts';
import { buildOpenScope } from '../sql/scope.ts';
import { type SystemPlace, systemPlaceOf } from '../system/place.ts';
import { createAccountFinder } from '../users/account.ts';
import { createHistory } from '../write/history/history.ts';
import { type Attempts, createAttempts, createCounters, type LimitReached } from './attempts.ts';
import { createIdentities, type Identities, type Identity } from './identities.ts';
import { createLetters } from './mailed-tokens/mailed-token.ts';
import {
  createRequestReset,
  createTokenUses,
  type RequestReset,
  type SetPassword,
} from './mailed-tokens/token-uses.ts';
import { SecondFactors } from './second-factor.ts';
import { createPairs, createSessions } from './sessions/sessions.ts';
import { createTokens } from './sessions/tokens.ts';
import { createAccountSettings, type ReadAccountSettings } from './settings.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { type CreateUser, createRegistration } from './sso/registration.ts';
import { createSingleSignOn, type SingleSignOn } from './sso/single-sign-on.ts';
import { createUseState } from './sso/state.ts';
import { createUserHistory } from './user-history.ts';

/** Users of a server, whose requests are described by `T`. */
export interface Accounts<T> {
  readonly identities: Identities<T>;
  readonly signIn: SignIn;
  /** Ways of signing in elsewhere, by the names of their providers. */
  readonly singleSignOn: ReadonlyMap<string, SingleSignOn>;
  readonly maintenance: Maintenance;
  readonly settings: ReadAccountSettings;
  readonly attempts: Attempts;
  readonly requestReset: RequestReset;
  readonly setPassword: SetPassword;
  readonly secondFactors: SecondFactors;
  readonly outbox: DueRows;
}

export interface MailFolders {
  /** Folder of the mail when no mail server is configured. */
  readonly folder: string;
  /** Templates that replace the platform's own of the same name; null: none. */
  readonly templates: string | null;
}

interface AccountsOptions<T> {
  readonly api: CompiledApi;
  readonly database: Database;
  readonly environment: Environment;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly driftGuard: DriftGuard;
  readonly mail: MailFolders;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly audit: Audit;
  /** Public address of the server, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly createUser: CreateUser;
  readonly describe: (identity: Identity) => T;
  /** Called with each user whose sessions or credentials have changed, for other processes. */
  readonly forgotten: (user: string) => void;
}

function observedIdentities<T>(identities: Identities<T>, forgotten: (user: string) => void): Identities<T> {
  return {
    ...identities,
    forget(user) {
      identities.forget(user);
      forgotten(user);
    },
  };
}

/** Makes them; null where the platform's own tables are not installed. Throws when they are and there is no SECRET. */
export function createAccounts<T>(options: AccountsOptions<T>): Accounts<T> | null {
  const { api, database, environment, driftGuard, describe, audit } = options;
  const location = systemPlaceOf(api);
  if (location === null) return null;
  const { auth, mail } = environment;
  if (auth.secret === null) throw new Error('SECRET is required where there are users.');
  const tokens = createTokens(auth.secret, { previous: auth.previousSecret });
  const finder = createAccountFinder(database, location);
  const maintenance = createMaintenance(database, location);
  const settings = createAccountSettings(database, location);
  const attempts = createAttempts(auth.limits, createCounters(database, location), settings, auditLimit(audit));
  const { recordActivity } = maintenance;
  const identities = createIdentities({ tokens, finder, attempts, describe, recordActivity });
  const sessions = createSessions(location, auth);
  const makePair = createPairs(tokens, auth.accessTokenTtl);
  const keepHistory = createUserHistory(createHistory(api, buildOpenScope(api), defaultReadLimits), driftGuard);
  const parts = {
    database,
    place: location,
    finder,
    tokens,
    identities: observedIdentities(identities, options.forgotten),
    sessions,
    settings,
    attempts,
    makePair,
    keepHistory,
    audit,
  };
  const shared = { ...parts, passwords: createPasswords() };
  const secondFactors = new SecondFactors(shared);
  const signIn = createSignIn({
    ...shared,
    checkOtp: (transaction, { account, tfaSecret }, otp) =>
      secondFactors.use(transaction, { id: account.id, secret: tfaSecret ?? '' }, otp),
    environment: auth,
  });
  const { setPassword, linkInvited } = createTokenUses({ ...shared, environment: auth });
  const singleSignOn = createSingleSignOn(auth.providers, {
    ...parts,
    useState: createUseState(database, location),
    findOrCreate: createRegistration(finder, options.createUser, linkInvited),
    log: options.log,
    stallTime: auth.loginStallTime,
    publicUrl: options.publicUrl,
  });
  return {
    identities,
    signIn,
    singleSignOn,
    maintenance,
    settings,
    attempts,
    secondFactors,
    requestReset: createRequestReset({ ...shared, environment: mail.reset, disableDefault: auth.disableDefault }),
    setPassword,
    outbox: createMail(options, shared),
  };
}

function auditLimit(audit: Audit): LimitReached {
  return (limit, { email: name, client = '', user }) => audit('limit-reached', { ip: client }, { limit, name, user });
}

/** The outbox with its way out. Throws `TemplateError` for templates that cannot be used. */
function createMail<T>(
  { environment, mail: { folder, templates }, log, publicUrl, database }: AccountsOptions<T>,
  {
    place: location,
    tokens,
    settings,
  }: Pick<ConstructorParameters<typeof SecondFactors>[0], 'place' | 'settings'> & {
    readonly tokens: ReturnType<typeof createTokens>;
  },
): DueRows {
  const transport = createMailTransport(environment.mail, folder, log);
  const write = loadMailTemplates(templates);
  const deliver = createLetters({ tokens, settings, write, transport, environment: environment.mail, publicUrl });
  return createOutbox({ database, place: location, deliver, log, closed: transport.close });
}

/** Work in the background of requests; a failure is tried again on the next occasion. */
type Maintenance = ReturnType<typeof createMaintenance>;

/** A user is noted once a minute, and at most so many are remembered to have been. */
const noteEveryMs = 60_000;
const maxNoted = 10_000;
/** Interval at which ended sessions are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 600_000;
const maxPurged = 1_000;

function createMaintenance(database: Pick<Database, 'transaction'>, location: SystemPlace) {
  const { table, now, shifted, purge, update, write } = ownTables(location);
  const absent = `u.id = $1::uuid AND (u.last_access IS NULL OR u.last_access < ${shifted(-1, 'minute')})`;
  const user = { target: `${table('platform_users')} AS u`, alias: 'u', where: absent };
  const noteActivity = write(update(user, { last_access: now }));
  const purgeEnded = purge({
    ...{ table: table('platform_sessions'), key: 'id', by: 'expires_at', limit: maxPurged },
    where: `expires_at < ${shifted(-7, 'day')}`,
  });
  const noted = new Map<string, number>();
  const running = new Set<Promise<unknown>>();
  let swept = performance.now();

  function run(text: OwnSql, values: readonly string[]): void {
    const work = database
      .transaction(async (transaction) => {
        await identifiedRow(transaction, text, values);
        return { value: undefined };
      })
      .catch(() => undefined)
      .finally(() => running.delete(work));
    running.add(work);
  }

  return {
    /** A user was here. */
    recordActivity(user: string): void {
      const now = performance.now();
      if (now - (noted.get(user) ?? Number.NEGATIVE_INFINITY) >= noteEveryMs) {
        noted.delete(user);
        noted.set(user, now);
        const [oldest] = noted.keys();
        if (noted.size > maxNoted && oldest !== undefined) noted.delete(oldest);
        run(noteActivity, [user]);
      }
      if (now - swept >= purgeEveryMs) {
        swept = now;
        run(purgeEnded, []);
      }
    },
    /** Resolves when nothing is under way. */
    async settled(): Promise<void> {
      await Promise.allSettled(running);
    },
  };
}
