/** The objects of a fingerprint as MySQL or MariaDB has them now, read by one query. */
import type { Fingerprint } from './contract/index.ts';
import type { Database } from './database/database.ts';
import type { LiveObject } from './live-objects.ts';

/** Reads the objects of a fingerprint by one query. Missing objects are missing from the list. */
export async function readMysqlFingerprint(
  database: Pick<Database, 'query'>,
  expected: Fingerprint,
): Promise<readonly LiveObject[]> {
  const schemas = [...new Set(expected.objects.map(({ schema }) => schema))];
  const rows =
    schemas.length === 0
      ? []
      : await database.query(
          liveObjectsSql(schemas.length),
          schemas.flatMap((schema) => [schema, schema]),
        );
  const tables = Map.groupBy(rows, ([schema, name]) => JSON.stringify([schema, name]));
  return [...tables.values()].map(readLiveObject);
}

/**
 * One row per column: schema, table, kind, column, type, whether it may be null, and its place in the primary key. The
 * database of the connection is the schema `public`.
 */
function liveObjectsSql(schemas: number): string {
  const wanted = Array(schemas).fill("IF(? = 'public', DATABASE(), ?)").join(', ');
  return `
SELECT IF(t.TABLE_SCHEMA = DATABASE(), 'public', t.TABLE_SCHEMA), t.TABLE_NAME,
  CASE WHEN t.TABLE_TYPE = 'VIEW' THEN 'v' WHEN t.CREATE_OPTIONS LIKE '%partitioned%' THEN 'p' ELSE 'r' END,
  c.COLUMN_NAME, c.COLUMN_TYPE, c.IS_NULLABLE, CAST(s.SEQ_IN_INDEX AS CHAR)
FROM information_schema.TABLES t
JOIN information_schema.COLUMNS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
LEFT JOIN information_schema.STATISTICS s ON s.TABLE_SCHEMA = c.TABLE_SCHEMA AND s.TABLE_NAME = c.TABLE_NAME
  AND s.COLUMN_NAME = c.COLUMN_NAME AND s.INDEX_NAME = 'PRIMARY'
WHERE t.TABLE_SCHEMA IN (${wanted})
ORDER BY t.TABLE_SCHEMA, t.TABLE_NAME, c.ORDINAL_POSITION`;
}

type Row = readonly (string | null)[];

function readLiveObject(rows: readonly Row[]): LiveObject {
  const [schema, name, kind] = rows[0] ?? [];
  const keyed = rows.filter((row) => row[6] != null);
  return {
    schema: schema ?? '',
    name: name ?? '',
    kind: kind ?? '',
    rowSecurity: false,
    key: keyed.sort((left, right) => Number(left[6]) - Number(right[6])).map((row) => row[3] ?? ''),
    columns: rows.map((row) => ({
      name: row[3] ?? '',
      type: row[4] ?? '',
      // Of a view's columns nothing is known, as for the compiler.
      nullable: kind === 'v' || row[5] === 'YES',
    })),
  };
}
