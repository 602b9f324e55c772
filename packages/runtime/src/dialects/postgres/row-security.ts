/** Row-level security as the role of the connection meets it. */
import type { Database } from '../../database/database.ts';
import {
  type ExaminedRoles,
  type RoleFinding,
  type RowContext,
  type RunsAs,
  rowContextOf,
  type TableSecurity,
} from '../../database/row-context.ts';
import { arrayLiteral, maxClaimsBytes, quoteLiteral } from '../../language/index.ts';
import type { RowSettings } from '../server-dialect.ts';

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

/** Examines what passing callers on needs: roles, how they are reached, whom policies bind, and rights. */
export async function examineRoles(
  { query }: Pick<Database, 'query'>,
  { roles, privileges, isEmbedded }: ExaminedRoles,
): Promise<readonly RoleFinding[]> {
  const named = Object.entries(roles);
  const rows = await query(rolesSql, [arrayLiteral(named.map(([, role]) => role))]);
  const owned = await query(ownedSql, []);
  const user = rows[0]?.[0] ?? '';
  const isFree = rows[0]?.[1] === 'true';
  return [
    // With a role for every caller policies bind a superuser as well, and an embedded database has no other user.
    ...(isFree && !(isEmbedded && named.length > 0) ? [bypassed(user)] : []),
    ...rows.flatMap(([, , role, isThere, isReached, bypasses]) => {
      if (role == null) return [];
      const apiRole = named.find(([, name]) => name === role)?.[0] ?? '';
      if (isThere !== 'true')
        return [refused(`The role "${role}" of the database does not exist.`, `CREATE ROLE "${role}" NOLOGIN;`)];
      if (isReached !== 'true')
        return [
          refused(`The role "${user}" of DATABASE_URL may not SET ROLE to "${role}".`, `GRANT "${role}" TO "${user}";`),
        ];
      if (bypasses !== 'true' || named.every(([name, mapped]) => mapped !== role || name === 'admin')) return [];
      const message = `No policy binds "${role}", the role of the database of "${apiRole}": it is a superuser or has BYPASSRLS.`;
      return [refused(message, `ALTER ROLE "${role}" NOSUPERUSER NOBYPASSRLS;`)];
    }),
    ...owned.map(([table]) => ({
      code: 'row-security-owner',
      refused: false,
      message: `The policies of ${table} do not bind its owner "${user}", the role of DATABASE_URL.`,
      advice: `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY; or let another role own it.`,
    })),
    ...(await missingGrants(query, privileges)),
  ];
}

/** Privileges that rules count on, and that the roles of callers lack. */
async function missingGrants(
  query: Database['query'],
  privileges: ExaminedRoles['privileges'],
): Promise<readonly RoleFinding[]> {
  const calls = privileges.filter(({ privilege }) => privilege === 'EXECUTE');
  const onTables = privileges.filter(({ privilege }) => privilege !== 'EXECUTE');
  const missing = onTables.length === 0 ? [] : await query(privilegesSql, [JSON.stringify(onTables)]);
  const uncallable = calls.length === 0 ? [] : await query(callsSql, [JSON.stringify(calls)]);
  return [
    ...missing.map(([role, table, privilege, columns, isEntered]) => ({
      code: 'grant-missing',
      refused: false,
      message: `Rules need "${role}" to ${privilege} ${columns == null ? '' : `(${columns}) of `}${table}, and no GRANT lets it.`,
      advice: `${isEntered === 'true' ? '' : `GRANT USAGE ON SCHEMA ${schemaOf(table)} TO "${role}"; `}GRANT ${privilege}${columns == null ? '' : ` (${columns})`} ON ${table} TO "${role}";`,
    })),
    ...uncallable.map(([role, routine, isEntered]) => ({
      code: 'grant-missing',
      refused: false,
      message: `Rules need "${role}" to EXECUTE ${routine}, and no GRANT lets it.`,
      advice: `${isEntered === 'true' ? '' : `GRANT USAGE ON SCHEMA ${schemaOf(routine)} TO "${role}"; `}GRANT EXECUTE ON ROUTINE ${routine} TO "${role}";`,
    })),
  ];
}

function schemaOf(table: string | null | undefined): string {
  return /^("(?:[^"]|"")*"|[^.]*)\./.exec(table ?? '')?.[1] ?? '';
}

function refused(message: string, advice: string): RoleFinding {
  return { code: 'row-security-role', refused: true, message, advice };
}

function bypassed(user: string): RoleFinding {
  const message = `No policy binds "${user}", the role of DATABASE_URL: it is a superuser or has BYPASSRLS.`;
  const advice = 'Connect as a role without these rights, which may SET ROLE to those of callers.';
  return { code: 'row-security-bypassed', refused: true, message, advice };
}

/** A row for the role of the connection, and one for each of the others. From 16 on SET ROLE has a privilege of its own. */
const rolesSql = `SELECT me.rolname::text, (me.rolsuper OR me.rolbypassrls)::text, wanted.name, (r.oid IS NOT NULL)::text,
  CASE WHEN r.oid IS NULL THEN NULL ELSE pg_catalog.pg_has_role(me.oid, r.oid,
    CASE WHEN pg_catalog.current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END)::text END,
  (r.rolsuper OR r.rolbypassrls)::text
FROM pg_catalog.pg_roles me
LEFT JOIN (SELECT DISTINCT name FROM pg_catalog.unnest($1::text[]) AS listed(name)) AS wanted ON true
LEFT JOIN pg_catalog.pg_roles r ON r.rolname = wanted.name
WHERE me.rolname = current_user ORDER BY wanted.name`;

