/** A database of MySQL or MariaDB with the platform's own tables, reached through a proxy that does harm, and a project. */
import type { RowDataPacket } from 'mysql2';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from './mariadb.ts';
import { createProject } from './platform.ts';
import type { servers } from './servers.ts';
import { installMysqlSystem } from './system.ts';

/** What a server is started on, behind which connections break. */
export interface FaultyMysql {
  /** Past the proxy. */
  readonly url: string;
  readonly folder: string;
  /** The proxy in use. */
  proxy(): FaultProxy;
  /** Ends the proxy with what it holds, and starts another. */
  renewProxy(): Promise<void>;
  /** Runs SQL past the proxy; one array per row. */
  rows(sql: string): Promise<unknown[][]>;
  close(): Promise<void>;
}

/** Makes a database of SQL on a server of its own. */
export async function startFaultyMysql(
  { start, exact }: Pick<(typeof servers)[number], 'start' | 'exact'>,
  sql: string,
): Promise<FaultyMysql> {
  const server: MysqlServer = await start();
  const url = await createMysqlDatabase(server, sql, exact);
  await installMysqlSystem(url);
  let proxy = await startFaultProxy(url);
  const project = await createProject();
  return {
    url,
    folder: project.folder,
    proxy: () => proxy,
    async renewProxy() {
      await proxy.close();
      proxy = await startFaultProxy(url);
    },
    rows: (text) =>
      withMysql(url, async (connection) => {
        const [rows] = await connection.query<RowDataPacket[][]>({ sql: text, rowsAsArray: true });
        return rows;
      }),
    async close() {
      await proxy.close();
      await Promise.all([server.stop(), project.remove()]);
    },
  };
}
