/** Puts a server under load from another process: with wrk where it is installed, else with the driver beside this file. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uniqueText } from './write-scenarios.ts';

/** How hard and how long. */
export interface Effort {
  readonly connections: number;
  readonly seconds: number;
  /** A line of the head of every request, without its end; only the driver beside this file sends one. */
  readonly header?: string;
}

/** Result of a load. */
export interface Load {
  readonly requests: number;
  /** Answers other than 2xx and broken connections. */
  readonly errors: number;
  /** Measured length of the load. */
  readonly seconds: number;
  /** Latencies in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Asks for the paths in turn until the time is over; every connection always has one request under way. */
export type Driver = (url: string, paths: readonly string[], effort: Effort) => Promise<Load>;

/** The driver this machine has, and its name. */
export function chooseDriver(): { readonly name: string; readonly drive: Driver } {
  const hasWrk = spawnSync('wrk', ['-v']).error === undefined;
  return hasWrk
    ? { name: 'wrk', drive: driveWith(wrkCommand) }
    : { name: 'bench/drive.ts', drive: driveWith(ownCommand) };
}

/** The driver beside this file, which also writes: see `requestOf` there for what a line may be. */
export const driveOwn: Driver = driveWith(ownCommand);

type Command = (url: string, pathsFile: string, effort: Effort) => readonly [string, ...string[]];

function wrkCommand(url: string, pathsFile: string, { connections, seconds }: Effort): readonly [string, ...string[]] {
  const script = join(import.meta.dirname, 'wrk.lua');
  return [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '20s',
    '-s',
    script,
    url,
    '--',
    pathsFile,
    uniqueText,
  ];
}

function ownCommand(url: string, pathsFile: string, effort: Effort): readonly [string, ...string[]] {
  const script = join(import.meta.dirname, 'drive.ts');
  const { connections, seconds, header = '' } = effort;
  return [process.execPath, script, url, pathsFile, String(connections), String(seconds), header];
}

/** Both drivers print one line of JSON, behind whatever else they print. */
function driveWith(command: Command): Driver {
  return async (url, paths, effort) => {
    const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'));
    try {
      const pathsFile = join(folder, 'paths');
      await writeFile(pathsFile, paths.map((path) => `${encodeBrackets(path)}\n`).join(''));
      const [program, ...args] = command(url, pathsFile, effort);
      const output = await run(program, args);
      const load: Load = JSON.parse(output.trim().split('\n').at(-1) ?? '');
      return load;
    } finally {
      await rm(folder, { recursive: true });
    }
  };
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ended with exit code ${code}.`);
  return output;
}

/** Clients percent-encode brackets of addresses, so the load does as well. */
export function encodeBrackets(path: string): string {
  if (!path.startsWith('/')) return path;
  return path.replaceAll('[', '%5B').replaceAll(']', '%5D');
}
