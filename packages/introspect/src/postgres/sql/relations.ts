import { canonicalTypeSql } from '@tablewright/runtime/language';

/** Reads every schema that could have been asked for. */
export const namespacesSql = `  SELECT s.nspname, s.allowed
  FROM space AS s`;

/** Policies of one relation, and what they are for the role of the connection. */
const securitySql = `
      SELECT pg_catalog.json_build_object(
        'role', me.rolname, 'active', pg_catalog.row_security_active(r.oid),
        'bypasses', me.rolsuper OR me.rolbypassrls,
        'policies', COALESCE((
          SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
            'polname', p.polname, 'polpermissive', p.polpermissive, 'polcmd', p.polcmd,
            'roles', CASE WHEN 0 = ANY (p.polroles) THEN pg_catalog.json_build_array('public') ELSE (
              SELECT pg_catalog.json_agg(named.rolname ORDER BY named.rolname)
              FROM pg_catalog.pg_roles AS named WHERE named.oid = ANY (p.polroles)) END,
            'applies', 0 = ANY (p.polroles) OR EXISTS (
              SELECT FROM pg_catalog.unnest(p.polroles) AS named(oid)
              WHERE pg_catalog.pg_has_role(me.oid, named.oid, 'USAGE')),
            'using', pg_catalog.pg_get_expr(p.polqual, p.polrelid),
            'check', pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid)) ORDER BY p.polname)
          FROM pg_catalog.pg_policy AS p WHERE p.polrelid = r.oid), '[]'))
      FROM pg_catalog.pg_roles AS me WHERE me.rolname = current_user`;

/** Reads tables, views, materialized views, foreign tables and partitions. */
export const relationsSql = `  SELECT r.oid::pg_catalog.text, r.nspname, r.relname, r.relkind::pg_catalog.text, r.allowed,
    pg_catalog.pg_get_userbyid(r.relowner) AS owner,
    r.relrowsecurity, r.relforcerowsecurity, r.relispartition, r.extension,
    CASE WHEN r.relrowsecurity THEN (${securitySql}) END AS security,
    pg_catalog.obj_description(r.oid, 'pg_class') AS description,
    -- a table takes every write (4 + 8 + 16); asking would wait for a session that alters it
    CASE WHEN r.relkind IN ('r', 'p') THEN 28
      WHEN r.answers THEN pg_catalog.pg_relation_is_updatable(r.oid, false) ELSE 0 END AS updatable,
    CASE WHEN r.relkind IN ('r', 'p') THEN 28
      WHEN r.answers THEN pg_catalog.pg_relation_is_updatable(r.oid, true) ELSE 0 END AS "updatableByTriggers",
    r."towersOver"
  FROM relation AS r`;

