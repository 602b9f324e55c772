/**
 * The statement that stamps the catalog. Its rows are two texts: the oid of a relation and its stamp, which changes
 * with every change of the relation. The stamp of relation 0 covers everything that belongs to no relation. Rows of the
 * catalog have a place and the number of the transaction that wrote them. Temporary objects are left out, because
 * sessions come and go with them, our own with its event trigger; so are objects of the server itself.
 */
export const stampsSql = `WITH relation AS MATERIALIZED (
  SELECT c.oid, c.ctid, c.xmin
  FROM pg_catalog.pg_class AS c
  WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'
),
temporary AS MATERIALIZED (
  SELECT n.oid
  FROM pg_catalog.pg_namespace AS n
  WHERE n.nspname LIKE 'pg\\_temp\\_%' OR n.nspname LIKE 'pg\\_toast\\_temp\\_%'
)
SELECT marked.relation::pg_catalog.text, pg_catalog.bit_xor(marked.mark)::pg_catalog.text
FROM (
${markedParts().join('\n  UNION ALL\n')}
) AS marked(relation, mark)
WHERE marked.relation = 0 OR marked.relation IN (SELECT r.oid FROM relation AS r)
GROUP BY marked.relation`;

/** Parts that are read of relations, and of everything else (relation 0); \`c\` is the row that is marked. */
function markedParts(): readonly string[] {
  const all = '0::pg_catalog.oid';
  const parts = [
    ['c.oid', 'relation AS c'],
    ['c.attrelid', 'pg_catalog.pg_attribute AS c WHERE c.attnum > 0'],
    // Members of composite types.
    [all, "pg_catalog.pg_class AS r JOIN pg_catalog.pg_attribute AS c ON c.attrelid = r.oid WHERE r.relkind = 'c'"],
    ['c.adrelid', 'pg_catalog.pg_attrdef AS c'],
    // A valid NOT NULL is what pg_attribute says. Checks of domains have no relation.
    ['c.conrelid', "pg_catalog.pg_constraint AS c WHERE c.contype <> 'n' OR NOT c.convalidated"],
    ['c.indrelid', 'pg_catalog.pg_index AS c'],
    ['x.indrelid', 'pg_catalog.pg_index AS x JOIN pg_catalog.pg_class AS c ON c.oid = x.indexrelid'],
    ['c.tgrelid', 'pg_catalog.pg_trigger AS c WHERE NOT c.tgisinternal'],
    ['c.ev_class', 'pg_catalog.pg_rewrite AS c'],
    ['c.polrelid', 'pg_catalog.pg_policy AS c'],
    ['c.stxrelid', 'pg_catalog.pg_statistic_ext AS c'],
    [
      "CASE c.classoid WHEN 'pg_catalog.pg_class'::pg_catalog.regclass THEN c.objoid ELSE 0 END",
      `pg_catalog.pg_description AS c
    WHERE c.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
      OR c.classoid IN ('pg_catalog.pg_type'::pg_catalog.regclass, 'pg_catalog.pg_proc'::pg_catalog.regclass)
        AND c.objoid >= 16384`,
    ],
    // The table whose column owns the sequence.
    [
      'COALESCE(d.refobjid, 0)',
      `pg_catalog.pg_class AS c
    LEFT JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid
      AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.deptype IN ('a', 'i')
    WHERE c.relkind = 'S' AND c.relpersistence <> 't'`,
    ],
    // Row types go with their tables, array types with their elements.
    [
      all,
      `pg_catalog.pg_type AS c
    LEFT JOIN pg_catalog.pg_class AS r ON r.oid = c.typrelid
    WHERE c.oid >= 16384 AND COALESCE(r.relkind = 'c', true) AND NOT (c.typtype = 'b' AND c.typcategory = 'A')
      AND c.typnamespace NOT IN (SELECT t.oid FROM temporary AS t)`,
    ],
    [all, 'pg_catalog.pg_enum AS c WHERE c.oid >= 16384'],
    [all, 'pg_catalog.pg_proc AS c WHERE c.oid >= 16384 AND c.pronamespace NOT IN (SELECT t.oid FROM temporary AS t)'],
    [
      all,
      `pg_catalog.pg_namespace AS c
    WHERE (c.oid >= 16384 OR c.nspname = 'public') AND c.oid NOT IN (SELECT t.oid FROM temporary AS t)`,
    ],
    [all, 'pg_catalog.pg_inherits AS c WHERE c.inhrelid IN (SELECT r.oid FROM relation AS r)'],
    // Roles that other databases of the server change say nothing about what our own may read.
    [
      all,
      `pg_catalog.pg_auth_members AS c WHERE pg_catalog.pg_has_role(c.member, 'MEMBER')
      AND NOT (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user)`,
    ],
  ];
  return parts.map(
    ([relation, rows], index) => `  SELECT ${relation},
    pg_catalog.hashtidextended(c.ctid, c.xmin::pg_catalog.text::pg_catalog.int8 * 32 + ${index})
  FROM ${rows}`,
  );
}

/** `reread`: relations to read again after a change: those of `$2`, a JSON array of oids, and their dependents. */
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
