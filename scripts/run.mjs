#!/usr/bin/env node
// Runs one job of this repository on the pinned Node, installing dependencies first when the lockfile asks for it.
// This file alone runs on whatever Node the machine has (20 or newer): plain JavaScript, no dependencies.
// The scripts of package.json call it by `exec`: npm passes a signal no further than to the shell that it starts, so
// this process takes that shell's place (exec.cmd at the top stands in for `exec` on Windows).
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.platform-installed');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const vitest = 'node_modules/vitest/vitest.mjs';

/** What each job runs on the pinned Node; arguments of the command line are appended. */
const jobs = {
  start: ['packages/cli/bin/platform.cjs', 'start', '--sample'],
  platform: ['packages/cli/bin/platform.cjs'],
  test: ['scripts/test.ts'],
  check: ['scripts/test.ts', '--no-database'],
  'test:frontends': [vitest, 'run', '--project', 'frontends'],
  'test:packages': [
    vitest,
    'run',
    '--project',
    'packages',
    '--reporter=verbose',
    '--reporter=./test/packages/table.ts',
  ],
  golden: [vitest, 'run', '--project', 'unit', 'test/golden', '--update'],
  bench: ['bench/main.ts'],
  build: ['scripts/build.ts'],
  changeset: ['node_modules/@changesets/cli/bin.js'],
  sbom: ['scripts/sbom.ts'],
  topology: ['test/topology/main.ts'],
  docs: ['node_modules/vitepress/bin/vitepress.js', 'build', 'docs'],
  'record-examples': ['scripts/record-examples.ts'],
  format: ['node_modules/@biomejs/biome/bin/biome', 'check', '--write'],
  install: [],
};

/** Changes when the dependencies do, and when the directory moves to another kind of machine. */
function expectedStamp() {
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'));
  return `${createHash('sha256').update(lockfile).digest('hex')} ${process.platform}-${process.arch}`;
}

function isInstalled() {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === expectedStamp();
}

function install() {
  process.stderr.write('Installing dependencies (only when the lockfile has changed) …\n');
  rmSync(stampFile, { force: true });
  const pnpm = ['--yes', manifest.packageManager, 'install', '--frozen-lockfile', '--loglevel=error'];
  const { status, error } = spawnSync('npx', pnpm, {
    cwd: root,
    // Results of a job may be read from stdout, so an installation reports on stderr only.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
    // CI: pnpm replaces a node_modules of another layout without asking.
    env: { ...process.env, CI: 'true' },
  });
  if (error || status !== 0) {
    fail(`Could not install the dependencies${error ? ` (${error.message})` : ''}; see the messages above.`);
  }
  linkNode();
  writeFileSync(stampFile, expectedStamp());
}

/** Puts the pinned Node first in the way of every package script: npm looks for commands in node_modules/.bin. */
function linkNode() {
  const node = pinnedNode();
  if (process.platform === 'win32' || node === process.execPath) return;
  const link = join(modules, '.bin', 'node');
  rmSync(link, { force: true });
  symlinkSync(relative(dirname(link), node), link);
}

/**
 * The pinned Node: the binary of the platform package, which needs no install script; else the one that the package
 * `node` fetches by its script; else the running one when its major version is right.
 */
function pinnedNode() {
  const { node: version } = manifest.devDependencies;
  const windows = process.platform === 'win32';
  const name = windows ? 'node.exe' : 'node';
  const packaged = join(modules, `node-${windows ? 'win' : process.platform}-${process.arch}`, 'bin', name);
  if (existsSync(packaged)) return packaged;
  const fetched = join(modules, 'node', 'bin', name);
  if (existsSync(fetched)) return fetched;
  if (process.versions.node.split('.')[0] === version.split('.')[0]) return process.execPath;
  spawnSync(process.execPath, ['installArchSpecificPackage.js'], {
    cwd: join(modules, 'node'),
    stdio: ['ignore', 2, 2],
  });
  if (existsSync(fetched)) return fetched;
  return fail(`No Node ${version} for ${process.platform}-${process.arch}. Install Node ${version} and try again.`);
}

/** Runs the job as if it were this process: same streams, signals and exit code. */
function run(args) {
  const path = `${join(modules, '.bin')}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}`;
  const child = spawn(pinnedNode(), args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  // A terminal sends Ctrl-C to the child too; sent twice, it would look like a second, impatient Ctrl-C.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const [name, ...rest] = process.argv.slice(2);
const job = jobs[name ?? ''];
if (!job) fail(`Usage: node scripts/run.mjs ${Object.keys(jobs).join(' | ')} [arguments]`);
if (!isInstalled()) install();
if (name !== 'install') run([...job, ...rest]);
