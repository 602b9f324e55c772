/**
 * Statements about the platform's own tables, written once for all dialects. Each dialect says how it spells the parts,
 * and has the few statements whose steps differ (`<family>/own-tables`).
 *
 * In a text `$1::uuid` is a parameter with its type, which dialects without types of parameters leave out.
 */

import type { Transaction } from '../database/database.ts';
import type { OwnSql } from '../database/own-statements.ts';
import type { RunTexts } from '../model/recompiler.ts';
import type { ChangeOrigin, LoggedChange } from '../system/log-changes.ts';
import { allOf, sqlTrue } from './fragment.ts';

/** Rows of a table, some of them joined to rows of others. */
export interface Rows {
  readonly target: string;
  readonly alias: string;
  /** Other tables and lists, and the predicate that joins them. */
  readonly joined?: { readonly from: string; readonly on: string };
  /** Default: all. */
  readonly where?: string;
}

/** Columns with the expressions that they are set to. */
type Assignments = Readonly<Record<string, string>>;

/** Rows to remove in small portions: they are found by `where`, those that are least `by` first. */
interface Purge {
  readonly table: string;
  readonly key: string;
  readonly where: string;
  readonly by: string;
  /** Number at once: a number or a parameter. */
  readonly limit: number | string;
}

type TimeUnit = 'second' | 'minute' | 'hour' | 'day';

/** The spelling of one dialect, for one place of the tables. */
export interface OwnSpelling {
  table(name: string): string;
  /** A parameter of a statement that is no script: `$1::uuid`. */
  parameter(typed: string): string;
  text(expression: string): string;
  /** A predicate, or a column that is true or false, as the text `true` or `false`; null where it is null. */
  flag(predicate: string): string;
  /** A parameter of the text `true` or `false`. */
  boolean(parameter: string): string;
  /** True if two values are the same, or both null. */
  same(left: string, right: string): string;
  /** The moment of the statement. */
  readonly now: string;
  /** Now and so much more, or less. */
  shifted(count: number, unit: TimeUnit): string;
  /** Now and an interval of milliseconds (`500 milliseconds`), which is a parameter. */
  after(parameter: string): string;
  /** An instant as milliseconds since 1970, as ISO 8601. */
  milliseconds(instant: string): string;
  iso(instant: string): string;
  /** Hash of a text. */
  sha256(parameter: string): string;
  /** Bytes as hexadecimal digits in lower case, and back. */
  hex(bytes: string): string;
  unhex(parameter: string): string;
  /** A JSON object of texts. */
  object(members: Assignments): string;
  /** Values of a column of all rows, as the text of an array. */
  array(expression: string): string;
  /** A key in a form that every step of a recursive query has. */
  key(expression: string): string;
  /** A text of a list or of JSON, to be compared with a column by its characters. */
  exactly(expression: string): string;
  /** FROM clause of a query without tables, with a leading space, where it needs one. */
  readonly fromNothing: string;
  /** The elements of a list parameter, of a type, as a table with the column `v`. */
  list(parameter: string, type: string, alias: string): string;
  /** The objects of a JSON array as a table; `columns` are their members, texts. */
  records(parameter: string, columns: readonly string[], alias: string): string;
  isAmong(value: string, parameter: string, type: string): string;
  /** Rows of a table by a column that is in a list parameter. Default: `id`, `$1`, of identifiers. */
  among(table: string, alias: string, column?: string, parameter?: string, type?: string): Rows;
  /** True if the address of a user is a parameter, in any spelling. */
  hasEmail(alias: string, parameter: string): string;
  /** Clause that locks rows, with a leading space: against every other lock, or none of those who refer to them. */
  lock(alias: string, strength?: 'UPDATE' | 'NO KEY UPDATE'): string;
  /** Texts that change and remove rows. */
  update(rows: Rows, assignments: Assignments): string;
  remove(rows: Rows): string;
  rows(sql: string): OwnSql;
  /** A statement that writes; it answers the number of the transaction, or nothing where it found no row. */
  write(sql: string): OwnSql;
  /** The same of two statements, the first of which may find none. */
  both(first: string, then: string): OwnSql;
  /** A write that answers a row for each row that it found: the number of the transaction, and these columns. */
  writeReturning(rows: Rows, columns: readonly string[], sql: string): OwnSql;
  /** An INSERT that answers the number of the transaction, or nothing where the key is taken. */
  insertOnce(into: string, key: string, values: string): OwnSql;
  /** Removes some rows, passing over those in use. */
  purge(purge: Purge): OwnSql;
  /** Takes the row of a queue that is due first, and makes it due later. Answers the transaction and the columns. */
  claimDue(table: string, alias: string, columns: readonly string[]): OwnSql;
  /** Waits until every other transaction that named the same text (a parameter or a literal) has ended. */
  turn(name?: string): OwnSql;
}

/** Everything about the tables of one place. */
export interface OwnTables extends OwnSpelling {
  readonly statements: OwnStatements;
}

