import type { SchemaFacts } from './facts.ts';
import { buildMysqlTables } from './mysql/tables.ts';
import { buildTables } from './postgres/tables.ts';
import { type ReadOptions, type RunStatement, readCatalog } from './read.ts';
import { readMysqlCatalog } from './read-mysql.ts';

/** What a connection speaks: the protocol and SQL of PostgreSQL, or those that MySQL and MariaDB share. */
export type Family = 'postgres' | 'mysql';

/** Reads the facts of a database over a connection of one family. Rejects with whatever `run` rejects with. */
export async function readFacts(family: Family, run: RunStatement, options: ReadOptions = {}): Promise<SchemaFacts> {
  return family === 'mysql'
    ? buildMysqlTables(await readMysqlCatalog(run, options))
    : buildTables(await readCatalog(run, options));
}
