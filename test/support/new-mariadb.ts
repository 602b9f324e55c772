/** A MariaDB of the newest release, which has vectors: one for all test files of a worker. */
import { type MysqlServer, startHeld } from './mariadb.ts';
import { fetchUnpacked } from './mysql.ts';

const reason = fetchUnpacked('mariadb');

/** True where no server can be started. */
export const noNewMariadb = reason !== undefined;

/** Ends the names of tests that need one: why they are skipped, when they are. */
export const withoutNewMariadb = reason === undefined ? '' : ` (skipped: ${reason})`;

let shared: Promise<MysqlServer> | undefined;

/** Starts the server, or gives the one that this process has started; it ends with the process. */
export function startNewMariadb(): Promise<MysqlServer> {
  shared ??= startHeld('new-mariadb-server.ts').then((server) => ({ ...server, stop: async () => {} }));
  return shared;
}
