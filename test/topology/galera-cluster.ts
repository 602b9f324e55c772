/** Three Galera nodes of Debian's MariaDB in a folder of their own, which can be killed and come back. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, rmSync } from 'node:fs';
import { galeraData, galeraPorts, galeraSynced, installGalera, startGaleraNode } from '../support/galera-node.ts';
import { identity, nobody } from '../support/mysql-holder.ts';

/** Running nodes. */
export interface GaleraCluster {
  /** Addresses of all nodes, of a user who may do everything. */
  readonly urls: readonly string[];
  /** Ends a node at once, as a loss of power does. */
  kill(place: number): Promise<void>;
  /** Starts a node that was killed, and waits until it has what it missed. */
  restart(place: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts them one after the other: the first sends the others its data. */
export async function startGaleraCluster(folder: string): Promise<GaleraCluster> {
  if ('uid' in identity) chownSync(folder, nobody, nobody);
  const places = [0, 1, 2];
  installGalera(folder);
  const ports = await Promise.all(places.map(galeraPorts));
  const urls = ports.map(({ own }) => `mariadb://root@127.0.0.1:${own}/mysql`);
  const nodes: (ChildProcess | undefined)[] = [];
  const start = async (place: number, members: readonly number[]): Promise<void> => {
    const own = ports[place];
    if (own === undefined) return;
    const addresses = members.map((member) => ports[member]?.group ?? 0);
    // The last of the others sends the data: it stands still meanwhile, and writes go to the first.
    const settings = members.length === 0 ? [] : [`--wsrep-sst-donor=n${members.at(-1)},`];
    nodes[place] = startGaleraNode({ directory: folder, place, ports: own, members: addresses, settings });
    await galeraSynced(urls[place] ?? '', nodes[place]);
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
    for (const place of places) await start(place, places.slice(0, place));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    urls,
    kill,
    async restart(place) {
      rmSync(galeraData(folder, place), { recursive: true, force: true });
      await start(
        place,
        places.filter((other) => other !== place),
      );
    },
    stop,
  };
}