export function fromParts({ target, joined, where = sqlTrue }: Rows): {
  readonly from: string;
  readonly where: string;
} {
  return { from: joined === undefined ? target : `${target} JOIN ${joined.from} ON ${joined.on}`, where };
}

/** FROM and WHERE of a query of rows, with a leading space; `more` is another predicate. */
export function fromRows(rows: Rows, more = sqlTrue): string {
  const { from, where } = fromParts(rows);
  const predicate = allOf([where, more]);
  return ` FROM ${from}${predicate === sqlTrue ? '' : ` WHERE ${predicate}`}`;
}

/** Rows of a table by others: `on` joins the two. */
export function rowsBeside(target: string, alias: string, { joined, where, ...others }: Rows, on: string): Rows {
  const from = joined === undefined ? others.target : `(${others.target} JOIN ${joined.from} ON ${joined.on})`;
  return { target, alias, joined: { from, on }, ...(where !== undefined && { where }) };
}

/** Columns of an account, of the tables `u` (users) and `r` (roles, which may be missing), as `readAccount` reads them. */
export function accountColumns({ text, flag }: Pick<OwnSpelling, 'text' | 'flag'>): string {
  const flags = ['r.admin_access', 'r.app_access', 'r.enforce_tfa'].map(flag).join(', ');
  const user = ['u.id', 'u.email', 'u.status', 'u.provider', 'u.security_version'].map(text).join(', ');
  return `${user}, ${flag('u.tfa_secret IS NOT NULL')},
  ${text('r.id')}, ${text('r.name')}, ${flags}, ${text('r.ip_access')}`;
}

/** The statements of sessions. Each answers at most one row of texts, the transaction's number first where it writes. */
export type SessionStatements = Readonly<Record<'begin' | 'rotate' | 'refuse', OwnSql>>;

/** The status of the users who may use each kind of token. */
export const mailedStatuses = { password_reset: 'active', invite: 'invited' } as const;

/** The kinds of tokens whose users get a password. */
export type MailedStatement = keyof typeof mailedStatuses;

/** The statements of mailed tokens. Each answers at most one row of texts, the transaction's number first where it writes. */
export interface MailedTokenStatements
  extends Readonly<Record<'requestReset' | 'meant' | 'invite' | 'role' | 'link', OwnSql>> {
  look(kind: MailedStatement): OwnSql;
  use(kind: MailedStatement): OwnSql;
}

/** The statements of second factors; $1 is the user. No row means that a condition does not hold. */
export type SecondFactorStatements = Readonly<Record<'offer' | 'enable' | 'use' | 'replaceCodes', OwnSql>>;

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
  /** Raises the version of the rules and the model, and notifies other processes on the channel $1, as the sender $2, where servers can. */
  readonly announce: OwnSql;
  /** Reads that version; no row before the first one. */
  readonly version: string;
  /** Tells what may be read, as `1` or `0`: metadata, and the ledger of migrations (null: absent); with its parameters. */
  readonly readable: readonly [sql: string, parameters: readonly (string | null)[]];
  /** True if an absent ledger may be there, hidden from the role. */
  mayBeHidden(run: RunTexts): Promise<boolean>;
  /** Tells if the tables of roles and rules exist and are readable. */
  arePermissionsReadable(run: RunTexts): Promise<boolean>;
  /** Reads name, checksum and text of every migration, by name; the ledger must be there. */
  readonly migrations: string;
  /** Reads name, statements as JSON and twice the number begun of files that run statement by statement; null: none do. */
  readonly underWay: string | null;
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

export interface OwnStatements {
  readonly sessions: SessionStatements;
  readonly mailedTokens: MailedTokenStatements;
  readonly secondFactors: SecondFactorStatements;
  /** Statements of counters of attempts, of which so many are removed at once. */
  counters(maxPurged: number): CounterStatements;
  /** Lets only the first of several servers begin, and makes a user ($1 address, $2 hash) when there is none. */
  readonly firstUser: { readonly lock: OwnSql; readonly insert: OwnSql };
  /** Makes a user: $1 address, $2 hash, $3 role; a row unless the address is taken. */
  readonly addUser: OwnSql;
  /** Takes the key $2 of the caller $1 for the request of the hash $3 for $4; a row unless another request has it. */
  readonly takeKey: OwnSql;
  /** Proves the transaction that has taken the key, where its number does not: $3 when that expires, as texts have it. */
  readonly proveKey: OwnSql;
  /** Makes a row of activity for each comment of $1: $2 to $5 user, address, agent and page of the request. */
  readonly recordComments: OwnSql;
  /** Finds the users $1 whose address the server cannot normalize, and writes its form. Null where it can. */
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
  readonly window: number;
  /** From so many attempts on, each one moves the end of the window to so many milliseconds later. */
  readonly last?: { readonly attempts: number; readonly window: number };
}

/** The statements: each takes the counters as `input` writes them, and answers the counts and the transaction's number. */
export interface CounterStatements extends Readonly<Record<'read' | 'count' | 'giveBack' | 'clear' | 'purge', OwnSql>> {
  input(counters: readonly Counter[]): string;
}
