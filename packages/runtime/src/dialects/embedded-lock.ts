/**
 * Reserves the data directory of an embedded database for one process: the database does not, and two that write would
 * destroy it. The lock is a file beside it with the number of the process; the lock of a killed process is replaced.
 */
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { dirname, resolve } from 'node:path';

/** The directory is in use by another process, or by this one already. */
export class EmbeddedInUseError extends Error {
  override readonly name = 'EmbeddedInUseError';
  /** Action that solves the problem. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const held = new Set<string>();

/** Locks a data directory and returns the function that releases it; the end of the process does too. */
export function lockEmbedded(directory: string): () => void {
  const file = `${resolve(directory)}.lock`;
  mkdirSync(dirname(file), { recursive: true });
  if (held.has(file)) throw inUse(process.pid, file);
  if (!create(file)) {
    const owner = Number(read(file));
    if (isRunning(owner) && !isOlderThanSystem(file)) throw inUse(owner, file);
    rmSync(file, { force: true });
    if (!create(file)) throw inUse(Number(read(file)), file);
  }
  held.add(file);
  const release = (): void => {
    process.off('exit', release);
    if (held.delete(file)) rmSync(file, { force: true });
  };
  process.on('exit', release);
  return release;
}

function inUse(owner: number, file: string): EmbeddedInUseError {
  return new EmbeddedInUseError(
    `The embedded database is in use by process ${owner}.`,
    `Stop that process first. If it does not use the database, delete ${file}.`,
  );
}

/** A link appears with its contents, so that other processes never read a half-written lock. */
function create(file: string): boolean {
  const claim = `${file}.${process.pid}`;
  writeFileSync(claim, `${process.pid}\n`);
  try {
    linkSync(claim, file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(claim, { force: true });
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A number of our own is that of an earlier process: containers count from the same number each time. */
function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function isOlderThanSystem(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - uptime() * 1000;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
