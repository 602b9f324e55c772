import type { SchemaFacts } from './facts.ts';
import type { MysqlCatalog } from './mysql/catalog.ts';
import { buildMysqlTables } from './mysql/tables.ts';
import type { Catalog } from './postgres/catalog.ts';
import { buildTables } from './postgres/tables.ts';
import { type ReadOptions, type RunStatement, readCatalog } from './read.ts';
import { readMysqlCatalog } from './read-mysql.ts';

/** What a connection speaks: the protocol and SQL of PostgreSQL, or those that MySQL and MariaDB share. */
export type Family = 'postgres' | 'mysql';

/** The rows that a server reports, of either family. */
export type AnyCatalog = Catalog | MysqlCatalog;

/** Reads the facts of a database over a connection of one family. Rejects with whatever `run` rejects with. */
export async function readFacts(family: Family, run: RunStatement, options: ReadOptions = {}): Promise<SchemaFacts> {
  return buildFacts(await readAnyCatalog(family, run, options));
}

/** Reads the catalog of a database over a connection of one family. Rejects with whatever `run` rejects with. */
export function readAnyCatalog(family: Family, run: RunStatement, options: ReadOptions = {}): Promise<AnyCatalog> {
  return family === 'mysql' ? readMysqlCatalog(run, options) : readCatalog(run, options);
}

/** Builds the facts of a catalog of either family. */
export function buildFacts(catalog: AnyCatalog): SchemaFacts {
  return 'dialect' in catalog ? buildMysqlTables(catalog) : buildTables(catalog);
}
