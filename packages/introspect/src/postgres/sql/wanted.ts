/**
 * Settings that decide how PostgreSQL prints expressions, fixed for this statement or for the transaction around it. So
 * the same database prints the same text under any settings of session, role or database. With `search_path` at
 * pg_catalog every other name is printed with its schema.
 */
export const settingsSql = `settings AS MATERIALIZED (
  SELECT pg_catalog.set_config('search_path', 'pg_catalog', true)
    || pg_catalog.set_config('TimeZone', 'UTC', true)
    || pg_catalog.set_config('DateStyle', 'ISO, YMD', true)
    || pg_catalog.set_config('IntervalStyle', 'postgres', true)
    || pg_catalog.set_config('extra_float_digits', '1', true)
    || pg_catalog.set_config('bytea_output', 'hex', true)
    || pg_catalog.set_config('quote_all_identifiers', 'off', true)
    || pg_catalog.set_config('standard_conforming_strings', 'on', true) AS applied
)`;

/** Relations that are read: all that were asked for, or those of them that `rereadSql` finds. */
export type Extent = 'all' | 'reread';

/**
 * `space`: schemas that can be asked for, with `allowed`. `relation`: relations to read, which are those with rows in
 * the allowed schemas and those that their views read. `detailed` is true if its columns are needed.
 * Every part of the statement that prints an expression starts from one of them, and so after the settings.
 */
export function requestedSql(extent: Extent): string {
  return `space AS MATERIALIZED (
  SELECT n.oid, n.nspname,
    $1::pg_catalog.text IS NULL
      OR n.nspname IN (SELECT pg_catalog.json_array_elements_text($1::pg_catalog.json)) AS allowed
  FROM settings
  CROSS JOIN pg_catalog.pg_namespace AS n
  -- PostgreSQL's own schemas, and those of temporary objects and of TOAST: the prefix pg_ is reserved
  WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
),
${viewTowersSql},
reached(oid, depth) AS (
  SELECT c.oid, 0
  FROM space AS s
  JOIN pg_catalog.pg_class AS c ON c.relnamespace = s.oid
  -- toast tables, indexes, sequences and composite types hold no rows of their own to serve
  WHERE s.allowed AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'
  UNION
  -- relations that a view reads, views first of all
  SELECT d.refobjid, 1
  FROM reached AS r
  JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = r.oid AND w.rulename = '_RETURN'
  JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    AND d.objid = w.oid
    AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    AND d.refobjid <> r.oid
),
relation AS MATERIALIZED (
  SELECT c.oid, s.oid AS space, s.nspname, s.allowed, c.relname, c.relkind, c.relowner,
    c.relrowsecurity, c.relforcerowsecurity, c.relispartition,
    -- what the role of the connection may do with it, for all of its columns
    pg_catalog.has_schema_privilege(s.oid, 'USAGE') AS reachable,
    pg_catalog.has_table_privilege(c.oid, 'SELECT') AS readable,
    -- a partition is served through its partitioned table; its columns matter only to a view that names it
    NOT c.relispartition OR r.depth = 1 AS detailed,
    e.extname AS extension,
    -- asking whether it can be written fails for a foreign table whose wrapper has no code
    -- and for a view that towers over too many others takes as long as reading it, or never ends
    (c.relkind <> 'f' OR COALESCE(fdw.fdwhandler, 0) <> 0) AND high.views IS NULL AS answers,
    high.views AS "towersOver"
  FROM (
    SELECT oid, pg_catalog.max(depth) AS depth
    FROM reached${extent === 'all' ? '' : '\n    WHERE oid IN (SELECT reread.oid FROM reread)'}
    GROUP BY oid
  ) AS r
  JOIN pg_catalog.pg_class AS c ON c.oid = r.oid
  JOIN space AS s ON s.oid = c.relnamespace
  -- extension that owns the relation
  LEFT JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
    AND d.objid = c.oid AND d.objsubid = 0 AND d.deptype = 'e'
  LEFT JOIN pg_catalog.pg_extension AS e ON e.oid = d.refobjid
  -- wrapper of a foreign table
  LEFT JOIN pg_catalog.pg_foreign_table AS ft ON ft.ftrelid = c.oid
  LEFT JOIN pg_catalog.pg_foreign_server AS fs ON fs.oid = ft.ftserver
  LEFT JOIN pg_catalog.pg_foreign_data_wrapper AS fdw ON fdw.oid = fs.srvfdw
  LEFT JOIN towering AS high ON high.oid = c.oid
  -- a view also depends on sequences, and on the row types of functions
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'
)`;
}

/** Views on top of each other up to this height are read as they are; PostgreSQL takes seconds to plan a higher one. */
export const highestTower = 100;

/** `towering`: views that stand on more views than that, also such that lead back to themselves, with their views. */
const viewTowersSql = `view_edge(upper, lower) AS MATERIALIZED (
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
