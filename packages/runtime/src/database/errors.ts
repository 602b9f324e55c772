/**
 * Errors of the database and of the connection to it, as errors of the API.
 *
 * Texts of the driver never reach a message: the original error is kept as the cause, for the log. Source: reliability
 * notes, section 4; API specification, section 9; "SQLSTATE" of the SQL standard.
 */
import { ClientGoneError, PlatformError } from '../errors.ts';
import { tableId } from '../language/index.ts';
import { type RunsAs, rowContextOf } from './row-context.ts';

export class ServerError extends Error {
  override readonly name = 'ServerError';
  /** Five characters; `XX000` when the server sent none. */
  readonly sqlstate: string;
  /** True when the server closes the connection after it. */
  readonly fatal: boolean;
  /** The routine of the server that failed, where it says so. */
  readonly routine: string | undefined;
  /** True if the fault is in SQL that a function of the database runs. */
  readonly isWithin: boolean;
  /** Objects that the error concerns, as far as the server names them; names of the database, never to be answered. */
  readonly about: {
    readonly schema?: string | undefined;
    readonly table?: string | undefined;
    readonly column?: string | undefined;
    readonly constraint?: string | undefined;
    /** Schema and name of the domain that does not take a value. */
    readonly domain?: string | undefined;
    /** Values of the key that is taken, or that leads nowhere, with commas between them. */
    readonly values?: string | undefined;
  };

  constructor(fields: ReadonlyMap<string, string>) {
    super(fields.get('M') ?? 'The database reported an error.');
    this.sqlstate = fields.get('C') ?? 'XX000';
    const severity = fields.get('V') ?? fields.get('S');
    this.fatal = severity === 'FATAL' || severity === 'PANIC';
    this.routine = fields.get('R');
    this.isWithin = fields.has('q');
    this.about = {
      schema: fields.get('s'),
      table: fields.get('t'),
      column: fields.get('c'),
      constraint: fields.get('n'),
      domain: fields.has('d') ? tableId(fields.get('s') ?? '', fields.get('d') ?? '') : undefined,
      values: /\)=\((.*)\)/s.exec(fields.get('D') ?? '')?.[1],
    };
  }
}

/** A statement that ran for as long as it may (57014, query_canceled). */
export function statementTimeout(): ServerError {
  return new ServerError(
    new Map([
      ['C', '57014'],
      ['M', 'The statement took too long.'],
    ]),
  );
}

/** True if a statement was ended because it took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof ServerError && error.sqlstate === '57014';
}

/** The connection was lost, closed, or never made. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError';
}

/** A read queued after a slow one on its connection, which has not begun: its caller may let it wait elsewhere. */
export class StalledError extends ConnectionError {
  override readonly name = 'StalledError';
}

/** COMMIT got no answer, and nothing tells if it was done: it must not be repeated. */
export class UnknownOutcomeError extends ConnectionError {
  override readonly name = 'UnknownOutcomeError';

  constructor() {
    super('The outcome of a COMMIT is unknown.');
  }
}

/** The connection stands but does not bear the fast lane. */
export class UnfitError extends ConnectionError {
  override readonly name = 'UnfitError';
}

/** A pooler hands each statement to another session, so that settings of a caller would be those of others. */
export class PoolingError extends Error {
  override readonly name = 'PoolingError';
  readonly hint = 'Let DATABASE_URL lead to the database itself, or to a pool by transactions.';
}

/** Roles that do not allow callers to be passed on, so that a server does not start. */
export class RowSecurityError extends Error {
  override readonly name = 'RowSecurityError';
  readonly hint: string;

  constructor(findings: readonly { readonly message: string; readonly advice: string }[]) {
    super(findings.map(({ message }) => message).join('\n'));
    this.hint = findings.map(({ advice }) => advice).join('\n');
  }
}

/** The settings of a caller could not be applied, so that nothing ran under them. */
export class RowContextError extends Error {
  override readonly name = 'RowContextError';

  constructor(cause: unknown) {
    super('The settings of the caller could not be applied.', { cause });
  }
}

