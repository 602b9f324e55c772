/** Stops a server without breaking off requests. Source: API specification, section 16 (SHUTDOWN_TIMEOUT). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Listener } from '../http/fastify-adapter.ts';
import { reset } from '../http/responses/outgoing.ts';
import { describeCause, type Log } from '../operate/log.ts';
import type { RunningServer } from './options.ts';
import type { ServeParts } from './parts.ts';
import type { ServeSetting } from './setting.ts';

/** Milliseconds that a stopping server has for exporting spans, and for purges, also where requests took all of its time. */
const leastFlushMs = 2_000;

/** Milliseconds for which a server behind a proxy, which is given time to notice, keeps connections that are idle. */
const idleMs = 500;

type Closed = Omit<ServeParts, 'late' | 'watched' | 'ready'>;

export function closeOnce(parts: Closed, setting: ServeSetting): RunningServer['close'] {
  let closing: Promise<void> | null = null;
  return function close(lingerMs) {
    closing ??= closeAll(parts, setting, lingerMs);
    return closing;
  };
}

/** Cuts the connections that are not done in time, because the process must end. By then idle ones are closed. */
function breakOffRequests({ server: { server, log }, connections }: Listener): void {
  log.warn({ requests: connections.size }, 'Requests were cut, because they took longer than SHUTDOWN_TIMEOUT.');
  // A proxy that speaks HTTP/1.0 would take a plain end for that of the answer.
  for (const socket of connections) reset(socket);
  server.closeAllConnections();
}

async function closeAll(
  { listener: httpListener, acceptor, host, model, generations, cache, database, hosts }: Closed,
  { environment, instruments, location }: ServeSetting,
  lingerMs: number | undefined,
): Promise<void> {
  const { shutdownDelay, shutdownTimeout: grace } = environment;
  host.drain();
  const { server, responder, connections } = httpListener;
  const isReplaced = lingerMs !== undefined;
  if (isReplaced) await acceptor.close();
  // A client that sends on a connection while it is closed would lose its request: it learns of the end before.
  responder.hangUp();
  await sleep(lingerMs ?? shutdownDelay);
  if (!isReplaced) await acceptor.close();
  const end = performance.now() + grace;
  generations.current().watch.stop();
  const breakOff = setTimeout(breakOffRequests, grace, httpListener);
  // Proxies send on the connections that they keep, until they have met an end.
  await sleep(Math.min(idleMs, shutdownDelay, grace));
  await server.close();
  // Node waits for those only that its server has accepted itself.
  await Promise.all([...connections].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  clearTimeout(breakOff);
  instruments.close();
  // Looks, hooks and mails would wait for a database that hangs; without connections they fail at once.
  const isAway = 'url' in location && (await host.hostState()).state === 'away';
  if (isAway) await database.close(0);
  // After the last request, which may be about to compile the rows that it has written.
  await model.stop();
  await generations.close();
  await cache.close(leastFlushMs);
  host.limiter?.close();
  host.broadcast?.close();
  if (!isAway) await database.close(Math.max(0, end - performance.now()));
  hosts?.close();
  await instruments.flush(Math.max(leastFlushMs, end - performance.now()));
}

/** Signals to stop a process that serves by itself; a terminal that is closed sends the last one. */
export const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Milliseconds in which a signal comes again: a terminal and systemd send it to all processes, and npm passes it on. */
const repeatedMs = 500;

/** Calls `stop` on the first of some signals, and `kill` on a later one. Returns what hears another signal as one of them. */
export function onStopSignals(
  stop: () => void,
  kill: () => void,
  signals: readonly NodeJS.Signals[] = stopSignals,
): () => void {
  let since = Number.POSITIVE_INFINITY;
  function onSignal(): void {
    if (performance.now() - since > repeatedMs) kill();
    if (since !== Number.POSITIVE_INFINITY) return;
    since = performance.now();
    stop();
  }
  for (const signal of signals) process.on(signal, onSignal);
  return onSignal;
}

/** On a signal to stop it stops the server and ends the process: code 0, or 1 on failure or a later signal. */
export function stopOnSignals(stop: () => Promise<void>): void {
  const end = (code: number) => (): void => process.exit(code);
  onStopSignals(() => void stop().then(end(0), end(1)), end(1));
}

/** Logs promises that reject unseen, for which Node ends the process by itself; a process with a listener of its own keeps to that. Returns what stops it. */
export function logStrayFailures(log: Pick<Log, 'error'>): () => void {
  if (process.listenerCount('unhandledRejection') > 0) return () => {};
  function onRejection(cause: unknown): void {
    log.error({ cause: describeCause(cause) }, 'A promise was rejected that no code awaits.');
  }
  function onException(cause: unknown): void {
    log.error({ cause: describeCause(cause) }, 'An error that no code catches ends the process.');
  }
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtExceptionMonitor', onException);
  return function stop() {
    process.off('unhandledRejection', onRejection);
    process.off('uncaughtExceptionMonitor', onException);
  };
}
