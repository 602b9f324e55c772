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

/**
 * Converts an error that keeps the project's own code from being loaded to a failure with its place, an exit code and a
 * hint. Any other error stays as it is, because it is not a mistake in that code.
 */
export function ownCodeError(error: unknown, folder: string, exitCode: number, hint?: string): unknown {
  if (!(error instanceof Error) || error instanceof CommandError) return error;
  const root = `${pathToFileURL(folder).href}/`;
  const frames = (error.stack ?? '').matchAll(/(file:\/\/[^\s?()]+?)(?:\?[^\s:()]*)?:(\d+)/g);
  for (const [, url = '', line] of frames) {
    if (!url.startsWith(root) || url.includes('/node_modules/')) continue;
    const path = decodeURIComponent(url.slice(root.length));
    return new CommandError(exitCode, `${path}:${line} cannot be loaded: ${error.message}`, hint);
  }
  return error;
}

/** Message of a driver's error, without its full stop. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return error.message === '' ? code : error.message.replace(/\.$/, '');
}
