/**
 * Emptying tables of PostgreSQL between tests. TRUNCATE makes new files for every table and index that it reaches, which
 * takes ten times as long as deleting few rows: the platform's own tables alone are twenty with their indexes.
 */
const truncation = /(?<=^|;)(\s*)TRUNCATE\s+([\w.,\s"]+?)(\s+RESTART IDENTITY)?(\s+CASCADE)?\s*(?=;|$)/g;

/** The text with statements that leave what its TRUNCATEs leave, and wait for the same locks. */
export function emptyingQuickly(sql: string): string {
  return sql.replaceAll(truncation, (_, space: string, names: string, restart?: string, cascade?: string) => {
    const tables = names.split(',').map((name) => `'${name.trim()}'::regclass`);
    return `${space}${emptying(tables.join(), restart !== undefined, cascade !== undefined)}`;
  });
}

/** Triggers, those of foreign keys among them, are as silent as under TRUNCATE. */
function emptying(tables: string, restart: boolean, cascade: boolean): string {
  const further = cascade
    ? "UNION SELECT conrelid FROM pg_constraint JOIN reached ON confrelid = reached.name WHERE contype = 'f'"
    : '';
  const restarting = restart
    ? `PERFORM setval(objid::regclass, (SELECT seqstart FROM pg_sequence WHERE seqrelid = objid), false) FROM pg_depend
        WHERE classid = 'pg_class'::regclass AND deptype IN ('a', 'i') AND refobjid::regclass = ANY (names)
          AND objid IN (SELECT seqrelid FROM pg_sequence);`
    : '';
  return `DO $empty$ DECLARE names regclass[]; one regclass; BEGIN
      WITH RECURSIVE reached AS (SELECT unnest(ARRAY[${tables}])::oid AS name ${further})
        SELECT array_agg(name::regclass ORDER BY name) INTO names FROM reached;
      EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', array_to_string(names, ', '));
      PERFORM set_config('session_replication_role', 'replica', true);
      FOREACH one IN ARRAY names LOOP EXECUTE format('DELETE FROM %s', one); END LOOP;
      PERFORM set_config('session_replication_role', 'origin', true);
      ${restarting}
    END $empty$`;
}
