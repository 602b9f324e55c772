/** The platform as its users run it: the command in a process of its own, over a real database, asked over HTTP. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bundledFor, cheapPasswords } from './bundled.ts';
import { asDescribed } from './openapi/described.ts';
import { send, sentOf } from './sent.ts';
import { topologyAddresses } from './topology-servers.ts';

const repository = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const command = join(repository, 'packages', 'cli', 'bin', 'platform.cjs');

/** Where commands of tests keep what Node made of their modules: not in the folder of whoever runs them. */
export const compiledCode = join(repository, '.tmp', 'compiled');

/** Static token of the role admin in tests. */
export const adminToken = 'test-admin-token-0123456789-0123456789';

/** What every key of a server is derived from in tests. */
export const secret = 'a secret of tests, which protects nothing at all';

/** The first administrator where the platform's own tables are installed. */
export const administrator = { email: 'admin@example.com', password: 'administrator of tests' } as const;

/** What a command printed and how it ended. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One answer, as text and parsed when it is JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

/** How a request differs from an anonymous GET. */
export interface Ask {
  readonly method?: string;
  /** Sent as Bearer. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is a string or a form. */
  readonly body?: unknown;
}

/** A running server. */
export interface Platform {
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  /** Everything that the process has printed, its log included. */
  log(): string;
  ask(path: string, ask?: Ask): Promise<Answer>;
  /** The same as the role admin. */
  admin(path: string, ask?: Ask): Promise<Answer>;
  /** Sends SIGTERM, or another signal, and resolves to the exit code. */
  stop(signal?: 'SIGTERM' | 'SIGINT' | 'SIGHUP'): Promise<number>;
}

/**
 * Makes a project folder for one test, with the files of `from` when given. It lies in the repository, so that generated
 * code finds `@tablewright/runtime`.
 */
export async function createProject(from?: string): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const parent = join(repository, '.tmp');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'project-'));
  if (from !== undefined) {
    const wanted = (path: string): boolean => !/(^|\/)(generated|\.platform|platform\.schema\.json)$/.test(path);
    await cp(join(repository, from), folder, { recursive: true, filter: wanted });
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Starts the command. A variable that is undefined is not set. */
export function spawnPlatform(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ChildProcessWithoutNullStreams {
  const variables = commandVariables(environment);
  return spawn(process.execPath, [...bundledFor(variables.DATABASE_URL), command, ...args], {
    cwd: repository,
    env: variables,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Runs the command to its end; `input` is what it reads. A variable that is undefined is not set. */
export async function runPlatform(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
  input = '',
): Promise<CommandResult> {
  const child = spawnPlatform(args, environment);
  // A command that reads nothing may end before it is told anything.
  child.stdin.on('error', () => {}).end(input);
  const [stdout, stderr, [code]] = await Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, 'exit')]);
  return { code: Number(code), stdout, stderr };
}

/** All variables of a command of tests. */
export function commandVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const own = { NODE_COMPILE_CACHE: compiledCode, DATABASE_URL: '', ...cheapPasswords };
  const all = { ...process.env, ...own, ...environment };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/**
 * Compiles the project over the database and serves it on a free port; resolves when it answers. Everything that a test asks
 * it has to be as the OpenAPI document of the caller says.
 */
export async function startPlatform(
  folder: string,
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
  args?: readonly string[],
): Promise<Platform> {
  const platform = await startUnchecked(folder, databaseUrl, environment, args);
  return asDescribed(platform, { folder, adminToken: environment.ADMIN_TOKEN ?? adminToken });
}

/**
 * The same without a look at the document, for what repeats the requests of a server that is checked. `onPrinted` is given
 * what it prints, also before it listens.
 */
export async function startUnchecked(
  folder: string,
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
  args: readonly string[] = ['--generate'],
  name: 'start' | 'dev' = 'start',
  onPrinted: (text: string) => void = () => undefined,
): Promise<Platform> {
  const child = spawn(
    process.execPath,
    [...bundledFor(databaseUrl), command, name, '--json', '--project', folder, ...args],
    {
      cwd: repository,
      env: variablesOf(databaseUrl, environment),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const exited = once(child, 'exit');
  const errors = textOf(child.stderr);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += String(chunk);
      onPrinted(String(chunk));
    });
  }
  const url = await Promise.race([listening(child.stdout), exited.then(() => null)]);
  if (url === null) {
    const [code, signal] = await exited;
    await errors;
    throw new Error(`The platform did not start (${signal ?? code}):\n${printed}`);
  }
  return {
    ...asking(url),
    pid: child.pid ?? 0,
    ended: exited,
    log: () => printed,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = await exited;
      return Number(code);
    },
  };
}

/** The environment of a server of tests, where nothing else is said. */
export function variablesOf(databaseUrl: string, environment: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return {
    ...process.env,
    NODE_COMPILE_CACHE: compiledCode,
    ...topologyAddresses(databaseUrl),
    ...cheapPasswords,
    ADMIN_TOKEN: adminToken,
    SECRET: secret,
    ADMIN_EMAIL: administrator.email,
    ADMIN_PASSWORD: administrator.password,
    LOGIN_STALL_TIME: '0',
    PORT: '0',
    LOG_LEVEL: 'error',
    ...environment,
  };
}

/** Asks the server at an address. */
export function asking(url: string): Pick<Platform, 'url' | 'ask' | 'admin'> {
  const ask = (path: string, options: Ask = {}): Promise<Answer> => request(`${url}${path}`, options);
  return { url, ask, admin: (path, options) => ask(path, { ...options, token: adminToken }) };
}

async function listening(stdout: NodeJS.ReadableStream): Promise<string | null> {
  return new Promise((resolve) => {
    createInterface({ input: stdout })
      .on('line', (line) => {
        const event: { readonly event?: string; readonly url?: string } = JSON.parse(line);
        if (event.event === 'listening' && event.url !== undefined) resolve(event.url);
      })
      .on('close', () => resolve(null));
  });
}

async function request(url: string, options: Ask): Promise<Answer> {
  const { status, headers, bytes } = await send(url, options.method ?? 'GET', sentOf(options));
  const text = new TextDecoder().decode(bytes);
  const isJson = /[/+]json/.test(headers.get('content-type') ?? '') && text !== '';
  return { status, headers, bytes, text, json: isJson ? JSON.parse(text) : undefined };
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}
