import type { Extent } from './wanted.ts';

/**
 * Reads the names of everything else in the allowed schemas: it has no place in the IR and is reported.
 *
 * Objects of extensions are left out; the extension stands for them.
 * Where some relations are read again, what is attached to none is left out.
 */
export function objectsSql(extent: Extent): string {
  return `  SELECT s.nspname, o.relation, o.kind, o.name
  FROM (
${attachedSql}${extent === 'all' ? `\n    UNION ALL\n${looseSql}` : ''}
  ) AS o
  JOIN space AS s ON s.oid = o.space
  WHERE s.allowed`;
}

const attachedSql = `    -- triggers that people made; those of foreign keys are internal, those of partitions are copies
    SELECT r.space, r.relname AS relation, 'trigger' AS kind, t.tgname::pg_catalog.text AS name
    FROM relation AS r
    JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = r.oid
    WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND r.extension IS NULL
    UNION ALL
    -- rules other than the definition of a view
    SELECT r.space, r.relname, 'rewrite rule', w.rulename::pg_catalog.text
    FROM relation AS r
    JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = r.oid
    WHERE w.rulename <> '_RETURN' AND r.extension IS NULL
    UNION ALL
    SELECT r.space, r.relname, 'row-level security policy', p.polname::pg_catalog.text
    FROM relation AS r
    JOIN pg_catalog.pg_policy AS p ON p.polrelid = r.oid
    WHERE r.extension IS NULL
    UNION ALL
    SELECT r.space, r.relname, 'extended statistics object', x.stxname::pg_catalog.text
    FROM relation AS r
    JOIN pg_catalog.pg_statistic_ext AS x ON x.stxrelid = r.oid
    WHERE r.extension IS NULL`;

const looseSql = `    -- sequences that no column owns: the others are told by their column
    SELECT c.relnamespace, NULL, 'sequence', c.relname::pg_catalog.text
    FROM pg_catalog.pg_class AS c
    WHERE c.relkind = 'S' AND c.relpersistence <> 't' AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend AS d
      WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i', 'e'))
    UNION ALL
    SELECT f.pronamespace, NULL,
      CASE f.prokind WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE 'function' END, f.proname::pg_catalog.text
    FROM pg_catalog.pg_proc AS f
    -- constructors of range types belong to the type
    WHERE NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend AS d
      WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = f.oid AND d.deptype IN ('i', 'e'))
    UNION ALL
    SELECT co.collnamespace, NULL, 'collation', co.collname::pg_catalog.text
    FROM pg_catalog.pg_collation AS co
    WHERE NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend AS d
      WHERE d.classid = 'pg_catalog.pg_collation'::pg_catalog.regclass AND d.objid = co.oid AND d.deptype = 'e')
    UNION ALL
    SELECT op.oprnamespace, NULL, 'operator', op.oprname::pg_catalog.text
    FROM pg_catalog.pg_operator AS op
    WHERE NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend AS d
      WHERE d.classid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND d.objid = op.oid AND d.deptype = 'e')
    UNION ALL
    SELECT ts.cfgnamespace, NULL, 'text search configuration', ts.cfgname::pg_catalog.text
    FROM pg_catalog.pg_ts_config AS ts
    WHERE NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend AS d
      WHERE d.classid = 'pg_catalog.pg_ts_config'::pg_catalog.regclass AND d.objid = ts.oid AND d.deptype = 'e')`;
