/** PostgreSQL's statement by which transactions take turns that name the same thing ($1). */
export const transactionLock =
  'SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::pg_catalog.text, 0))::pg_catalog.text';
