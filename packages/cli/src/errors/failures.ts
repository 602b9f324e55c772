import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Diagnostic } from '@tablewright/introspect';

/** Meanings of the exit codes of the command line for pipelines. Documented in `platform --help` and docs/cli.md. */
export const exitCodes = {
  ok: 0,
  /** Diagnostics of severity error: the configuration, permissions or database cannot be compiled. Or a verdict. */
  invalid: 1,
  /** The command line itself is wrong: unknown command or option. Or no verdict could be made. */
  usage: 2,
  /** The database could not be reached or refused us. */
  database: 3,
  /** The server could not start: port in use, environment variable invalid, nothing generated. */
  start: 4,
  /** A bug of ours. */
  internal: 70,
  /** Ctrl-C or Ctrl-D in place of an answer. */
  stopped: 130,
} as const;

/**
 * A failure with advice, printed without a stack.
 * @example throw new CommandError(exitCodes.usage, 'There is no such project.', 'Name a folder.');
 */
export class CommandError extends Error {
  readonly exitCode: number;
  readonly hint: string | null;

  constructor(exitCode: number, message: string, hint: string | null = null) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** Errors of the project or its database, each of which keeps it from being compiled. */
export class DiagnosticsError extends CommandError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[], message: string) {
    super(exitCodes.invalid, message);
    this.name = 'DiagnosticsError';
    this.diagnostics = diagnostics;
  }
}

/** Folders of a project, as absolute paths. */
interface OwnFolders {
  readonly folder: string;
  /** Folder of the generated files. */
  readonly output: string;
}

/** Converts an error that keeps the project's code from being loaded to a failure with its place; others stay. */
export function ownCodeError(error: unknown, { folder, output }: OwnFolders, exitCode: number, hint?: string): unknown {
  if (!(error instanceof Error) || error instanceof CommandError) return error;
  const [, missing, importer = ''] = /^(.*) imported from (.+)$/.exec(error.message) ?? [];
  if (isBelow(importer, folder) && !isBelow(importer, output)) {
    const cure = 'Install the package in the project; an import of a file has its ending, such as `./prices.ts`.';
    return new CommandError(exitCode, `${relative(folder, importer)} cannot be loaded: ${missing}.`, cure);
  }
  const root = `${pathToFileURL(folder).href}/`;
  const frames = (error.stack ?? '').matchAll(/(file:\/\/[^\s?()]+?)(?:\?[^\s:()]*)?:(\d+)/g);
  for (const [, url = '', line] of frames) {
    if (!url.startsWith(root) || url.includes('/node_modules/')) continue;
    const path = decodeURIComponent(url.slice(root.length));
    return new CommandError(exitCode, `${path}:${line} cannot be loaded: ${error.message}`, hint);
  }
  return error;
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(join(folder, sep)) && !path.includes(`${sep}node_modules${sep}`);
}

/** Message of a driver's error, without its full stop. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return error.message === '' ? code : error.message.replace(/\.$/, '');
}

/** Error codes of a system that refuses a file, although neither the platform nor its inputs are wrong. */
const refusals: ReadonlySet<unknown> = new Set([
  'EACCES',
  'EBUSY',
  'EDQUOT',
  'EEXIST',
  'EIO',
  'EISDIR',
  'ELOOP',
  'EMFILE',
  'ENAMETOOLONG',
  'ENFILE',
  'ENOSPC',
  'ENOTDIR',
  'ENOTEMPTY',
  'EPERM',
  'EROFS',
  'EXDEV',
]);

/** Codes of refusals and temporary failures of a database; by the class, or the whole, of their SQLSTATE. */
const denials: ReadonlySet<string> = new Set(['42501', '25006', '55P03', '08', '40', '53', '54', '57', '58']);

/** The same by the numbers of servers that give them. */
const numberedDenials: ReadonlySet<unknown> = new Set([
  ...[1044, 1142, 1143, 1227, 1356, 1370, 1449],
  ...[1205, 1213, 1290, 1317, 1792, 1836, 1969, 3024],
  ...[1021, 1037, 1038, 1040, 1041, 1053, 1080, 1114, 1436, 2006, 2013],
]);

/** Codes of connections that end, and of servers that stop; numbers are those of servers that give them. */
const brokenOff: ReadonlySet<unknown> = new Set([
  ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'PROTOCOL_CONNECTION_LOST', '57P01', '57P02'],
  ...[1053, 2006, 2013],
]);

/** Converts refusals of the file system or the database to a failure; any other error stays as it is. */
export function knownFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof CommandError) return error;
  if (isRefusedFile(error)) {
    const hint = 'See to the rights, the room and the kind of what is named there, and run the command again.';
    return new CommandError(exitCodes.usage, `The file system refuses: ${reasonOf(error)}.`, hint);
  }
  if ('code' in error && error.code === 'ABORT_ERR' && error.message.startsWith('Aborted with Ctrl')) {
    return new CommandError(exitCodes.stopped, '\nStopped: nothing was written.');
  }
  if (isStackEnd(error)) return tooDeep(error);
  if (!isDenied(error)) return error.cause instanceof Error && isDenied(error.cause) ? denied(error.cause) : error;
  return denied(error);
}

function denied(error: Error): CommandError {
  if (isBrokenOff(error)) {
    const hint = 'Try again when the server has started; its log says why it did.';
    return new CommandError(exitCodes.database, 'The database cannot be used: it ended the connection.', hint);
  }
  const hint = 'Give the role of DATABASE_URL the right to it, or try again when the database is at rest.';
  return new CommandError(exitCodes.database, `The database refuses: ${reasonOf(error)}.`, hint);
}

/** The last resort: data of databases and files is bounded when it is read, with a message that names it. */
function tooDeep(error: Error): CommandError {
  const frame = /^ +at (\S+)/m.exec(error.stack ?? '')?.[1];
  const where = frame === undefined ? '' : ` (in ${frame})`;
  const message = `Something in the database or in the project nests too deeply, or leads back to itself${where}.`;
  const hint = 'Leave it out, for example by `database.exclude` in platform.config.ts, and please report it.';
  return new CommandError(exitCodes.invalid, message, hint);
}

function isStackEnd(error: Error): boolean {
  return error instanceof RangeError && error.message.startsWith('Maximum call stack size exceeded');
}

function isRefusedFile(error: Error): boolean {
  return 'syscall' in error && 'code' in error && refusals.has(error.code);
}

function isDenied(error: Error): boolean {
  if (isBrokenOff(error)) return true;
  const code = codeOf(error);
  if (typeof code !== 'string') return numberedDenials.has(code);
  return /^[0-9A-Z]{5}$/.test(code) && (denials.has(code) || denials.has(code.slice(0, 2)));
}

function isBrokenOff(error: Error): boolean {
  return error.message === 'Connection terminated unexpectedly' || brokenOff.has(codeOf(error));
}

/** A number where the driver tells the error by it, else a text. */
function codeOf(error: Error): unknown {
  if ('errno' in error && 'sqlState' in error) return error.errno;
  return 'sqlstate' in error ? error.sqlstate : 'code' in error ? error.code : undefined;
}

/** Runs a command whose exit code 1 is a verdict: a failure before the verdict ends with 2. Bugs stay bugs. */
export async function checking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = knownFailure(error);
    if (!(failure instanceof CommandError)) throw failure;
    throw new CommandError(exitCodes.usage, failure.message, failure.hint);
  }
}
