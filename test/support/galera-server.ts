/**
 * A process of its own that holds a Galera cluster of three MariaDB servers. Started by `startGalera` in galera.ts; not meant
 * to be imported. The first node makes a data directory; the others are sent it, by rsync.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, rmSync } from 'node:fs';
import { makeDataFolder } from './data-folder.ts';
import { galeraPorts, galeraSynced, installGalera, startGaleraNode } from './galera-node.ts';
import { nobody } from './mysql-holder.ts';

const isRoot = process.getuid?.() === 0;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
const directory = makeDataFolder('galera');
const nodes: ChildProcess[] = [];
try {
  const parentGone = once(process.stdin.resume(), 'close');
  if (isRoot) chownSync(directory, nobody, nobody);
  installGalera(directory);
  const ports = await Promise.all([0, 1, 2].map(galeraPorts));
  const urls: string[] = [];
  for (const [place, own] of ports.entries()) {
    const members = ports.slice(0, place).map(({ group }) => group);
    nodes.push(startGaleraNode({ directory, place, ports: own, members }));
    urls.push(`mariadb://root@127.0.0.1:${own.own}/mysql`);
    await galeraSynced(urls[place] ?? '', nodes[place]);
  }
  process.stdout.write(`${JSON.stringify({ urls, pids: nodes.map(({ pid }) => pid) })}\n`);
  await parentGone;
} finally {
  for (const node of nodes) if (node.exitCode === null && node.signalCode === null) node.kill('SIGKILL');
  await Promise.all(nodes.map((node) => node.exitCode ?? node.signalCode ?? once(node, 'exit')));
  rmSync(directory, { recursive: true, force: true });
}
process.exit();