/** The answer to a SQLSTATE, by its whole code or by its class (the first two characters). */
type Answer =
  | { readonly code: 'SERVICE_UNAVAILABLE' | 'INVALID_QUERY' | 'INTERNAL_SERVER_ERROR' }
  | { readonly code: 'FAILED_VALIDATION'; readonly type: string };

const unavailable: Answer = { code: 'SERVICE_UNAVAILABLE' };
const badValue: Answer = { code: 'INVALID_QUERY' };
const bug: Answer = { code: 'INTERNAL_SERVER_ERROR' };
const invalid = (type: string): Answer => ({ code: 'FAILED_VALIDATION', type });

const answers: ReadonlyMap<string, Answer> = new Map([
  // The caller's values, which the decoder should have refused already.
  ...['22003', '22007', '22008', '22015', '22P02', '22021', '22P05', '22001', '2201B', '54000'].map(
    (code) => [code, badValue] as const,
  ),
  // Constraints.
  ['23505', invalid('unique')],
  ['23503', invalid('foreign_key')],
  ['23001', invalid('foreign_key')],
  ['23502', invalid('required')],
  ['23514', invalid('check')],
  ['23P01', invalid('check')],
  // The database is no longer the one that was compiled for, grants were taken away, or a policy leads back to itself.
  ...['42703', '42P01', '42804', '42501', '42704', '42883', '42P02', '42P17'].map(
    (code) => [code, unavailable] as const,
  ),
  // Syntax errors and the like in our own SQL, and errors of a driver without an SQLSTATE.
  ['42', bug],
  ['HY', bug],
  // Functions of the database's owner that raise, in a view for example: not the caller's fault and not ours.
  ['22', unavailable],
  ['23', unavailable],
  ['38', unavailable],
  ['P0', unavailable],
]);

/** Throws where the reader of a stream has left, or was given up. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortError(signal);
}

export function abortError({ reason }: AbortSignal): PlatformError {
  return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: reason });
}

/**
 * Turns an error of the database or the connection into an error of the API; errors of ours stay as they are.
 *
 * Everything not in the table — connections, resources, timeouts, shutdowns, conflicts, drift — makes the service
 * unavailable: the request may succeed later.
 */
export function toDatabaseError(cause: unknown): PlatformError {
  if (cause instanceof PlatformError) return cause;
  if (cause instanceof ConnectionError || cause instanceof RowContextError || cause instanceof ClientGoneError)
    return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
  if (isUntrue(cause, false)) return new PlatformError('INVALID_QUERY', untrueFunction, {}, { cause });
  if (isNoAmount(cause)) return new PlatformError('INVALID_QUERY', undefined, {}, { cause });
  // Not from the database at all: a mistake of ours, thrown by the sink of the rows for example.
  if (!(cause instanceof ServerError)) return new PlatformError('INTERNAL_SERVER_ERROR', undefined, {}, { cause });
  const result = answers.get(cause.sqlstate) ?? answers.get(cause.sqlstate.slice(0, 2)) ?? unavailable;
  const extensions = result.code === 'FAILED_VALIDATION' ? { type: result.type } : {};
  // Sums and averages leave the range of their type, too, where the query itself is sound.
  const message = cause.sqlstate === '22003' ? 'A number of the query, or of its answer, is out of range.' : undefined;
  return new PlatformError(result.code, message, extensions, { cause });
}

/** The same for a statement that may lack a privilege, or whose row a policy refuses (42501). */
export function toStatementError(
  cause: unknown,
  statement: { readonly runsAs?: RunsAs; readonly readOnly?: true },
): PlatformError {
  if (isUntrue(cause, statement.readOnly === true))
    return new PlatformError('INVALID_QUERY', untrueFunction, {}, { cause });
  const isRefused = cause instanceof ServerError && cause.sqlstate === '42501' && rowContextOf(statement) !== undefined;
  return isRefused ? new PlatformError('FORBIDDEN', undefined, {}, { cause }) : toDatabaseError(cause);
}

/** Answer where a function declares to read only, and writes. */
export const untrueFunction = 'The function changes something although it is declared to read only.';

