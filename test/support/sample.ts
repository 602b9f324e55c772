/**
 * The sample exactly as `npm start` serves it: that command in a fresh copy of the repository, in a process of its own,
 * with default settings and the embedded PostgreSQL, on a free port.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundledFor } from './bundled.ts';
import { asDescribed } from './openapi/described.ts';
import { type Answer, type Ask, asking, compiledCode, type Platform } from './platform.ts';
import { createSampleHome, type SampleHome } from './sample-home.ts';

/** Address and password of somebody who signs in. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The running sample. */
export interface Sample extends Platform {
  /** Where it was started, with its project and its state. */
  readonly home: SampleHome;
  /** Folder of the project, with `generated/` in it. */
  readonly folder: string;
  /** The token that the command made. */
  readonly adminToken: string;
  /** The first administrator, with the password that the command made. */
  readonly administrator: Credentials;
  /** Asks without comparing with the OpenAPI document, for what documents do not describe. */
  readonly unchecked: Pick<Platform, 'ask' | 'admin'>;
  /** Stops the command and starts it again in the same folder. */
  restart(): Promise<void>;
  /** Stops the command and removes the folder. */
  close(): Promise<void>;
}

/** How a sample differs from the one of `npm start`. */
export interface SampleOptions {
  /** Variables beside PATH, HOME and PORT. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Changes the copy before the command sees it. */
  readonly prepare?: (home: SampleHome) => Promise<void>;
}

/** Runs `npm start` in a fresh copy; resolves when it has printed its requests to try. */
export async function startSample({ environment = {}, prepare }: SampleOptions = {}): Promise<Sample> {
  const home = await createSampleHome();
  try {
    await prepare?.(home);
    return await serveSample(home, environment);
  } catch (error) {
    await home.remove();
    throw error;
  }
}

async function serveSample(home: SampleHome, environment: Readonly<Record<string, string>>): Promise<Sample> {
  const variables = { NODE_OPTIONS: bundledFor(environment.DATABASE_URL).join(' '), ...environment };
  let running = await runStart(home.root, variables);
  const adminToken = await keptToken(running, home.root);
  const administrator = {
    email: printed(running, /^Administrator: (\S+),/m),
    password: await kept(running, home.root, /^Administrator: .* password: in (\S+)/m),
  };
  const ask = (path: string, options?: Ask): Promise<Answer> => asking(running.url).ask(path, options);
  const unchecked = {
    ask,
    admin: (path: string, options?: Ask) => ask(path, { ...options, token: adminToken }),
  };
  const platform: Platform = {
    ...unchecked,
    url: running.url,
    pid: running.pid,
    ended: running.ended,
    log: () => running.log(),
    stop: (signal = 'SIGTERM') => running.stop(signal),
  };
  const checked = asDescribed(platform, { folder: home.project, adminToken, changing: true });
  return {
    ...checked,
    // After a restart it is another process on another port.
    get url() {
      return running.url;
    },
    get pid() {
      return running.pid;
    },
    get ended() {
      return running.ended;
    },
    home,
    folder: home.project,
    adminToken,
    administrator,
    unchecked,
    async restart() {
      await running.stop('SIGTERM');
      running = await runStart(home.root, variables);
    },
    async close() {
      try {
        await checked.stop();
      } finally {
        await home.remove();
      }
    },
  };
}

type Running = Pick<Platform, 'url' | 'pid' | 'ended' | 'log'> & { stop(signal: NodeJS.Signals): Promise<number> };

/** The last line that the command prints. */
const ready = /^Try:\n(?: {2}curl .*\n)+/m;

/** Runs `npm start` in a copy of the repository; resolves when it has printed its requests to try. */
export async function runStart(root: string, environment: Readonly<Record<string, string>>): Promise<Running> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: { PATH, HOME, PORT: '0', NODE_COMPILE_CACHE: compiledCode, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  // Apart, because a chunk of one stream may end in the middle of a line before a chunk of the other comes.
  const texts = ['', ''];
  const log = (): string => texts.join('');
  const listening = new Promise<void>((resolve) => {
    for (const [index, stream] of [child.stdout, child.stderr].entries()) {
      stream.on('data', (chunk) => {
        texts[index] += String(chunk);
        if (texts.some((text) => ready.test(text))) resolve();
      });
    }
  });
  await Promise.race([listening, ended]);
  const url = /^Listening on (\S+)$/m.exec(log())?.[1];
  if (url === undefined) throw new Error(`npm start did not serve the sample:\n${log()}`);
  return {
    url,
    pid: child.pid ?? 0,
    ended,
    log,
    async stop(signal) {
      child.kill(signal);
      const [code] = await ended;
      return Number(code);
    },
  };
}

/** The token that a command without a terminal has kept, where it says. */
export function keptToken(running: Pick<Running, 'log'>, root: string): Promise<string> {
  return kept(running, root, /^Admin token: in (\S+)/m);
}

async function kept(running: Pick<Running, 'log'>, root: string, pattern: RegExp): Promise<string> {
  return (await readFile(join(root, printed(running, pattern)), 'utf8')).trim();
}

function printed({ log }: Pick<Running, 'log'>, pattern: RegExp): string {
  const found = pattern.exec(log())?.[1];
  if (found === undefined) throw new Error(`npm start did not print ${pattern}:\n${log()}`);
  return found;
}
