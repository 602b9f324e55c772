import { CommandError, exitCodes, reasonOf } from '../errors/failures.ts';
import { processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface ReadyOptions extends GlobalOptions {
  /** Address of the server. Default: that of HOST and PORT on this machine. */
  readonly url?: string;
}

/** Milliseconds that the server has for its answer. */
const timeoutMs = 5_000;

/** `platform ready`: succeeds if requests may be sent to a server, for health checks of containers without curl. */
export async function ready(options: ReadyOptions): Promise<void> {
  const progress = processProgress(options);
  const address = new URL('/server/ready', serverAddress(options.url));
  const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) }).catch((error: unknown) => {
    throw new CommandError(exitCodes.invalid, `${address.origin} does not answer: ${reasonOf(causeOf(error))}.`);
  });
  const status = statusOf(await response.text());
  progress.event('ready', { url: address.origin, status });
  if (!response.ok) throw new CommandError(exitCodes.invalid, `${address.origin} is not ready: ${status}.`);
  progress.print(`${address.origin} is ready.`);
}

function serverAddress(url: string | undefined): string {
  if (url !== undefined && !URL.canParse(url)) {
    throw new CommandError(exitCodes.usage, `--url must be an address such as http://127.0.0.1:8055, not "${url}".`);
  }
  const { HOST = '', PORT = '' } = process.env;
  // A server that listens everywhere also does so here.
  const host = HOST === '' || HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return url ?? `http://${host.includes(':') ? `[${host}]` : host}:${PORT === '' ? '8055' : PORT}`;
}

/** Node says only that a request failed; its cause says why. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

/** Reason in the answer of a server; of another program's nothing is told. */
function statusOf(text: string): string {
  return /^\{"status":"(\w+)"/.exec(text)?.[1] ?? 'unknown';
}
