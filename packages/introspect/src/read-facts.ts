import type { SchemaFacts } from './facts.ts';
import type { ChangedRelations } from './marks.ts';
import type { MysqlCatalog } from './mysql/catalog.ts';
import { buildMysqlTables } from './mysql/tables.ts';
import type { Catalog } from './postgres/catalog.ts';
import { type BuiltTables, buildRelations, buildTables } from './postgres/tables.ts';
import { type ReadOptions, type RunStatement, readCatalog, rereadCatalog } from './read.ts';
import { readMysqlCatalog } from './read-mysql.ts';

/** What a connection speaks: the protocol and SQL of PostgreSQL, or those that MySQL and MariaDB share. */
export type Family = 'postgres' | 'mysql';

/** The rows that a server reports, of either family. */
export type AnyCatalog = Catalog | MysqlCatalog;

/** Facts, and what they were built from where a part of them can be read again. */
export interface Reading {
  readonly facts: SchemaFacts;
  /** Of PostgreSQL only. */
  readonly origin: { readonly catalog: Catalog; readonly relations: BuiltTables['relations'] } | null;
}

/** Reads the facts of a database over a connection of one family. Rejects with whatever `run` rejects with. */
export async function readFacts(family: Family, run: RunStatement, options: ReadOptions = {}): Promise<SchemaFacts> {
  return (await readTables(family, run, options)).facts;
}

/** The same, so that a part of it can be read again. */
export async function readTables(family: Family, run: RunStatement, options: ReadOptions = {}): Promise<Reading> {
  const catalog = await readAnyCatalog(family, run, options);
  if ('dialect' in catalog) return { facts: buildMysqlTables(catalog), origin: null };
  const { facts, relations } = buildRelations(catalog);
  return { facts, origin: { catalog, relations } };
}

/**
 * Reads again what changed since, with the same options: the facts are those of `readTables`, and tables that did not
 * change are the same objects. Null where everything has to be read.
 */
export async function rereadTables(
  run: RunStatement,
  { origin }: Reading,
  changed: ChangedRelations,
): Promise<Reading | null> {
  if (origin === null || changed === 'all') return null;
  const merged = await rereadCatalog(run, origin.catalog, changed);
  if (merged === null) return null;
  const kept = new Map([...origin.relations].filter(([oid]) => !merged.reread.has(oid)));
  const { facts, relations } = buildRelations(merged.catalog, kept);
  return { facts, origin: { catalog: merged.catalog, relations } };
}

/** Reads the catalog of a database over a connection of one family. Rejects with whatever `run` rejects with. */
export function readAnyCatalog(family: Family, run: RunStatement, options: ReadOptions = {}): Promise<AnyCatalog> {
  return family === 'mysql' ? readMysqlCatalog(run, options) : readCatalog(run, options);
}

/** Builds the facts of a catalog of either family. */
export function buildFacts(catalog: AnyCatalog): SchemaFacts {
  return 'dialect' in catalog ? buildMysqlTables(catalog) : buildTables(catalog);
}
