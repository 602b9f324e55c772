/** The objects of a fingerprint as the database has them now, read from the catalog by one query. */
import type { Database } from '../../database/database.ts';
import {
  arrayLiteral,
  canonicalTypeSql,
  deepestMember,
  type FingerprintColumn,
  type FingerprintMember,
  type LiveObject,
  type NamedTable,
} from '../../language/index.ts';

/** Reads tables and views from the catalog by one query. Missing objects are missing from the list. */
export async function readFingerprint(
  database: Pick<Database, 'query'>,
  expected: { readonly objects: readonly NamedTable[] },
): Promise<readonly LiveObject[]> {
  const rows = await database.query(liveObjectsSql, [
    arrayLiteral(expected.objects.map(({ schema }) => schema)),
    arrayLiteral(expected.objects.map(({ name }) => name)),
  ]);
  return rows.map(readLiveObject);
}

/**
 * One row per object found: schema, name, kind, row security, key columns, columns; the last two as JSON arrays.
 *
 * `inner_type` leads every used type through domains and arrays to the type whose labels count; `own` is true as long
 * as only domains were passed, because only they can forbid null.
 *
 * The planner cannot estimate the rows of the lists. So each is made once (`MATERIALIZED`), and an object goes with its
 * columns from the start. Lists of a thousand tables joined in the end would be compared a million times.
 */
const liveObjectsSql = `
WITH RECURSIVE object AS (
  SELECT c.oid, n.nspname, c.relname, c.relkind, CASE WHEN NOT c.relrowsecurity THEN 'off'
    WHEN pg_catalog.row_security_active(c.oid) THEN 'on' ELSE 'unbound' END AS security
  FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS wanted(schema, name)
  JOIN pg_catalog.pg_namespace n ON n.nspname = wanted.schema
  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = wanted.name
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
), attribute AS (
  -- a table without columns is a row without one
  SELECT o.*, a.attnum, a.attname, a.attnotnull, a.atttypid, ${canonicalTypeSql} AS type
  FROM object o
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
), inner_type AS (
  SELECT DISTINCT atttypid AS outer_type, atttypid AS type, true AS own FROM attribute
  UNION
  SELECT i.outer_type, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END, i.own AND t.typtype = 'd'
  FROM inner_type i
  JOIN pg_catalog.pg_type t ON t.oid = i.type
  WHERE t.typtype = 'd' OR (t.typcategory = 'A' AND t.typelem <> 0)
), part AS (
  -- members of composite types, each of them with the places that lead to it
  SELECT i.outer_type, i.type, NULL::pg_catalog.text COLLATE pg_catalog."C" AS path,
    NULL::pg_catalog.text COLLATE pg_catalog."C" AS name, NULL::pg_catalog.text COLLATE pg_catalog."C" AS kind, '{}'::pg_catalog.int4[] AS places
  FROM inner_type i
  JOIN pg_catalog.pg_type t ON t.oid = i.type
  WHERE t.typtype = 'c'
  UNION ALL
  SELECT p.outer_type, COALESCE(inside.type, a.atttypid),
    pg_catalog.concat_ws('/', NULLIF(p.path, ''), p.name) COLLATE pg_catalog."C", a.attname::pg_catalog.text COLLATE pg_catalog."C",
    (${canonicalTypeSql}) COLLATE pg_catalog."C", p.places || a.attnum::pg_catalog.int4
  FROM part p
  JOIN pg_catalog.pg_type o ON o.oid = p.type
  JOIN pg_catalog.pg_class c ON c.oid = o.typrelid AND c.relkind = 'c'
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
  -- a member of an array of values, or of a domain over such
  LEFT JOIN LATERAL (
    WITH RECURSIVE deeper(type) AS (
      SELECT a.atttypid
      UNION
      SELECT CASE d.typtype WHEN 'd' THEN d.typbasetype ELSE d.typelem END
      FROM deeper
      JOIN pg_catalog.pg_type d ON d.oid = deeper.type
      WHERE d.typtype = 'd' OR (d.typcategory = 'A' AND d.typelem <> 0)
    )
    SELECT deeper.type FROM deeper JOIN pg_catalog.pg_type e ON e.oid = deeper.type WHERE e.typtype = 'c'
  ) inside ON true
  WHERE pg_catalog.cardinality(p.places) < ${deepestMember}
), member AS MATERIALIZED (
  SELECT p.outer_type, pg_catalog.json_agg(pg_catalog.json_build_array(p.path, p.name, p.kind) ORDER BY p.places) AS members
  FROM part p
  WHERE p.name IS NOT NULL
  GROUP BY p.outer_type
), label AS MATERIALIZED (
  SELECT i.outer_type, pg_catalog.json_agg(e.enumlabel ORDER BY e.enumsortorder) AS labels
  FROM inner_type i
  JOIN pg_catalog.pg_enum e ON e.enumtypid = i.type
  GROUP BY i.outer_type
), without_null AS MATERIALIZED (
  SELECT DISTINCT i.outer_type
  FROM inner_type i
  JOIN pg_catalog.pg_type t ON t.oid = i.type
  WHERE i.own AND t.typtype = 'd' AND t.typnotnull
)
SELECT a.nspname, a.relname, a.relkind, a.security,
  -- columns that a covering index merely includes are no part of the key
  (SELECT pg_catalog.json_agg(k.attname ORDER BY place.position)
   FROM pg_catalog.pg_index x
   CROSS JOIN LATERAL pg_catalog.unnest(x.indkey) WITH ORDINALITY AS place(attnum, position)
   JOIN pg_catalog.pg_attribute k ON k.attrelid = x.indrelid AND k.attnum = place.attnum
   WHERE x.indrelid = a.oid AND x.indisprimary AND place.position <= x.indnkeyatts),
  pg_catalog.json_agg(pg_catalog.json_build_array(
    a.attname, a.type, a.attnotnull OR w.outer_type IS NOT NULL, l.labels, m.members) ORDER BY a.attnum)
    FILTER (WHERE a.attnum IS NOT NULL)
FROM attribute a
LEFT JOIN label l ON l.outer_type = a.atttypid
LEFT JOIN member m ON m.outer_type = a.atttypid
LEFT JOIN without_null w ON w.outer_type = a.atttypid
GROUP BY a.oid, a.nspname, a.relname, a.relkind, a.security
ORDER BY a.nspname, a.relname`;

function readLiveObject(row: readonly (string | null)[]): LiveObject {
  const [schema, name, kind, security, key, columns] = row;
  return {
    schema: schema ?? '',
    name: name ?? '',
    kind: kind ?? '',
    rowSecurity: security === 'unbound' ? security : security === 'on',
    key: parseList(key).map(String),
    columns: parseList(columns).map(readLiveColumn),
  };
}

function readLiveColumn(value: unknown): FingerprintColumn {
  const [name, type, notNull, labels, members]: readonly unknown[] = Array.isArray(value) ? value : [];
  return {
    name: String(name),
    type: String(type),
    nullable: notNull !== true,
    ...(Array.isArray(labels) && { labels: labels.map(String) }),
    ...(Array.isArray(members) && { members: members.map(readMember) }),
  };
}

function readMember(value: unknown): FingerprintMember {
  const [path, name, type]: readonly unknown[] = Array.isArray(value) ? value : [];
  return [String(path), String(name), String(type)];
}

function parseList(text: string | null | undefined): readonly unknown[] {
  const value: unknown = JSON.parse(text ?? '[]');
  return Array.isArray(value) ? value : [];
}
