/** The objects of a fingerprint as MySQL or MariaDB has them now, read by one query. */
import type { Database } from '../../database/database.ts';
import type { LiveObject, NamedTable } from '../../language/index.ts';

/** Reads tables and views by one query. Missing objects are missing from the list. */
export async function readMysqlFingerprint(
  database: Pick<Database, 'query'>,
  expected: { readonly objects: readonly NamedTable[] },
): Promise<readonly LiveObject[]> {
  const schemas = [...new Set(expected.objects.map(({ schema }) => schema))];
  if (schemas.length === 0) return [];
  const named = schemas.flatMap((schema) => [schema, schema]);
  const rows = await database.query(liveObjectsSql(schemas.length), [...named, ...named, ...named]);
  const tables = Map.groupBy(rows, ([, schema, name]) => JSON.stringify([schema, name]));
  return [...tables].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, tableRows]) => readLiveObject(tableRows));
}

/**
 * Facts of tables, each as a row: `table` with its kind, `column` with its type and whether it may be null, `key` with
 * a column of the primary key. The first column of a row is this kind, then come schema, table and name. The last is
 * the position of a column in its table. The database of the connection is the schema `public`.
 *
 * The parts are unioned, not joined: these tables have no indexes, so MariaDB compares each row with all. For a
 * thousand tables that takes five seconds instead of a tenth of one.
 */
function liveObjectsSql(schemas: number): string {
  const requested = Array(schemas).fill("IF(? = 'public', DATABASE(), ?)").join(', ');
  const part = (kind: string, columns: string, from: string): string => `
SELECT '${kind}', IF(TABLE_SCHEMA = DATABASE(), 'public', TABLE_SCHEMA), TABLE_NAME, ${columns}
FROM information_schema.${from} TABLE_SCHEMA IN (${requested})`;
  const nullable = "IF(GENERATION_EXPRESSION = 'ROW END', 'END', IS_NULLABLE)";
  const kind = "CASE WHEN TABLE_TYPE = 'VIEW' THEN 'v' WHEN CREATE_OPTIONS LIKE '%partitioned%' THEN 'p' ELSE 'r' END";
  return [
    part('table', `${kind}, NULL, NULL, '0'`, 'TABLES WHERE'),
    part('column', `COLUMN_NAME, COLUMN_TYPE, ${nullable}, CAST(ORDINAL_POSITION AS CHAR)`, 'COLUMNS WHERE'),
    part('key', 'COLUMN_NAME, NULL, NULL, CAST(SEQ_IN_INDEX AS CHAR)', "STATISTICS WHERE INDEX_NAME = 'PRIMARY' AND"),
  ].join('\nUNION ALL');
}

type Row = readonly (string | null)[];

/** None where the table has gone while its columns were read, or the other way round. */
function readLiveObject(rows: readonly Row[]): readonly LiveObject[] {
  const inOrder = rows.toSorted((left, right) => Number(left[6]) - Number(right[6]));
  const ofKind = (requested: string): readonly Row[] => inOrder.filter(([kind]) => kind === requested);
  const [table] = ofKind('table');
  const columns = ofKind('column');
  if (table === undefined || columns.length === 0) return [];
  // MariaDB adds the end of the period to keys of tables with versions, but current rows have the same.
  const end = columns.find((row) => row[5] === 'END')?.[3];
  const [, schema, name, kind] = table;
  return [
    {
      schema: schema ?? '',
      name: name ?? '',
      kind: kind ?? '',
      rowSecurity: false,
      key: ofKind('key').flatMap((row) => (row[3] === end ? [] : (row[3] ?? ''))),
      columns: columns.map((row) => ({
        name: row[3] ?? '',
        type: row[4] ?? '',
        // Nullability of a view's columns is unknown, as for the compiler.
        nullable: kind === 'v' || row[5] === 'YES',
      })),
    },
  ];
}
