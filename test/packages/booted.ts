/** A real systemd of tests: systemd-nspawn boots a root of its own over the programs of this machine. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Finished, isRoot, type Machine } from './machine.ts';

/** A system that has started. */
export interface Booted {
  /** Root of its files, as this machine sees them. */
  readonly root: string;
  /** Runs a command in it, as root. */
  run(...command: readonly string[]): Promise<Finished>;
  /** Runs a command that has to succeed, and resolves to all that it printed. */
  succeed(...command: readonly string[]): Promise<string>;
  /** Shuts it down. */
  close(): Promise<void>;
}

/** Reason why no system can be booted here; null where one can. */
export function bootProblem(): string | null {
  if (!isRoot) return 'tests are not run by root';
  const absent = ['systemd-nspawn', 'nsenter'].find((name) => spawnSync(name, ['--version']).status !== 0);
  if (absent !== undefined) return `${absent} is not installed`;
  return existsSync('/usr/lib/systemd/systemd') ? null : 'systemd is not installed';
}

/** Boots a system that has a project in /srv/tablewright, read-only, and the pinned Node. It shares the network. */
export async function boot(machine: Machine, project: string): Promise<Booted> {
  const root = makeRoot(machine);
  const binds = ['/usr', `${join(machine.folder, 'bin')}:/usr/local/bin`, `${project}:/srv/tablewright`];
  // Where systemd manages this machine, it makes a unit for the guest; elsewhere there is nothing to ask.
  const unit = existsSync('/run/systemd/system') ? [] : ['--keep-unit'];
  const options = ['--boot', '--quiet', '--register=no', '--console=pipe', `--machine=tablewright-${process.pid}`];
  const command = [
    ...['systemd-nspawn', `--directory=${root}`, ...binds.map((bind) => `--bind-ro=${bind}`)],
    ...[...options, ...unit],
  ];
  const guest = machine.start(root, command, {}, {});
  let printed = '';
  for (const stream of [guest.stdout, guest.stderr]) stream?.on('data', (chunk) => (printed += chunk));
  const ended = once(guest, 'close');
  const run: Booted['run'] = (...inner) =>
    machine.run('/', ['nsenter', '--all', '--target', leaderOf(guest.pid ?? 0), ...inner], {}, {});
  for (let tries = 0; (await run('systemctl', 'is-system-running')).code !== 0; tries += 1) {
    if (tries > 60 || guest.exitCode !== null) throw new Error(`The system does not start:\n${printed}`);
    await sleep(250);
  }
  return {
    root,
    run,
    succeed: async (...inner) => {
      const { code, output } = await run(...inner);
      if (code !== 0) throw new Error(`\`${inner.join(' ')}\` ended with ${code}:\n${output}`);
      return output;
    },
    close: async () => {
      guest.kill('SIGTERM');
      await ended;
    },
  };
}

/** The first process of the guest, as this machine numbers it. */
function leaderOf(pid: number): string {
  const path = `/proc/${pid}/task/${pid}/children`;
  return existsSync(path) ? (readFileSync(path, 'utf8').trim().split(' ').at(-1) ?? '') : '';
}

/** Files of a small Debian but for /usr. */
function makeRoot({ makeFolder }: Machine): string {
  const root = makeFolder('booted');
  const folders = ['dev', 'etc/systemd/system', 'proc', 'root', 'run', 'srv/tablewright', 'sys', 'tmp', 'usr', 'var'];
  for (const path of folders) mkdirSync(join(root, path), { recursive: true });
  for (const link of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${link}`, join(root, link));
  for (const name of ['os-release', 'ld.so.cache']) copyFileSync(`/etc/${name}`, join(root, 'etc', name));
  const files = {
    passwd: 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n',
    group: 'root:x:0:\nnogroup:x:65534:\n',
    // With a number it is no first boot, at which every service of this machine would be enabled.
    'machine-id': `${'0'.repeat(31)}1\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'etc', name), text);
  return root;
}
