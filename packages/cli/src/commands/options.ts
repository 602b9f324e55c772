import { CommandError, exitCodes } from '../errors/failures.ts';

export interface GlobalOptions {
  /** Folder with platform.config.ts; default: the current one. */
  readonly project: string;
  /** One JSON event per line on stdout instead of text. */
  readonly json?: boolean;
  /** Also print notes (severity `info`). */
  readonly notes?: boolean;
}

export interface DoctorOptions extends GlobalOptions {
  /** Also look at the settings of a server that is to be used. */
  readonly production?: boolean;
  /** With `production`: processes that are to serve; digits. */
  readonly workers?: string;
}

export interface StartOptions extends GlobalOptions {
  /** Introspect and compile first. */
  readonly generate?: boolean;
  /** Compile and serve the sample of the repository, or DATABASE_URL. */
  readonly sample?: boolean;
  /** Refuse writes to roles and permissions, so that the server serves exactly the generated API. */
  readonly frozen?: boolean;
  /** Record requests and responses as examples of the OpenAPI documents. */
  readonly recordExamples?: boolean;
  /** Answer no GraphQL documents but those that were compiled. */
  readonly trustedDocuments?: boolean;
  /** Serve by this many processes; digits. Default: by this one. */
  readonly workers?: string;
}

/** More would be a mistake: each process has connections and a compiler of its own. */
const maxWorkers = 128;

export function workerCount(workers: string): number {
  const count = /^\d{1,3}$/.test(workers) ? Number(workers) : 0;
  if (count >= 1 && count <= maxWorkers) return count;
  throw new CommandError(exitCodes.usage, `--workers takes a number from 1 to ${maxWorkers}.`);
}
