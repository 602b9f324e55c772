/**
 * `reread`: relations to read again after a change: the changed ones, and those that name one of them or depend on one.
 * `$2` is the JSON array of their oids; dropped relations are named by nothing.
 */
export const rereadSql = `changed(oid) AS (
  SELECT c.value::pg_catalog.oid
  FROM pg_catalog.json_array_elements_text($2::pg_catalog.json) AS c(value)
  UNION
  -- partitions stand for each other, and heirs name their parents
  SELECT kin.oid
  FROM changed AS c
  JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = c.oid OR i.inhparent = c.oid
  CROSS JOIN LATERAL (VALUES (i.inhrelid), (i.inhparent)) AS kin(oid)
),
-- these, and the views that read them, in as many steps as it takes
shown(oid) AS (
  SELECT c.oid
  FROM changed AS c
  UNION
  SELECT w.ev_class
  FROM shown AS s
  JOIN pg_catalog.pg_depend AS d ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = s.oid
    AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
  JOIN pg_catalog.pg_rewrite AS w ON w.oid = d.objid
),
-- what goes by the name of a table: itself, its row type with the arrays of it, the sequences that its columns own
named(class, oid) AS (
  SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, c.oid
  FROM changed AS c
  UNION ALL
  SELECT 'pg_catalog.pg_type'::pg_catalog.regclass, type.oid
  FROM changed AS c
  JOIN pg_catalog.pg_class AS r ON r.oid = c.oid
  JOIN pg_catalog.pg_type AS t ON t.oid = r.reltype
  CROSS JOIN LATERAL (VALUES (t.oid), (t.typarray)) AS type(oid)
  UNION ALL
  SELECT d.classid, d.objid
  FROM changed AS c
  JOIN pg_catalog.pg_depend AS d ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = c.oid
    AND d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.deptype IN ('a', 'i')
),
dependent(class, oid) AS (
  SELECT d.classid, d.objid
  FROM named AS n
  JOIN pg_catalog.pg_depend AS d ON d.refclassid = n.class AND d.refobjid = n.oid
),
reread(oid) AS MATERIALIZED (
  SELECT s.oid
  FROM shown AS s
  UNION
  -- what these views read besides: partitions are read in detail only for a view
  SELECT d.refobjid
  FROM shown AS s
  JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = s.oid
  JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
    AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
  UNION
  -- columns of its row type
  SELECT d.oid
  FROM dependent AS d
  WHERE d.class = 'pg_catalog.pg_class'::pg_catalog.regclass
  UNION
  SELECT ad.adrelid
  FROM dependent AS d
  JOIN pg_catalog.pg_attrdef AS ad ON d.class = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND ad.oid = d.oid
  UNION
  -- foreign keys that lead to it
  SELECT k.conrelid
  FROM dependent AS d
  JOIN pg_catalog.pg_constraint AS k ON d.class = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND k.oid = d.oid
)`;