const ownedSql = `SELECT c.oid::pg_catalog.regclass::text FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_roles me ON me.oid = c.relowner AND me.rolname = current_user AND NOT me.rolsuper
WHERE c.relrowsecurity AND NOT c.relforcerowsecurity
  AND EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid) ORDER BY 1`;

/** By numbers and not by names: the role of the connection may not enter all schemas of its callers. */
const privilegesSql = `SELECT w.role, w."table", w.privilege, lacking.columns, lacking.entered::text
FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS w(role text, "table" text, privilege text, columns jsonb)
JOIN pg_catalog.pg_roles r ON r.rolname = w.role
CROSS JOIN LATERAL (SELECT pg_catalog.parse_ident(w."table") AS parts) AS named
JOIN pg_catalog.pg_namespace n ON n.nspname = named.parts[1]
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = named.parts[2]
CROSS JOIN LATERAL (SELECT pg_catalog.has_schema_privilege(r.oid, c.relnamespace, 'USAGE') AS entered,
  pg_catalog.has_table_privilege(r.oid, c.oid, w.privilege) AS whole, (
    SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum)
    FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND w.columns ? a.attname
      AND NOT pg_catalog.has_column_privilege(r.oid, c.oid, a.attnum,
        CASE w.privilege WHEN 'DELETE' THEN 'SELECT' ELSE w.privilege END)) AS columns) AS lacking
WHERE NOT lacking.entered OR NOT lacking.whole AND (w.privilege = 'DELETE' OR lacking.columns IS NOT NULL)
ORDER BY 1, 2, 3`;

/** Routines that no GRANT lets a role call, nor another one with the same name and arguments of the same names. */
const callsSql = `SELECT w.role, pg_catalog.format('%I.%I(%s)', pg_catalog.min(n.nspname::text), pg_catalog.min(p.proname::text),
  pg_catalog.min(pg_catalog.pg_get_function_identity_arguments(p.oid))), pg_catalog.bool_or(s.entered)::text
FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS w(role text, "table" text, columns jsonb)
JOIN pg_catalog.pg_roles r ON r.rolname = w.role
CROSS JOIN LATERAL (SELECT pg_catalog.parse_ident(w."table") AS parts) AS named
JOIN pg_catalog.pg_namespace n ON n.nspname = named.parts[1]
JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid AND p.proname = named.parts[2]
CROSS JOIN LATERAL (SELECT pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE') AS entered) AS s
WHERE w.columns = (
  SELECT coalesce(pg_catalog.jsonb_agg(a.name ORDER BY a.position), '[]')
  FROM ROWS FROM (pg_catalog.unnest(p.proargnames), pg_catalog.unnest(p.proargmodes)) WITH ORDINALITY AS a(name, mode, position)
  WHERE coalesce(a.mode, 'i') IN ('i', 'b'))
GROUP BY w.role, w."table", w.columns
HAVING NOT pg_catalog.bool_or(s.entered AND pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE'))
ORDER BY 1, 2`;

/** Settings for the transaction alone, without a row. Claims that are too large fail: no such setting exists. */
export const rowSettings: RowSettings = {
  apply({ setting, claims, role, extra }) {
    const name = quoteLiteral(setting);
    if (extra.length === 0) return `SELECT WHERE ${applied(name, claims, role)}`;
    const fits = `pg_catalog.octet_length(c.claims) <= ${maxClaimsBytes}`;
    const checked = `CASE WHEN ${fits} THEN ${name} ELSE 'claims of more than 4 kB' END`;
    const flat = extra.filter(({ isNested }) => !isNested).flatMap(({ name, value }) => [name, value]);
    const added = flat.length === 0 ? '' : ` || pg_catalog.jsonb_build_object(${flat.join(', ')})`;
    // A value of NULL would make all of them NULL.
    const all = extra
      .filter(({ isNested }) => isNested)
      .reduce(
        (outer, { name, value }) =>
          `pg_catalog.jsonb_set(${outer}, ${name}, COALESCE(pg_catalog.to_jsonb(${value}), 'null'::pg_catalog.jsonb))`,
        `(${claims}::pg_catalog.jsonb${added})`,
      );
    return `SELECT FROM (SELECT ${all}::pg_catalog.text AS claims OFFSET 0) AS c WHERE ${applied(checked, 'c.claims', role)}`;
  },
  undo: (setting) => `SELECT WHERE ${applied(quoteLiteral(setting), "''", "'none'")}`,
};

/** A condition that is false once it has set both: functions of several values, unlike AND, look at all of them. */
function applied(setting: string, claims: string, role: string | undefined): string {
  const set = `pg_catalog.set_config(${setting}, ${claims}, true)`;
  return `${role === undefined ? set : `pg_catalog.concat(${set}, pg_catalog.set_config('role', ${role}, true))`} IS NULL`;
}

/** Settings under which a statement runs, and more beside them, under a name for all of these. */
export function withSettings(
  runsAs: RunsAs | undefined,
  name: string,
  settings: Readonly<Record<string, string>>,
): RowContext {
  const context = rowContextOf(runsAs === undefined ? {} : { runsAs });
  const sets = Object.entries(settings).map(
    ([setting, value]) => `pg_catalog.set_config(${quoteLiteral(setting)}, ${quoteLiteral(value)}, true)`,
  );
  const text = `SELECT WHERE pg_catalog.concat(${sets.join(', ')}) IS NULL${context === undefined ? '' : ` OR EXISTS (${context.apply.text})`}`;
  const parameters = context?.apply.parameters ?? [];
  const undo = context?.undo ?? { name: '', text: 'SELECT' };
  return {
    key: `${context?.key ?? ''} ${name}`,
    apply: { name: `${context?.apply.name ?? 's'}_${name}`, text, parameters },
    undo,
  };
}
