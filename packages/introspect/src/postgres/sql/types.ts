import { canonicalTypeSql } from '@tablewright/runtime/language';
import type { Extent } from './wanted.ts';

/** `used_type`: types of columns, those they are made of, and, for rereading, all made in the allowed schemas. */
export function usedTypesSql(extent: Extent): string {
  return `used_type(oid) AS (
  SELECT a.atttypid
  FROM relation AS r
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid = r.oid
  -- as for the columns
  WHERE r.detailed AND a.attnum > 0 AND NOT a.attisdropped
  UNION
${extent === 'all' ? ownTypesSql : ''}  -- element of an array, base of a domain, members of a composite type
  SELECT inner_type.oid
  FROM used_type AS u
  JOIN pg_catalog.pg_type AS t ON t.oid = u.oid
  CROSS JOIN LATERAL (
    VALUES (t.typelem), (t.typbasetype)
    UNION ALL
    SELECT m.atttypid
    FROM pg_catalog.pg_attribute AS m
    WHERE t.typtype = 'c' AND m.attrelid = t.typrelid AND m.attnum > 0 AND NOT m.attisdropped
  ) AS inner_type(oid)
  WHERE inner_type.oid <> 0
)`;
}

const ownTypesSql = `  SELECT t.oid
  FROM space AS s
  JOIN pg_catalog.pg_type AS t ON t.typnamespace = s.oid
  LEFT JOIN pg_catalog.pg_class AS rc ON rc.oid = t.typrelid
  -- every table has a row type, every type an array type
  WHERE s.allowed AND COALESCE(rc.relkind = 'c', true) AND NOT (t.typtype = 'b' AND t.typcategory = 'A')
  UNION
`;

/** Reads these types. A few relations have few types, which are looked up one by one. */
export function typesSql(extent: Extent): string {
  const used = extent === 'all' ? usedSql : fewSql;
  return `  SELECT t.oid::pg_catalog.text, tn.nspname, t.typname, t.typtype::pg_catalog.text,
    array_element.oid::pg_catalog.text AS element,
    t.typbasetype::pg_catalog.text, t.typtypmod, t.typnotnull,
    COALESCE(pg_catalog.pg_get_expr(t.typdefaultbin, 0), t.typdefault) AS typdefault,
    e.extname AS extension, e.extversion,
    -- row types belong to their tables, array types to their elements
    COALESCE(s.allowed, false) AND array_element.oid IS NULL AND COALESCE(rc.relkind = 'c', true) AS allowed,
    en.labels, ma.attributes, ch.checks,
    pg_catalog.obj_description(t.oid, 'pg_type') AS description
  FROM settings
  CROSS JOIN ${used}
  JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.typnamespace
  LEFT JOIN space AS s ON s.oid = t.typnamespace
  -- element, for true arrays: point and name have elements, too, but are no arrays
  LEFT JOIN pg_catalog.pg_type AS array_element ON array_element.oid = t.typelem AND array_element.typarray = t.oid
  -- labels of an enum; joined and not asked per type, which keeps the estimated cost below that of compiling (jit)
  LEFT JOIN (
    SELECT enumtypid, pg_catalog.json_agg(enumlabel ORDER BY enumsortorder) AS labels
    FROM pg_catalog.pg_enum
    GROUP BY enumtypid
  ) AS en ON en.enumtypid = t.oid
  -- members of a composite type
  LEFT JOIN (
    SELECT m.attrelid, pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', m.attname,
      'type', m.atttypid::pg_catalog.text,
      'typmod', m.atttypmod,
      'nativeType', ${canonicalTypeSql.replaceAll('a.att', 'm.att')}) ORDER BY m.attnum) AS attributes
    FROM pg_catalog.pg_class AS mc
    JOIN pg_catalog.pg_attribute AS m ON m.attrelid = mc.oid
    JOIN pg_catalog.pg_type AS t ON t.oid = m.atttypid
    JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.typnamespace
    WHERE mc.relkind = 'c' AND m.attnum > 0 AND NOT m.attisdropped
    GROUP BY m.attrelid
  ) AS ma ON t.typtype = 'c' AND ma.attrelid = t.typrelid
  -- checks of a domain; from 18 NOT NULL is a constraint as well, which typnotnull says
  LEFT JOIN (
    SELECT k.contypid, pg_catalog.json_agg(pg_catalog.json_build_object(
      'conname', k.conname,
      'expression', pg_catalog.pg_get_expr(k.conbin, 0),
      'convalidated', k.convalidated) ORDER BY k.conname) AS checks
    FROM settings
    CROSS JOIN pg_catalog.pg_constraint AS k
    WHERE k.contypid <> 0 AND k.contype = 'c'
    GROUP BY k.contypid
  ) AS ch ON ch.contypid = t.oid
  -- relation whose row type it is
  LEFT JOIN pg_catalog.pg_class AS rc ON rc.oid = t.typrelid
  -- extension that owns it
  LEFT JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass
    AND d.objid = t.oid AND d.deptype = 'e'
  LEFT JOIN pg_catalog.pg_extension AS e ON e.oid = d.refobjid`;
}

const usedSql = `used_type AS u
  JOIN pg_catalog.pg_type AS t ON t.oid = u.oid`;

const fewSql = `(
    SELECT * FROM pg_catalog.pg_type WHERE oid = ANY (ARRAY(SELECT u.oid FROM used_type AS u))
  ) AS t`;
