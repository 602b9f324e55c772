/** Statements about the platform's own tables whose steps differ between dialects. */
import type { Transaction } from '../database/database.ts';
import type { OwnSql } from '../database/own-statements/script.ts';
import type { RunTexts } from '../model/recompiler.ts';
import type { ChangeOrigin, LoggedChange } from '../system/log-changes.ts';

/** The statements of sessions. Each answers at most one row of texts, the transaction's number first where it writes. */
export type SessionStatements = Readonly<
  Record<'begin' | 'rotate' | 'refuse' | 'end' | 'outdate' | 'endAll' | 'confirm' | 'purge' | 'touch', OwnSql>
>;

/** The status of the users who may use each kind of token. */
export const mailedStatuses = { password_reset: 'active', invite: 'invited' } as const;

/** The kinds of tokens whose users get a password. */
export type MailedStatement = keyof typeof mailedStatuses;

/** The statements of mailed tokens. Each answers at most one row of texts, the transaction's number first where it writes. */
export interface MailedTokenStatements
  extends Readonly<Record<'requestReset' | 'meant' | 'invite' | 'role' | 'purge', OwnSql>> {
  look(kind: MailedStatement): OwnSql;
  use(kind: MailedStatement): OwnSql;
}

/**
 * The statements of second factors; $1 is the user everywhere. Each answers at most one row of texts, the transaction's
 * number first; no row means that its condition does not hold.
 */
export type SecondFactorStatements = Readonly<
  Record<
    | ('offer' | 'pending' | 'enable' | 'use' | 'useCode' | 'disable')
    | ('forgetPending' | 'hold' | 'replaceCodes' | 'exists' | 'forgetCodes'),
    OwnSql
  >
>;

/** Logs changes, in their order. Returns a promise where that takes several statements: COMMIT must wait for it. */
type LogChanges = (
  transaction: Transaction,
  origin: ChangeOrigin,
  changes: readonly LoggedChange[],
) => Promise<void> | undefined;

/** Parts of the model that are read: roles and rules, metadata, and with them the ledger of migrations. */
export interface ModelParts {
  readonly permissions: boolean;
  readonly model: boolean;
  readonly ledger: boolean;
}

/** Statements about what an API is compiled of. Texts take no parameters. */
export interface ModelTables {
  /** Takes the lock of a name until the end of the transaction. */
  readonly lock: OwnSql;
  /** Raises the version of the rules and the model, and notifies other processes on the channel $1 where servers can. */
  readonly announce: OwnSql;
  /** Reads that version; no row before the first one. */
  readonly version: string;
  /** Tells what may be read, as `1` or `0`: metadata, and the ledger of migrations; with its parameters. */
  readonly readable: readonly [sql: string, parameters: readonly (string | null)[]];
  /** Tells if the tables of roles and rules exist and are readable. */
  arePermissionsReadable(run: RunTexts): Promise<boolean>;
  /** Reads name, checksum and text of every migration, by name; the ledger must be there. */
  readonly migrations: string;
  /** Reads roles by name: key, name, description, and whether they have admin and app access as `1` or `0`. */
  readonly roles: string;
  /**
   * Reads rules in their order: key, key of the role, collection and action. The three parts that are JSON and the
   * fields as csv follow; all are texts or null.
   */
  readonly rules: string;
  /** Reads what the digest is made of: rows of metadata as JSON, each with its kind, names and checksums of migrations. */
  rows(hasLedger: boolean): string;
  /** Gives one text, which is another one whenever one of the rows is. */
  mark(parts: ModelParts): string;
}

/** The statements by what they are about. */
export interface OwnStatements {
  readonly sessions: SessionStatements;
  readonly mailedTokens: MailedTokenStatements;
  readonly secondFactors: SecondFactorStatements;
  /** Those of counters of attempts, of which so many are removed at once. */
  counters(maxPurged: number): CounterStatements;
  /** Lets only the first of several servers begin, and makes a user ($1 address, $2 hash) when there is none. */
  readonly firstUser: { readonly lock: OwnSql; readonly insert: OwnSql };
  /** Makes a user: $1 address, $2 hash, $3 role; a row unless the address is taken. */
  readonly addUser: OwnSql;
  /**
   * Takes the key $2 of the caller $1 for the request of the hash $3, whose answer is kept for $4. A row unless another
   * request has taken it.
   */
  readonly takeKey: OwnSql;
  /** Proves the transaction that has taken the key, where its number does not: $3 when that expires, as texts have it. */
  readonly proveKey: OwnSql;
  /** Makes a row of activity for each comment of $1: $2 to $5 user, address, agent and page of the request. */
  readonly recordComments: OwnSql;
  /**
   * Finds those of the users $1 whose address the server cannot normalize, with it, and writes its form of comparison.
   * Null where it can normalize all.
   */
  readonly foreignEmails: { readonly find: OwnSql; readonly write: OwnSql } | null;
  readonly log: LogChanges;
  /** Gives a row where activity takes the actions `archive` and `call`. */
  readonly takesActions: OwnSql;
  readonly model: ModelTables;
}

/** Counter of attempts for one purpose, on an account (named by its e-mail address), from a client, or both. */
export interface Counter {
  readonly purpose: string;
  /** As it was sent; spellings of one address are one account. */
  readonly email?: string;
  /** Key of a user; instead of an e-mail address. */
  readonly user?: string;
  readonly client?: string;
}

/** A counter that goes up. */
export interface Counting extends Counter {
  /** Milliseconds. */
  readonly window: number;
  /** From so many attempts on, each one moves the end of the window to so many milliseconds later. */
  readonly last?: { readonly attempts: number; readonly window: number };
}

/** The statements: each takes the counters as `input` writes them, and answers the counts and the transaction's number. */
export interface CounterStatements extends Readonly<Record<'read' | 'count' | 'giveBack' | 'clear' | 'purge', OwnSql>> {
  input(counters: readonly Counter[]): string;
}
