/**
 * The platform where no test looks at its process: compiled and served by the library in one process for all test files
 * of a worker. Nothing else is different from `startPlatform`, and what the servers of a process might do to each other
 * is tested as well.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundled } from './bundled.ts';
import type { HostAnswer, HostRequest } from './host-process.ts';
import { asking, type Platform, startUnchecked, variablesOf } from './platform.ts';

const script = fileURLToPath(new URL('./host-process.ts', import.meta.url));

interface Host {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly waiting: Map<number, (answer: HostAnswer) => void>;
  printed: string;
}

let latest: Host | null = null;
let requests = 0;

/**
 * Serves the project in a folder over a database; compiles it first, which may be done once only for a folder: a process
 * does not load a file again that has changed. The log has what the process prints from here on.
 */
export async function startHosted(
  folder: string,
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
  generate = true,
): Promise<Platform> {
  const host = currentHost();
  const before = host.printed.length;
  requests += 1;
  const number = requests;
  const variables = variablesOf(databaseUrl, environment);
  const { url, error } = await tell(host, { kind: 'start', number, folder, databaseUrl, variables, generate });
  if (url === undefined) throw new Error(`The platform did not start:\n${error}`);
  return {
    ...asking(url),
    pid: host.process.pid ?? 0,
    ended: host.ended,
    log: () => host.printed.slice(before),
    async stop() {
      requests += 1;
      const stopped = await tell(host, { kind: 'stop', number: requests, server: number });
      return stopped.error === undefined ? 0 : 1;
    },
  };
}

/**
 * Compiles the project in a folder, for servers in processes of their own that start without it: a process that has
 * compiled before takes a fifth of the processor's time.
 */
export async function generateHosted(folder: string, databaseUrl: string): Promise<void> {
  requests += 1;
  const { error } = await tell(currentHost(), { kind: 'generate', number: requests, folder, databaseUrl });
  if (error !== undefined) throw new Error(`The project was not compiled:\n${error}`);
}

/** Compiles the project so, and serves it in a process of its own, as the command does. */
export async function startCompiled(
  folder: string,
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<Platform> {
  await generateHosted(folder, databaseUrl);
  return startUnchecked(folder, databaseUrl, environment, args);
}

function tell(host: Host, request: HostRequest): Promise<HostAnswer> {
  return new Promise((resolve) => {
    host.waiting.set(request.number, resolve);
    host.process.send(request);
  });
}

function currentHost(): Host {
  latest ??= startHost();
  return latest;
}

function startHost(): Host {
  const child = spawn(process.execPath, [...bundled(), script], {
    env: { ...process.env, DATABASE_URL: '' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const host: Host = { process: child, ended: once(child, 'exit'), waiting: new Map(), printed: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      host.printed += String(chunk);
    });
  }
  child.on('message', (answer: HostAnswer) => {
    host.waiting.get(answer.number)?.(answer);
    host.waiting.delete(answer.number);
  });
  child.on('exit', () => {
    if (latest === host) latest = null;
    for (const [number, resolve] of host.waiting) resolve({ number, error: host.printed });
  });
  return host;
}
