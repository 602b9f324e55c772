/** The platform's own tables in a database of a test's own. */
import { type MigrateOptions, type Migration, type MigrationConnection, migrate } from '@tablewright/runtime/tools';
import type mysql from 'mysql2/promise';
import type pg from 'pg';
import { withClient } from './database.ts';
import { withMysql } from './mariadb.ts';

/** What migrations need of a client. */
export function migrationConnection(client: pg.Client): MigrationConnection {
  return {
    async query(text, parameters) {
      const result = await client.query<(string | null)[]>({
        text,
        values: [...parameters],
        rowMode: 'array',
        types: { getTypeParser: () => (value: string) => value },
      });
      return result.rows;
    },
    script: async (text) => void (await client.query(text)),
  };
}

/** Installs them, in the schema `platform` unless another is named. */
export function installSystem(url: string, options: MigrateOptions = {}): Promise<readonly Migration[]> {
  return withClient(url, (client) => migrate(migrationConnection(client), options));
}

/** The same of a connection to MySQL or MariaDB. */
export function mysqlMigrationConnection(connection: mysql.Connection): MigrationConnection {
  return {
    family: 'mysql',
    async query(text, parameters) {
      const [rows] = await connection.query<mysql.RowDataPacket[][] | mysql.ResultSetHeader>({
        sql: text,
        values: [...parameters],
        rowsAsArray: true,
        typeCast: (field) => field.string('utf8'),
      });
      return Array.isArray(rows) ? rows.map((row) => row.map((value: unknown) => textOrNull(value))) : [];
    },
    script: async (text) => void (await connection.query(text)),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Installs them in a database of MySQL or MariaDB. */
export function installMysqlSystem(url: string, options: MigrateOptions = {}): Promise<readonly Migration[]> {
  return withMysql(url, (connection) => migrate(mysqlMigrationConnection(connection), options));
}
