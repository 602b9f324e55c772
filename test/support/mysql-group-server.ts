/**
 * A process of its own that holds a MySQL group of two servers (Group Replication, one primary). Started by `startMysqlGroup` in
 * mysql-group.ts; not meant to be imported. The second node learns everything from the log of the first.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, rmSync } from 'node:fs';
import { makeDataFolder } from './data-folder.ts';
import { freePort } from './free-port.ts';
import { nobody } from './mysql-holder.ts';
import {
  groupSettings,
  installMysqlNode,
  joinMysqlGroup,
  mysqlAnswers,
  mysqlNodeUrl,
  startMysqlNode,
} from './mysql-node.ts';

const isRoot = process.getuid?.() === 0;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
const directory = makeDataFolder('group');
const nodes: ChildProcess[] = [];
try {
  const parentGone = once(process.stdin.resume(), 'close');
  if (isRoot) chownSync(directory, nobody, nobody);
  const ports = await Promise.all([0, 1].map(async () => ({ own: await freePort(), group: await freePort() })));
  const groups = ports.map(({ group }) => group);
  const urls = ports.map(({ own }) => mysqlNodeUrl(own));
  for (const [place, { own, group }] of ports.entries()) {
    installMysqlNode(directory, place);
    nodes.push(startMysqlNode(directory, place, own, groupSettings(group, groups)));
  }
  for (const [place, url] of urls.entries()) {
    const { ask, end } = await mysqlAnswers(url, nodes[place]);
    await ask('RESET BINARY LOGS AND GTIDS');
    await end();
    await joinMysqlGroup(url, nodes[place], place === 0);
  }
  process.stdout.write(`${JSON.stringify({ urls, pids: nodes.map(({ pid }) => pid) })}\n`);
  await parentGone;
} finally {
  for (const node of nodes) if (node.exitCode === null && node.signalCode === null) node.kill('SIGKILL');
  await Promise.all(nodes.map((node) => node.exitCode ?? node.signalCode ?? once(node, 'exit')));
  rmSync(directory, { recursive: true, force: true });
}
process.exit();
