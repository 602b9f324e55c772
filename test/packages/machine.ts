/**
 * A stranger's machine in a temporary folder: an ordinary user with an empty home and an empty cache, the pinned Node, three
 * package managers, and the registry of the run, which holds the packed packages beside those of everybody else.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { makeDataFolder, removeDataFolder } from '../support/data-folder.ts';
import { publishPackages } from './registry.ts';
import { root } from './tarballs.ts';

/** How a command ended, and all that it printed. */
export interface Finished {
  readonly code: number | null;
  readonly output: string;
}

/** A machine with nothing but Node, package managers and a registry. */
export interface Machine {
  readonly folder: string;
  /** Address of its registry. */
  readonly registry: string;
  /** Makes a folder that belongs to the user. */
  makeFolder(path: string): string;
  /** Gives a folder with all that is in it to the user, or to another one where the tests run as root. */
  own(path: string, owner?: Identity): void;
  /** Writes a file that belongs to the user. */
  write(path: string, text: string): void;
  /** Starts a command. Its processes are one group. With no identity it is that of the tests themselves. */
  start(cwd: string, command: readonly string[], variables?: Variables, identity?: Identity): ChildProcess;
  /** Runs a command to its end. */
  run(cwd: string, command: readonly string[], variables?: Variables, identity?: Identity): Promise<Finished>;
  /** Runs a command that has to succeed, and resolves to all that it printed. */
  succeed(cwd: string, command: readonly string[], variables?: Variables): Promise<string>;
  close(): Promise<void>;
}

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** Numbers of a user and its group; empty for those of this process. */
export interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** True where the tests may become other users. */
export const isRoot = process.getuid?.() === 0;

/** Debian's `nobody`: tests that run as root run everything of a stranger as this user. */
const ordinary: Identity = isRoot ? { uid: 65_534, gid: 65_534 } : {};

/** Sets the machine up. The registry asks others where it lacks a package, and listens on 127.0.0.1 only. */
export async function startMachine(): Promise<Machine> {
  const folder = realpathSync(makeDataFolder('machine'));
  chmodSync(folder, 0o755);
  const makeFolder = (path: string): string => {
    mkdirSync(join(folder, path), { recursive: true });
    for (let part = path; part !== '.'; part = dirname(part)) own(join(folder, part));
    return join(folder, path);
  };
  const write = (path: string, text: string): void => {
    makeFolder(dirname(path));
    writeFileSync(join(folder, path), text);
    own(join(folder, path));
  };
  for (const path of ['home', 'tmp']) makeFolder(path);
  const bin = installTools(folder);
  const base = {
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    LANG: 'C.UTF-8',
    PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin`,
  };
  const registry = publishPackages();
  const environment: Variables = { ...base, ...settingsOf(registry) };
  const start: Machine['start'] = (cwd, [command = '', ...args], variables = {}, identity = ordinary) => {
    const env = { ...environment, ...variables };
    return spawn(command, args, { cwd, env, ...identity, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  };
  const run: Machine['run'] = (...args) => finish(start(...args));
  return {
    folder,
    registry,
    makeFolder,
    own: (path, { uid, gid } = ordinary) => {
      if (isRoot && uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, path]);
    },
    write,
    start,
    run,
    succeed: async (cwd, command, variables) => {
      const { code, output } = await run(cwd, command, variables);
      if (code !== 0) throw new Error(`\`${command.join(' ')}\` ended with ${code}:\n${output}`);
      return output;
    },
    close: async () => removeDataFolder(folder),
  };
}

function own(path: string): void {
  const { uid, gid } = ordinary;
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** What every package manager is told about the registry, each in its own words. */
function settingsOf(url: string): Variables {
  return {
    npm_config_registry: url,
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    YARN_NPM_REGISTRY_SERVER: url,
    YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
    YARN_ENABLE_TELEMETRY: '0',
    // Yarn waits some days before it takes a version; these are seconds old.
    YARN_NPM_MINIMAL_AGE_GATE: '0',
    // Of no use on the machine of a person: Yarn and pnpm refuse to make a lock file where they see CI.
    YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
  };
}

/** Puts Node, npm, pnpm and Yarn where the user may read them, and resolves to the folder for PATH. */
function installTools(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  cpSync(realpathSync(process.execPath), join(bin, 'node'));
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())));
  copyTool(folder, npm, { npm: 'bin/npm-cli.js', npx: 'bin/npx-cli.js' });
  copyTool(folder, realpathSync(join(root, 'node_modules/pnpm')), { pnpm: 'bin/pnpm.cjs' });
  copyTool(folder, realpathSync(join(root, 'node_modules/@yarnpkg/cli-dist')), { yarn: 'bin/yarn.js' });
  return bin;
}

function copyTool(folder: string, source: string, commands: Readonly<Record<string, string>>): void {
  const target = join(folder, 'tools', basename(source));
  cpSync(source, target, { recursive: true, dereference: true });
  for (const [name, script] of Object.entries(commands)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nexec node ${join(target, script)} "$@"\n`, { mode: 0o755 });
  }
}

async function finish(child: ChildProcess): Promise<Finished> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  return { code, output };
}