export const columnsSql = `  SELECT a.attrelid::pg_catalog.text, a.attnum, a.attname, a.atttypid::pg_catalog.text, a.atttypmod, a.attnotnull,
    a.attidentity::pg_catalog.text, a.attgenerated::pg_catalog.text,
    ${canonicalTypeSql.replaceAll('\n', '\n    ')} AS "nativeType",
    pg_catalog.pg_get_expr(ad.adbin, ad.adrelid) AS expression,
    CASE WHEN owned.oid IS NOT NULL
      THEN pg_catalog.json_build_object('nspname', owned.nspname, 'name', owned.relname) END AS sequence,
    CASE WHEN a.attcollation <> t.typcollation
      THEN pg_catalog.json_build_object('nspname', con.nspname, 'name', co.collname) END AS collation,
    COALESCE(co.collisdeterministic, true) AS collisdeterministic,
    de.description,
    CASE WHEN r.relkind IN ('r', 'p') THEN true
      WHEN r.answers THEN pg_catalog.pg_column_is_updatable(r.oid, a.attnum, true)
      ELSE false END AS "isUpdatable",
    r.reachable AND (r.readable OR pg_catalog.has_column_privilege(r.oid, a.attnum, 'SELECT')) AS "isReadable"
  FROM relation AS r
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid = r.oid
  -- type and its schema
  JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
  JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.typnamespace
  -- comment; joined and not asked per column, which takes three times as long
  LEFT JOIN pg_catalog.pg_description AS de ON de.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
    AND de.objoid = a.attrelid AND de.objsubid = a.attnum
  -- default, or generation expression
  LEFT JOIN pg_catalog.pg_attrdef AS ad ON ad.adrelid = a.attrelid AND ad.adnum = a.attnum
  -- collation
  LEFT JOIN pg_catalog.pg_collation AS co ON co.oid = a.attcollation
  LEFT JOIN pg_catalog.pg_namespace AS con ON con.oid = co.collnamespace
  -- sequence that the column owns and its default reads: what serial makes
  LEFT JOIN LATERAL (
    SELECT sc.oid, sn.nspname, sc.relname
    FROM pg_catalog.pg_depend AS own
    JOIN pg_catalog.pg_depend AS use ON use.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
      AND use.objid = ad.oid AND use.refclassid = own.classid AND use.refobjid = own.objid
    JOIN pg_catalog.pg_class AS sc ON sc.oid = own.objid AND sc.relkind = 'S'
    JOIN pg_catalog.pg_namespace AS sn ON sn.oid = sc.relnamespace
    -- asked here, so that nothing is looked up for a column without a default
    WHERE ad.oid IS NOT NULL
      AND own.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
      AND own.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      AND own.refobjid = a.attrelid AND own.refobjsubid = a.attnum AND own.deptype = 'a'
    ORDER BY sn.nspname, sc.relname
    LIMIT 1
  ) AS owned ON true
  -- system columns have negative numbers; dropped columns stay in the catalog
  WHERE r.detailed AND a.attnum > 0 AND NOT a.attisdropped`;

/** Reads who inherits from whom, also the partitions. Either side may lie in a schema that was not asked for. */
export const inheritsSql = `  SELECT i.inhrelid::pg_catalog.text, i.inhparent::pg_catalog.text, i.inhseqno, ch.relispartition,
    pg_catalog.json_build_object('nspname', chn.nspname, 'name', ch.relname) AS child,
    pg_catalog.json_build_object('nspname', pn.nspname, 'name', p.relname) AS parent
  FROM pg_catalog.pg_inherits AS i
  -- child
  JOIN pg_catalog.pg_class AS ch ON ch.oid = i.inhrelid
  JOIN pg_catalog.pg_namespace AS chn ON chn.oid = ch.relnamespace
  -- parent
  JOIN pg_catalog.pg_class AS p ON p.oid = i.inhparent
  JOIN pg_catalog.pg_namespace AS pn ON pn.oid = p.relnamespace
  -- the indexes of partitions inherit as well
  WHERE i.inhrelid IN (SELECT r.oid FROM relation AS r) OR i.inhparent IN (SELECT r.oid FROM relation AS r)`;

/** Reads the definitions of views. One of more than 16 MB reads as empty, and its columns are followed nowhere. */
export const rulesSql = `  SELECT w.ev_class::pg_catalog.text,
    CASE WHEN pg_catalog.octet_length(kept.action) <= 16777216 THEN kept.action ELSE '' END AS action
  FROM relation AS r
  JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = r.oid
  -- made once, and not for each time that it is named
  CROSS JOIN LATERAL (SELECT w.ev_action::pg_catalog.text OFFSET 0) AS kept(action)
  WHERE r.relkind IN ('v', 'm') AND w.rulename = '_RETURN'`;

