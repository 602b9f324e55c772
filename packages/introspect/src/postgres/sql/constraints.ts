/** Reads the constraints of tables and foreign tables. */
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
