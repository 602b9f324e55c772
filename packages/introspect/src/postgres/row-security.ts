/** Row-level security: policies for the schema, and what the role of the connection sees under them. */
import type { Diagnostic } from '../diagnostic.ts';
import type { Policy, Table } from '../schema.ts';
import { quotedNames } from '../table-names.ts';
import type { PolicyRow, RelationRow } from './catalog.ts';
import { relationId } from './columns.ts';

const commands: Readonly<Record<string, Policy['command']>> = { r: 'select', a: 'insert', w: 'update', d: 'delete' };

/** Row-level security of a table with its policies. */
export function rowSecurityOf(row: RelationRow): Table['rowSecurity'] {
  const policies = (row.security?.policies ?? []).map(policyOf);
  const enabled = { enabled: row.relrowsecurity, forced: row.relforcerowsecurity };
  return policies.length === 0 ? enabled : { ...enabled, policies };
}

function policyOf({ polname, polpermissive, polcmd, roles, using, check }: PolicyRow): Policy {
  return { name: polname, permissive: polpermissive, command: commands[polcmd] ?? 'all', roles, using, check };
}

/** Tells which rows of a table the role of the connection sees, so that no list is empty without a reason. */
export function rowSecurityRemark(row: RelationRow): readonly Diagnostic[] {
  const { security } = row;
  if (security === null || !row.allowed) return [];
  const found = { code: 'row-security', place: `table ${relationId(row)}` };
  const [table, role] = [`"${row.relname}"`, `"${security.role}"`];
  if (!security.active) {
    const reason = security.bypasses ? 'as a superuser or by BYPASSRLS' : 'as its owner without FORCE';
    const message = `Row-level security of ${table} does not bind the database role ${role}, ${reason}: it sees every row.`;
    return [{ ...found, severity: 'info', message, hint: null }];
  }
  const reading = security.policies.filter(({ polcmd, applies }) => applies && 'r*'.includes(polcmd));
  const open = reading.filter(({ polpermissive }) => polpermissive).map(({ polname }) => polname);
  const message =
    open.length === 0
      ? `The database role ${role} sees no rows of ${table}: no policy for reading is for it. Lists of it are empty.`
      : `The database role ${role} sees only rows of ${table} that its policies let through: ${quotedNames(open)}.`;
  return [{ ...found, severity: 'warning', message, hint: switchOn }];
}

const switchOn =
  'Set `database.rowSecurity` in platform.config.ts to pass callers on, or CREATE POLICY for the role of DATABASE_URL.';
