/**
 * Runs a command in a network that ends at this machine, and tells how often something in it looked for a way out. Started
 * by `runIsolated` in isolated.ts inside a namespace of its own; not meant to be imported. A server in it is reached, and
 * reaches its database, through sockets of the file system, which both sides see.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { type Door, openDoor } from './door.ts';

const [counts = '', doors = '[]', command = '', ...args] = process.argv.slice(2);

/** Only this process's own caller writes them. */
const inner: readonly Door[] = JSON.parse(doors);
for (const door of inner) openDoor(door).unref();
const child = spawn(command, args, { stdio: 'inherit' });
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  writeFileSync(counts, String(lost()));
  process.exit(code ?? 1);
});

/** Packets that found no route, and questions to a resolver of this machine, which is not here: since the namespace began. */
function lost(): number {
  const four = ['Ip', 'Udp'].map((protocol) => {
    const [names = '', values = ''] = linesOf('/proc/net/snmp').filter((line) => line.startsWith(`${protocol}: `));
    return counterOf(names.split(' '), values.split(' '), protocol === 'Ip' ? 'OutNoRoutes' : 'NoPorts');
  });
  const six = linesOf('/proc/net/snmp6').map((line) => line.split(/\s+/));
  return [...four, ...six.filter(([name]) => name === 'Ip6OutNoRoutes').map(([, value]) => Number(value))].reduce(
    (sum, number) => sum + number,
    0,
  );
}

function counterOf(names: readonly string[], values: readonly string[], name: string): number {
  return Number(values[names.indexOf(name)] ?? 0);
}

function linesOf(path: string): readonly string[] {
  return readFileSync(path, 'utf8').split('\n');
}
