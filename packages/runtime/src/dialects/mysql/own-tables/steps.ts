/** SQL statements of migrations on MySQL and MariaDB, adapted to the server at hand. */
import { type Migration, type StepMigration, stepChecksumOf } from '../../../system/migration.ts';
import { tableOptions } from '../texts.ts';

/** Features of a server, by its version. */
export interface MysqlServer {
  readonly isMariadb: boolean;
  /** True if it has the type `uuid`: MariaDB 10.7 and later. */
  readonly hasUuid: boolean;
}

/** Reads the answer of `SELECT VERSION()`. */
export function mysqlServer(version: string): MysqlServer {
  const isMariadb = /mariadb/i.test(version);
  const [major = 0, minor = 0] = (/\d+\.\d+/.exec(version.replace(/^5\.5\.5-/, ''))?.[0] ?? '').split('.').map(Number);
  return { isMariadb, hasUuid: isMariadb && (major > 10 || (major === 10 && minor >= 7)) };
}

/** The steps of a migration. Throws for one that has none. */
export function mysqlStepsOf({ id, name, steps }: Migration): StepMigration {
  if (steps === undefined) throw new Error(`The migration ${id} "${name}" has no steps for MySQL and MariaDB.`);
  return steps;
}

/** The checksum of a migration's statements there. */
export function mysqlChecksum(migration: Migration): string {
  return stepChecksumOf(mysqlStepsOf(migration));
}

/** A statement of a migration for a server. Texts are compared by their characters, so that no two tokens are one. */
export function mysqlStatement(text: string, { isMariadb, hasUuid }: MysqlServer): string {
  return text
    .replaceAll('{uuid}', hasUuid ? 'uuid' : 'char(36) CHARACTER SET ascii COLLATE ascii_bin')
    .replaceAll('{table}', tableOptions(isMariadb ? 'mariadb' : 'mysql'));
}
