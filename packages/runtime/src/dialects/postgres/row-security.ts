/** Row-level security as the role of the connection meets it. */
import type { Database } from '../../database/database.ts';
import type { TableSecurity } from '../../database/table-security.ts';
import { arrayLiteral } from '../../language/index.ts';

/** Reads what binds the role of the connection on some tables. Those without row-level security are left out. */
export async function readTableSecurity(
  database: Pick<Database, 'query'>,
  tables: readonly { readonly schema: string; readonly name: string }[],
): Promise<readonly TableSecurity[]> {
  const rows = await database.query(securitySql, [
    arrayLiteral(tables.map(({ schema }) => schema)),
    arrayLiteral(tables.map(({ name }) => name)),
  ]);
  return rows.map(([table, role, isBound, policies]) => ({
    table: table ?? '',
    role: role ?? '',
    isBound: isBound === 'true',
    policies: JSON.parse(policies ?? '[]'),
  }));
}

const securitySql = `SELECT pg_catalog.concat_ws('.', n.nspname, c.relname), current_user::text,
  pg_catalog.row_security_active(c.oid)::text, (
    SELECT pg_catalog.json_agg(p.polname ORDER BY p.polname)::text FROM pg_catalog.pg_policy p
    WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd IN ('r', '*')
      AND (0 = ANY (p.polroles) OR EXISTS (SELECT FROM pg_catalog.unnest(p.polroles) AS named(oid)
        WHERE pg_catalog.pg_has_role(named.oid, 'USAGE'))))
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS wanted(schema, name)
JOIN pg_catalog.pg_namespace n ON n.nspname = wanted.schema
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = wanted.name AND c.relrowsecurity
ORDER BY 1`;
