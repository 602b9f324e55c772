import { CommandError, exitCodes, reasonOf } from '../errors/failures.ts';
import { ownVariable } from '../terminal/own-variable.ts';
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
  const address = readyAddress(options.url);
  const { isReady, status } = await ask(address).catch((error: unknown) => {
    throw new CommandError(exitCodes.invalid, `${address.origin} does not answer: ${reasonOf(causeOf(error))}.`);
  });
  progress.event('ready', { url: address.origin, status });
  if (!isReady) throw new CommandError(exitCodes.invalid, `${address.origin} is not ready: ${status}.`);
  progress.print(`${address.origin} is ready.`);
}

async function ask(address: URL): Promise<{ readonly isReady: boolean; readonly status: string }> {
  const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) });
  return { isReady: response.ok, status: statusOf(await response.text()) };
}

function readyAddress(url: string | undefined): URL {
  const text = url ?? ownAddress();
  const address = /^https?:/i.test(text) ? URL.parse(`${text.replace(/\/+$/, '')}/server/ready`) : null;
  if (address !== null) return address;
  const subject = url === undefined ? 'HOST and PORT' : '--url';
  throw new CommandError(
    exitCodes.usage,
    `${subject} must be an address such as http://127.0.0.1:8055, not "${text}".`,
  );
}

function ownAddress(): string {
  const host = ownVariable('HOST') ?? '127.0.0.1';
  // A server that listens everywhere also does so here.
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${ownVariable('PORT') ?? '8055'}`;
}

/** Node says only that a request failed; its cause says why. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

/** Reason in the answer of a server; of another program's nothing is told. */
function statusOf(text: string): string {
  return /^\{"status":"(\w+)"/.exec(text)?.[1] ?? 'unknown';
}