export function constraintsSql(version: number): string {
  const deleteColumns = version >= 150000 ? 'k.confdelsetcols' : 'NULL::pg_catalog.int2[]';
  const enforced = version >= 180000 ? 'k.conenforced' : 'true';
  const period = version >= 180000 ? 'k.conperiod' : 'false';
  return `  SELECT k.conrelid::pg_catalog.text, k.conname, k.contype::pg_catalog.text, k.conkey,
    k.confrelid::pg_catalog.text, k.confkey, k.confupdtype::pg_catalog.text, k.confdeltype::pg_catalog.text,
    k.confmatchtype::pg_catalog.text, ${deleteColumns} AS confdelsetcols,
    k.condeferrable, k.condeferred, k.convalidated, k.connoinherit, ${enforced} AS conenforced, ${period} AS conperiod,
    ${nullsNotDistinct(version)} AS indnullsnotdistinct,
    CASE k.contype
      WHEN 'c' THEN pg_catalog.pg_get_expr(k.conbin, k.conrelid)
      WHEN 'x' THEN pg_catalog.pg_get_constraintdef(k.oid) END AS expression,
    CASE WHEN target.oid IS NOT NULL THEN pg_catalog.json_build_object(
      'nspname', tn.nspname,
      'name', target.relname,
      'columns', ARRAY(
        SELECT ta.attname
        FROM pg_catalog.unnest(k.confkey) WITH ORDINALITY AS key(attnum, position)
        JOIN pg_catalog.pg_attribute AS ta ON ta.attrelid = k.confrelid AND ta.attnum = key.attnum
        ORDER BY key.position)) END AS target
  FROM relation AS r
  JOIN pg_catalog.pg_constraint AS k ON k.conrelid = r.oid
  -- index of a primary key or unique constraint
  LEFT JOIN pg_catalog.pg_index AS x ON x.indexrelid = k.conindid
  -- target of a foreign key
  LEFT JOIN pg_catalog.pg_class AS target ON target.oid = k.confrelid AND k.contype = 'f'
  LEFT JOIN pg_catalog.pg_namespace AS tn ON tn.oid = target.relnamespace
  -- a partitioned foreign key is repeated for every partition on either side: those have a parent
  -- a valid NOT NULL, a constraint from 18 on, is what attnotnull says
  WHERE (r.detailed AND (k.contype <> 'f' OR k.conparentid = 0) AND (k.contype <> 'n' OR NOT k.convalidated))
    -- keys of a partition that its partitioned table does not have
    OR (k.contype = 'f' AND k.conparentid = 0)`;
}

/** Reads the indexes of tables and materialized views. */
export function indexesSql(version: number): string {
  return `  SELECT x.indrelid::pg_catalog.text, ic.relname, am.amname, x.indisunique, x.indisvalid, x.indimmediate,
    ${nullsNotDistinct(version)} AS indnullsnotdistinct, x.indnkeyatts,
    ARRAY(SELECT key.attnum FROM pg_catalog.unnest(x.indkey::pg_catalog.int2[]) WITH ORDINALITY AS key(attnum, position)
      ORDER BY key.position) AS indkey,
    ARRAY(SELECT pg_catalog.pg_get_indexdef(x.indexrelid, key.position, false)
      FROM pg_catalog.generate_series(1, x.indnatts::pg_catalog.int4) AS key(position)
      ORDER BY key.position) AS keys,
    pg_catalog.pg_get_expr(x.indpred, x.indrelid) AS predicate,
    -- methods that PostgreSQL brings have numbers below those of users
    CASE WHEN am.oid >= 16384 THEN (
      SELECT o.opcname FROM pg_catalog.pg_opclass AS o WHERE o.oid = (x.indclass::pg_catalog.oid[])[0]
    ) END AS opclass,
    EXISTS (
      SELECT FROM pg_catalog.pg_constraint AS k
      WHERE k.conindid = x.indexrelid AND k.conrelid = x.indrelid AND k.contype IN ('p', 'u', 'x')
    ) AS "ofConstraint"
  FROM relation AS r
  JOIN pg_catalog.pg_index AS x ON x.indrelid = r.oid
  -- name and method
  JOIN pg_catalog.pg_class AS ic ON ic.oid = x.indexrelid
  JOIN pg_catalog.pg_am AS am ON am.oid = ic.relam
  WHERE r.detailed`;
}

/** NULLS NOT DISTINCT came with version 15. */
function nullsNotDistinct(version: number): string {
  return version >= 150000 ? 'COALESCE(x.indnullsnotdistinct, false)' : 'false';
}
