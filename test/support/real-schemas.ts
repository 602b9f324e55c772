/** Schemas that nobody of this project wrote, from the folder beside the repository that not every machine has. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SchemaFacts } from '@tablewright/introspect';
import { factsOf } from '../introspect/facts.ts';
import { createDatabase, loadDump } from './database.ts';
import { createMysqlDatabase } from './mariadb.ts';
import { mysqlFacts } from './mysql-facts.ts';
import { servers } from './servers.ts';
import { installMysqlSystem, installSystem } from './system.ts';

const folder = fileURLToPath(new URL('../../../shared/real-schemas/', import.meta.url));

/** True where the folder is missing; tests say so in their names. */
export const noRealSchemas = !existsSync(folder);

/** Facts of a database, by the server and the name of the schema: `postgres-pagila`. */
export interface NamedFacts {
  readonly name: string;
  readonly facts: SchemaFacts;
}

/** Reads every schema, each on one server that can be started here, with the platform's own tables beside it. */
export function realFacts(): Promise<readonly NamedFacts[]> {
  all ??= readAll();
  return all;
}

/** Read once for all test files of a worker. */
let all: Promise<readonly NamedFacts[]> | undefined;

async function readAll(): Promise<readonly NamedFacts[]> {
  if (noRealSchemas) return [];
  const found: NamedFacts[] = [];
  for (const name of await schemasIn('postgres')) {
    found.push({ name: `postgres-${name}`, facts: await postgresFacts(name, true) });
  }
  const family = servers.find(({ missing }) => !missing);
  if (family === undefined) return found;
  const server = await family.start();
  for (const name of await schemasIn('mysql')) {
    const url = await createMysqlDatabase(server, await mysqlSchema(name));
    await installMysqlSystem(url);
    found.push({ name: `${family.dialect}-${name}`, facts: await mysqlFacts(url) });
  }
  return found;
}

/** Reads one schema on PostgreSQL. */
export async function postgresFacts(name: string, system: boolean): Promise<SchemaFacts> {
  const database = await createDatabase();
  try {
    await loadDump(database.url, join(folder, 'postgres', `${name}.sql`));
    if (system) await installSystem(database.url);
    return await factsOf(database.url);
  } finally {
    await database.drop();
  }
}

async function schemasIn(kind: 'postgres' | 'mysql'): Promise<readonly string[]> {
  const files = await readdir(join(folder, kind));
  return files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -'.sql'.length));
}

/** A dump of MariaDB: it takes a value for a generated column, and leaves it, and any default without parentheses. */
export async function mysqlSchema(name: string): Promise<string> {
  const sql = await readFile(join(folder, 'mysql', `${name}.sql`), 'utf8');
  return sql
    .replaceAll(/INSERT INTO `(?:books_sold|sales)` VALUES[^;]*;/g, '')
    .replaceAll(/DEFAULT (curdate\(\)|floor\(rand\(\) \* 1000\))/g, 'DEFAULT ($1)')
    .replaceAll(/(`\w+` (?:text|longtext|json)\b[^,\n]*) DEFAULT ('(?:[^'\\]|\\.)*')/g, '$1 DEFAULT ($2)');
}
