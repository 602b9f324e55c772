/**
 * Reports the state of the server to systemd (`Type=notify`). Node has no sockets for datagrams of the machine itself.
 * So `systemd-notify` sends them, which exists wherever systemd does; the unit therefore has `NotifyAccess=all`.
 */
import { spawn } from 'node:child_process';
import type { WorkerCluster } from './worker-cluster.ts';

/** Hears how the server is. Nothing is sent where no service manager asked for it. */
export interface ServiceManager {
  /** Requests are answered at an address. From then on signs of life are sent as often as it wants them. */
  ready(url: string): void;
  /** Processes are being replaced; `reloaded` ends it. Neither is sent before `ready`, nor after a signal to stop. */
  reloading(): void;
  reloaded(): void;
}

/** Variables by which systemd asks for reports. */
type Asking = Readonly<Record<'NOTIFY_SOCKET' | 'WATCHDOG_USEC' | 'WATCHDOG_PID', string | undefined>>;

const silent: ServiceManager = { ready: () => undefined, reloading: () => undefined, reloaded: () => undefined };

/**
 * Makes it from the variables of this process, which has to hear the signals to stop itself: they no longer end it.
 * Signs of life wait for those of its workers, if it has such. `warn` is called once when nothing can be sent.
 */
export function serviceManager(
  warn: (text: string) => void,
  signals: readonly NodeJS.Signals[],
  workers?: Pick<WorkerCluster, 'untilAlive'>,
): ServiceManager {
  const { NOTIFY_SOCKET = '', WATCHDOG_USEC, WATCHDOG_PID } = process.env;
  if (NOTIFY_SOCKET === '') return silent;
  const { notify, notifyNow } = createSender(NOTIFY_SOCKET, warn);
  const watchdogMs = watchdogInterval({ NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID });
  let state: 'starting' | 'ready' | 'stopping' = 'starting';
  let isReporting = false;
  const stop = (): void => {
    if (state === 'stopping') return;
    state = 'stopping';
    // The process may end before messages that wait are sent.
    void notifyNow('STOPPING=1');
  };
  for (const signal of signals) process.on(signal, stop);
  /** Sends a sign of life unless the last one still waits: on a busy machine they would pile up before other messages. */
  const reportAlive = async (): Promise<void> => {
    if (isReporting) return;
    isReporting = true;
    await workers?.untilAlive();
    await notify('WATCHDOG=1');
    isReporting = false;
  };
  return {
    ready(url) {
      if (state === 'stopping') return;
      state = 'ready';
      void notify('READY=1', `STATUS=Listening on ${url}`);
      if (watchdogMs !== null) setInterval(() => void reportAlive(), watchdogMs).unref();
    },
    reloading() {
      if (state === 'ready') void notify('RELOADING=1');
    },
    reloaded() {
      if (state === 'ready') void notify('READY=1');
    },
  };
}

/** Milliseconds between two signs of life, half of systemd's timeout; null if systemd expects none of this process. */
function watchdogInterval({ WATCHDOG_USEC = '', WATCHDOG_PID = '' }: Asking): number | null {
  const microseconds = /^\d{1,15}$/.test(WATCHDOG_USEC) ? Number(WATCHDOG_USEC) : 0;
  const isMeant = WATCHDOG_PID === '' || Number(WATCHDOG_PID) === process.pid;
  return microseconds > 0 && isMeant ? Math.max(1, microseconds / 2000) : null;
}

type Notify = (...message: readonly string[]) => Promise<void>;

/** Sends one message after the other, because each takes a process of its own, or one at once. */
function createSender(socket: string, warn: (text: string) => void): Readonly<Record<'notify' | 'notifyNow', Notify>> {
  let sending: Promise<void> = Promise.resolve();
  let failed = false;
  const notifyNow: Notify = async (...message) => {
    const reason = await send(socket, message);
    if (reason !== null && !failed) warn(`systemd cannot be told how the server is: ${reason}`);
    failed ||= reason !== null;
  };
  const notify: Notify = (...message) => {
    sending = sending.then(() => notifyNow(...message));
    return sending;
  };
  return { notify, notifyNow };
}

/** Null when it was sent. The sender gets no variable with a secret in it. */
function send(socket: string, message: readonly string[]): Promise<string | null> {
  const env = { NOTIFY_SOCKET: socket, PATH: process.env.PATH ?? '' };
  return new Promise((resolve) => {
    const child = spawn('systemd-notify', [...message], { env, stdio: 'ignore' });
    child.on('error', ({ message: reason }) => resolve(reason));
    child.on('exit', (code) => resolve(code === 0 ? null : `systemd-notify ended with code ${code}`));
  });
}
