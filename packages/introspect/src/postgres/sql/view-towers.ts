/** Views on top of each other up to this height are read as they are; PostgreSQL takes seconds to plan a higher one. */
export const highestTower = 100;

/**
 * `towering`: views that stand on more views than that, one on top of the other, with the views that they read. A view
 * that leads back to itself is among them, and so is each that reads it.
 */
export const viewTowersSql = `view_edge(upper, lower) AS MATERIALIZED (
  SELECT DISTINCT u.oid, l.oid
  FROM settings
  CROSS JOIN pg_catalog.pg_class AS u
  JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = u.oid AND w.rulename = '_RETURN'
  JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
    AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.deptype = 'n'
    -- before 16 every view names itself, though none of its columns
    AND (d.refobjid <> u.oid OR d.refobjsubid > 0
      OR pg_catalog.current_setting('server_version_num')::pg_catalog.int4 >= 160000)
  JOIN pg_catalog.pg_class AS l ON l.oid = d.refobjid AND l.relkind = 'v'
  WHERE u.relkind = 'v' AND u.oid >= 16384
),
tower(oid, height) AS (
  SELECT e.upper, 1
  FROM view_edge AS e
  UNION
  SELECT e.upper, t.height + 1
  FROM tower AS t
  JOIN view_edge AS e ON e.lower = t.oid
  WHERE t.height <= ${highestTower}
),
towering(oid, views) AS MATERIALIZED (
  SELECT e.upper, pg_catalog.json_agg(e.lower::pg_catalog.text)
  FROM view_edge AS e
  WHERE e.upper IN (SELECT t.oid FROM tower AS t WHERE t.height > ${highestTower})
  GROUP BY e.upper
)`;
