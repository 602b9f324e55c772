/**
 * Stands for `systemctl` in tests of runbooks: runs the unit of templates/deploy with its own settings, below a folder that
 * stands for the root of the machine. The arguments are that folder and those of `systemctl`.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, globSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [machine = '', verb = ''] = process.argv.slice(2);
const unit = join(machine, 'etc/systemd/system/tablewright.service');
const pidFile = join(machine, 'pid');

/** Lines of the unit and of the files beside it, as name and value. */
function settings(): readonly (readonly [string, string])[] {
  const texts = [unit, ...globSync(`${unit}.d/*.conf`)].map((path) => readFileSync(path, 'utf8'));
  return texts.flatMap((text) =>
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
  );
}

/** The environment of the service: its own variables, those of its file, and where its secrets lie. */
function environment(): NodeJS.ProcessEnv {
  const credentials = join(machine, 'run/credentials');
  mkdirSync(credentials, { recursive: true });
  const found: [string, string][] = [['PATH', `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`]];
  const add = (line: string): void => {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name !== '') found.push([name, value]);
  };
  for (const [name, value] of settings()) {
    const [credential = '', path = ''] = value.split(':');
    if (name === 'LoadCredential') copyFileSync(path, join(credentials, credential));
    if (name === 'Environment') {
      add(
        value
          .replace('%d', credentials)
          .replace('%S', join(machine, 'var/lib'))
          .replace('%C', join(machine, 'var/cache')),
      );
    }
  }
  for (const [name, value] of settings()) {
    if (name === 'EnvironmentFile') readFileSync(value.replace(/^-/, ''), 'utf8').split('\n').forEach(add);
  }
  return Object.fromEntries(found);
}

async function start(): Promise<void> {
  const value = (wanted: string): string => settings().findLast(([name]) => name === wanted)?.[1] ?? '';
  const [command = '', ...args] = value('ExecStart').split(' ');
  const log = openSync(join(machine, 'log'), 'a');
  const env = environment();
  const child = spawn(command, args, {
    cwd: value('WorkingDirectory'),
    env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  writeFileSync(pidFile, String(child.pid));
  const ended = new Promise<never>((_, reject) => {
    child.on('exit', (code) => reject(new Error(`The server ended with code ${code}: ${join(machine, 'log')}`)));
  });
  const listens = async (): Promise<void> => {
    for (;;) {
      if (
        await fetch(`http://127.0.0.1:${env.PORT}/server/ping`).then(
          ({ ok }) => ok,
          () => false,
        )
      )
        return;
      await sleep(50);
    }
  };
  await Promise.race([listens(), ended]);
  child.unref();
}

function mainPid(): number {
  return existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0;
}

async function stop(): Promise<void> {
  const pid = mainPid();
  const state = (): string => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 'Z';
  if (!existsSync(`/proc/${pid}`) || state() === 'Z') return;
  process.kill(pid, 'SIGTERM');
  const end = performance.now() + 30_000;
  while (existsSync(`/proc/${pid}`) && state() !== 'Z') {
    if (performance.now() > end) process.kill(-pid, 'SIGKILL');
    await sleep(20);
  }
}

if (verb === 'stop' || verb === 'restart') await stop();
if (verb === 'start' || verb === 'restart') await start();
if (verb === 'reload') process.kill(mainPid(), 'SIGHUP');
process.exit();