/** Routines of a server in which such a function fails where its transaction may write. */
const refusing = ['_SPI_execute_plan', 'init_execution_state', 'prepare_next_query'];

/** The transactions of reads cannot write, and some servers do not try where a function says that it does not. */
function isUntrue(error: unknown, reads: boolean): boolean {
  if (!(error instanceof ServerError)) return false;
  const { sqlstate, routine = '' } = error;
  return sqlstate === '0A000' ? refusing.includes(routine) : reads && sqlstate === '25006';
}

/** True if a statement that failed before any row deserves one more attempt: lost connections, deadlocks, conflicts. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof ServerError)) return false;
  return error.sqlstate.startsWith('08') || ['57P01', '57P02', '57P03', '40001', '40P01'].includes(error.sqlstate);
}

/** True if a read ended with its connection, or by its standby, which it may after some rows. It may run again. */
export function isInterrupted(error: unknown): boolean {
  return error instanceof PlatformError && isRetryable(error.cause);
}

/** True if a transaction failed only because of others that ran at the same time. */
export function isConflict(error: unknown): boolean {
  return error instanceof ServerError && (error.sqlstate === '40001' || error.sqlstate === '40P01');
}

/** True if the connection is gone, so that the server has ended all statements on it. */
export function isLost(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ServerError && error.fatal);
}

/** True if a statement was not run because one before it in its transaction has failed. */
export function isAborted(error: unknown): boolean {
  return error instanceof ServerError && error.sqlstate === '25P02';
}

/** True if infinity or NaN was to become an amount of money, which a server tells as a feature that it lacks. */
export function isNoAmount(error: unknown): boolean {
  return error instanceof ServerError && error.sqlstate === '0A000' && error.routine?.startsWith('numeric_') === true;
}

/** True if the server no longer takes the prepared statement; a function of the database may raise 0A000, too. */
export function isStalePreparation(error: unknown): error is ServerError {
  if (!(error instanceof ServerError)) return false;
  const { sqlstate, routine = 'RevalidateCachedQuery' } = error;
  return sqlstate === '0A000' ? routine === 'RevalidateCachedQuery' : ['26000', '42P05'].includes(sqlstate);
}

/** True if the server takes no writes: a standby, or one that is set to be read-only. */
export function isNotPrimary(error: unknown): boolean {
  return error instanceof ServerError && error.sqlstate === '25006';
}

/** Converts the answer to BEGIN to one code: a standby answers 0A000, as to any feature that it does not have. */
export function toBeginError(error: unknown): unknown {
  if (!(error instanceof ServerError) || error.sqlstate !== '0A000') return error;
  return new ServerError(
    new Map([
      ['C', '25006'],
      ['M', error.message],
    ]),
  );
}

/** True if a statement failed because of a value it was given or met: SQLSTATE classes 22 and 54. */
export function refusesValue(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof ServerError && /^(?:22|54)/.test(error.cause.sqlstate);
}

/** The part of a URL as people write it. */
export function readable(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Characters of a message at most. */
const longestMessage = 500;

/**
 * Returns the error that one of a function or trigger is answered with. Source: docs/functions.md, "Errors".
 *
 * Undefined where its SQLSTATE says nothing about that.
 */
export function raisedForCaller(cause: ServerError): PlatformError | undefined {
  const message = [...cause.message].slice(0, longestMessage).join('');
  switch (cause.sqlstate) {
    case 'TW400':
      return new PlatformError('INVALID_PAYLOAD', message, {}, { cause });
    case 'TW403':
      return new PlatformError('FORBIDDEN', undefined, {}, { cause });
    case 'TW422':
      return new PlatformError('UNPROCESSABLE_ENTITY', message, {}, { cause });
    default:
      return undefined;
  }
}

/** True if code in PL/pgSQL refuses by RAISE, with any SQLSTATE but those that ask for another attempt. */
export function isRaised(cause: ServerError): boolean {
  return cause.routine === 'exec_stmt_raise' && !isRetryable(cause);
}
