import type { ReadOptions, RunStatement, SchemaFacts } from '@tablewright/introspect';
import { mysqlSettings, readFacts } from '@tablewright/introspect';
import type mysql from 'mysql2/promise';
import { withMysql } from './mariadb.ts';

/** Reads and builds the facts of a database; `told` is given every statement. */
export function mysqlFacts(
  url: string,
  options: ReadOptions = {},
  told: (sql: string) => void = () => {},
): Promise<SchemaFacts> {
  return withMysql(url, async (connection) => {
    await connection.query(mysqlSettings);
    const run: RunStatement = async (sql, parameters) => {
      told(sql);
      const query = { sql, values: [...parameters], rowsAsArray: true, typeCast: asText };
      const [rows] = await connection.query<mysql.RowDataPacket[][]>(query);
      return rows.map((row) => row.map((value: unknown) => (typeof value === 'string' ? value : null)));
    };
    return readFacts('mysql', run, options);
  });
}

function asText(field: { string(encoding: 'utf8'): string | null }): string | null {
  return field.string('utf8');
}
