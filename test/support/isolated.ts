/**
 * Commands where no other machine can be reached. Linux makes a network namespace with nothing but the loopback, in which the
 * kernel counts what finds no way. A hook of Node refuses and names attempts there too, and alone where no namespace can be
 * made.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Door, openDoor } from './door.ts';

const enter = ['unshare', '--map-root-user', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

const canUnshare = spawnSync(enter[0] ?? '', [...enter.slice(1), 'true']).status === 0;

/** How commands are kept from other machines here. */
export const isolation = canUnshare ? 'a network namespace, counted by the kernel' : 'a hook of Node alone';

/** A command that ended. */
export interface Isolated {
  readonly code: number;
  readonly output: string;
  /** Names and addresses of other machines that it asked for. */
  readonly attempts: readonly string[];
  /** What found no way out, as the kernel has counted; 0 without a namespace. */
  readonly lost: number;
}

/** A command that runs. */
export interface IsolatedProcess {
  /** Resolves when it has printed this; rejects with its output when it ends before. */
  printed(pattern: RegExp): Promise<void>;
  /** Sends a signal, if there is one, and resolves when it has ended. */
  end(signal?: 'SIGTERM'): Promise<Isolated>;
}

/**
 * Starts a command in a folder. What listens on the port is reached from outside of the namespace, too, and the database of
 * DATABASE_URL, on a port of this machine, from inside.
 */
export function startIsolated(
  folder: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  port?: number,
): IsolatedProcess {
  const state = mkdtempSync(join(tmpdir(), 'isolated-'));
  const files = { attempts: join(state, 'attempts'), lost: join(state, 'lost') };
  const { inner, outer } = canUnshare ? doorsOf(state, environment.DATABASE_URL, port) : { inner: [], outer: [] };
  const inside = [
    process.execPath,
    join(import.meta.dirname, 'loopback-process.ts'),
    files.lost,
    JSON.stringify(inner),
  ];
  const [program = '', ...args] = canUnshare ? [...enter, ...inside, ...command] : command;
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      ...process.env,
      ...environment,
      NETWORK_ATTEMPTS: files.attempts,
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'refuse-network.mjs')}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const doors = outer.map(openDoor);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'close');
  return {
    printed: (pattern) => printed(child, pattern, () => output),
    async end(signal) {
      if (signal !== undefined) child.kill(signal);
      const [code] = await ended;
      for (const door of doors) door.close();
      const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
      const attempts = read(files.attempts).split('\n').filter(Boolean);
      const lost = Number(read(files.lost));
      rmSync(state, { recursive: true, force: true });
      return { code: Number(code), output, attempts, lost };
    },
  };
}

/** Runs a command to its end. */
export function runIsolated(...call: Parameters<typeof startIsolated>): Promise<Isolated> {
  return startIsolated(...call).end();
}

async function printed(child: ChildProcess, pattern: RegExp, output: () => string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const look = (): void => {
      if (pattern.test(output())) resolve();
    };
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', look);
    child.once('close', (code) => reject(new Error(`The command ended with ${code}:\n${output()}`)));
    look();
  });
}

/** Both halves of what leads in and out of the namespace: they meet at sockets of the file system. */
function doorsOf(
  folder: string,
  database: string | undefined,
  port: number | undefined,
): { readonly inner: readonly Door[]; readonly outer: readonly Door[] } {
  const [out, into] = [join(folder, 'out'), join(folder, 'into')];
  const databasePort = database ? Number(new URL(database).port) : undefined;
  return {
    inner: [
      ...(port === undefined ? [] : [{ from: out, to: port }]),
      ...(databasePort === undefined ? [] : [{ from: databasePort, to: into }]),
    ],
    outer: [
      ...(port === undefined ? [] : [{ from: port, to: out }]),
      ...(databasePort === undefined ? [] : [{ from: into, to: databasePort }]),
    ],
  };
}
