/** Three MySQL servers in a folder of their own: one that two others follow, or a group with one primary. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync } from 'node:fs';
import { freePort } from '../support/free-port.ts';
import { identity, nobody } from '../support/mysql-holder.ts';
import {
  followMysql,
  groupSettings,
  installMysqlNode,
  joinMysqlGroup,
  mysqlAnswers,
  mysqlNodeUrl,
  startMysqlNode,
} from '../support/mysql-node.ts';

/** Running servers. */
export interface MysqlCluster {
  /** Addresses of all, of a user who may do everything. */
  readonly urls: readonly string[];
  /** Ends a server at once, as a loss of power does. */
  kill(place: number): Promise<void>;
  /** Starts one that was killed: it follows again, or joins the group. */
  restart(place: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts them. The first takes writes. */
export async function startMysqlCluster(folder: string, kind: 'replicas' | 'group'): Promise<MysqlCluster> {
  chmodSync(folder, 0o755);
  if ('uid' in identity) chownSync(folder, nobody, nobody);
  const places = [0, 1, 2];
  const ports = await Promise.all(places.map(async () => ({ own: await freePort(), group: await freePort() })));
  const urls = ports.map(({ own }) => mysqlNodeUrl(own));
  const groups = ports.map(({ group }) => group);
  const nodes: (ChildProcess | undefined)[] = [];
  const start = (place: number): void => {
    const { own = 0, group = 0 } = ports[place] ?? {};
    const settings = kind === 'group' ? groupSettings(group, groups) : [];
    nodes[place] = startMysqlNode(folder, place, own, ['--performance-schema-instrument=%=OFF', ...settings]);
  };
  const join = async (place: number, isFirst: boolean): Promise<void> => {
    const [url = '', node] = [urls[place], nodes[place]];
    if (kind === 'group') await joinMysqlGroup(url, node, isFirst);
    else if (place > 0) await followMysql(url, node, ports[0]?.own ?? 0);
  };
  const kill = async (place: number): Promise<void> => {
    const node = nodes[place];
    if (node === undefined || node.exitCode !== null || node.signalCode !== null) return;
    const ended = once(node, 'exit');
    node.kill('SIGKILL');
    await ended;
  };
  const stop = async (): Promise<void> => void (await Promise.all(places.map(kill)));
  try {
    for (const place of places) {
      installMysqlNode(folder, place);
      start(place);
    }
    for (const place of places) {
      const { ask, end } = await mysqlAnswers(urls[place] ?? '', nodes[place]);
      await ask('RESET BINARY LOGS AND GTIDS');
      await end();
      await join(place, place === 0);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    urls,
    kill,
    async restart(place) {
      start(place);
      if (kind === 'group') await join(place, false);
      else await mysqlAnswers(urls[place] ?? '', nodes[place]);
    },
    stop,
  };
}
