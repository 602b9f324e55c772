import { canonicalTypeSql } from '@tablewright/runtime/language';
import { typesSql } from './types.ts';
import { settingsSql } from './wanted.ts';

/**
 * Reads the functions and procedures of the allowed schemas, and the types that they take and return. Its rows are those
 * of `catalogSql`: a kind and one row as JSON. Its parameter is the JSON array of the allowed schemas, or null.
 *
 * Functions of extensions are left out, and so are constructors of types.
 */
export const functionsSql = `WITH RECURSIVE ${settingsSql},
space AS MATERIALIZED (
  SELECT n.oid, n.nspname,
    $1::pg_catalog.text IS NULL
      OR n.nspname IN (SELECT pg_catalog.json_array_elements_text($1::pg_catalog.json)) AS allowed
  FROM settings
  CROSS JOIN pg_catalog.pg_namespace AS n
  WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
),
routine AS MATERIALIZED (
  SELECT f.*, s.nspname
  FROM space AS s
  JOIN pg_catalog.pg_proc AS f ON f.pronamespace = s.oid
  WHERE s.allowed AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_depend AS d
    WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = f.oid AND d.deptype IN ('i', 'e'))
),
parameter AS MATERIALIZED (
  SELECT f.oid AS routine, p.position, p.type, COALESCE(f.proargmodes[p.position], 'i')::pg_catalog.text AS mode,
    NULLIF(f.proargnames[p.position], '') AS name
  FROM routine AS f
  CROSS JOIN LATERAL pg_catalog.unnest(COALESCE(f.proallargtypes, f.proargtypes::pg_catalog.oid[]))
    WITH ORDINALITY AS p(type, position)
),
attribute AS MATERIALIZED (
  SELECT DISTINCT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod
  FROM routine AS f
  JOIN pg_catalog.pg_type AS t ON t.oid = f.prorettype
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.typrelid
  WHERE t.typtype = 'c' AND a.attnum > 0 AND NOT a.attisdropped
),
used_type(oid) AS (
  SELECT type FROM parameter
  UNION
  SELECT prorettype FROM routine
  UNION
  SELECT atttypid FROM attribute
  UNION
  SELECT inner_type.oid
  FROM used_type AS u
  JOIN pg_catalog.pg_type AS t ON t.oid = u.oid
  CROSS JOIN LATERAL (
    VALUES (t.typelem), (t.typbasetype)
    UNION ALL
    SELECT m.atttypid
    FROM pg_catalog.pg_class AS mc
    JOIN pg_catalog.pg_attribute AS m ON m.attrelid = mc.oid AND m.attnum > 0 AND NOT m.attisdropped
    WHERE mc.oid = t.typrelid AND mc.relkind = 'c'
  ) AS inner_type(oid)
  WHERE inner_type.oid <> 0
)
SELECT 'functions' AS kind, pg_catalog.row_to_json(part)::pg_catalog.text AS row
FROM (
  SELECT f.nspname, f.proname, f.prokind::pg_catalog.text, f.provolatile::pg_catalog.text, f.prosecdef, f.proretset,
    f.provariadic <> 0 AS variadic, f.prorettype::pg_catalog.text, ${typeOf('f.prorettype', '-1')} AS "resultType",
    EXISTS (SELECT FROM pg_catalog.unnest(f.proconfig) AS c(setting) WHERE c.setting LIKE 'search\\_path=%') AS "ownPath",
    COALESCE((
      SELECT pg_catalog.json_agg(pg_catalog.json_build_object('name', p.name, 'mode', p.mode, 'type', p.type::pg_catalog.text,
        'nativeType', ${typeOf('p.type', '-1')}, 'row', (
          SELECT pg_catalog.json_build_array(n.nspname, c.relname)
          FROM pg_catalog.pg_class AS c
          JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
          WHERE c.reltype = p.type AND c.relkind IN ('r', 'p', 'v', 'm', 'f'))) ORDER BY p.position)
      FROM parameter AS p WHERE p.routine = f.oid), '[]') AS parameters,
    f.pronargdefaults, rc.nspname AS "relationSchema", rc.relname AS relation,
    (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('name', a.attname, 'type', a.atttypid::pg_catalog.text,
        'typmod', a.atttypmod, 'nativeType', ${typeOf('a.atttypid', 'a.atttypmod')}) ORDER BY a.attnum)
      FROM attribute AS a WHERE a.attrelid = rc.oid) AS attributes,
    pg_catalog.obj_description(f.oid, 'pg_proc') AS description
  FROM routine AS f
  LEFT JOIN (
    SELECT c.oid, c.reltype, c.relname, n.nspname
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  ) AS rc ON rc.reltype = f.prorettype
) AS part
UNION ALL
SELECT 'types' AS kind, pg_catalog.row_to_json(part)::pg_catalog.text AS row
FROM (
${typesSql('all')}
) AS part`;

/** The name of a type, as columns have it. */
function typeOf(type: string, modifier: string): string {
  return `(SELECT ${canonicalTypeSql.replaceAll('a.atttypid', type).replaceAll('a.atttypmod', modifier)}
      FROM pg_catalog.pg_type AS t
      JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.typnamespace
      WHERE t.oid = ${type})`;
}
