/** Roles and rules in the platform's own tables, as the command line reads them and makes them equal to a file. */
import {
  type Diagnostic,
  type PermissionDifference,
  type PermissionDocument,
  type PlainRule,
  type RoleRow,
  type RuleRow,
  readPermissionRows,
} from '@platform/introspect';
import type { ModelRows } from '@platform/runtime';
import type { JsonValue } from '@platform/runtime/contract';
import { modelLock, permissionRowsSql, roleRowsSql } from '@platform/runtime/contract';
import { CommandError, exitCodes } from './exit-codes.ts';
import { quotedSystemSchema } from './model-tables.ts';
import type { Project } from './project.ts';
import type { Source } from './source.ts';

/** What the tables hold. */
export interface PermissionTables {
  readonly document: PermissionDocument;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads them; null where they are not installed, or where the role of the connection may not read them. */
export async function readPermissionTables(source: Source, project: Project): Promise<PermissionTables | null> {
  // The platform's own tables live in PostgreSQL only so far.
  if (source.family !== 'postgres') return null;
  const schema = quotedSystemSchema(project);
  const [row] = await source.run(readableSql, [`${schema}.platform_permissions`, `${schema}.platform_roles`]);
  if (!/^t(rue)?$/.test(row?.[0] ?? '')) return null;
  const roles = await source.run(roleRowsSql(schema), []);
  const rules = await source.run(permissionRowsSql(schema), []);
  return readRuleRows({ roles, rules });
}

/** Reads rows as the two statements of the contract give them. */
export function readRuleRows({ roles, rules }: Pick<ModelRows, 'roles' | 'rules'>): PermissionTables {
  return readPermissionRows(roles.map(readRoleRow), rules.map(readRuleRow));
}

/** A name in a schema that the role may not use counts as missing. */
const readableSql = `SELECT COALESCE(pg_catalog.bool_and(pg_catalog.has_table_privilege(found.oid, 'SELECT')
  AND pg_catalog.has_schema_privilege(found.relnamespace, 'USAGE')), false) AND pg_catalog.count(*) = 2
FROM pg_catalog.pg_class AS found
WHERE found.oid IN (pg_catalog.to_regclass($1::text), pg_catalog.to_regclass($2::text))`;

function readRoleRow([id, name, description, admin, app]: readonly (string | null)[]): RoleRow {
  return { id: id ?? '', name: name ?? '', description: description ?? null, admin: admin === '1', app: app === '1' };
}

function readRuleRow(row: readonly (string | null)[]): RuleRow {
  const [id, role, collection, action, permissions, validation, presets, fields] = row;
  return {
    id: id ?? '',
    role: role ?? null,
    collection: collection ?? '',
    action: action ?? '',
    permissions: parsed(permissions),
    validation: parsed(validation),
    presets: parsed(presets),
    fields: fields ?? null,
  };
}

function parsed(text: string | null | undefined): JsonValue {
  const value: JsonValue = JSON.parse(text ?? 'null');
  return value;
}

/**
 * Makes the tables what the differences say, as one transaction. A role that users have is never removed. Before the
 * commit `confirm` is told what is still different, which is nothing unless somebody else writes at the same time.
 */
export async function writePermissionTables(
  source: Source,
  project: Project,
  compare: (tables: PermissionTables) => readonly PermissionDifference[],
): Promise<readonly PermissionDifference[]> {
  await source.script('BEGIN');
  try {
    await source.run('SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::text, 0))::text', [
      modelLock,
    ]);
    const tables = await readPermissionTables(source, project);
    if (tables === null) throw notInstalled();
    const differences = compare(tables);
    const schema = quotedSystemSchema(project);
    // Rules of roles that are made here need them.
    for (const one of differences) if (one.kind === 'role' && one.after !== null) await writeRole(source, schema, one);
    for (const one of differences) if (one.kind === 'rules') await writeRules(source, schema, one);
    for (const one of differences) if (one.kind === 'role' && one.after === null) await removeRole(source, schema, one);
    await source.script('COMMIT');
    return differences;
  } catch (error) {
    await source.script('ROLLBACK');
    throw error;
  }
}

/** Where the tables are not there. */
export function notInstalled(): CommandError {
  return new CommandError(exitCodes.invalid, 'There are no tables of permissions.', 'Run `platform migrate` first.');
}

type Role = Extract<PermissionDifference, { kind: 'role' }>;
type Rules = Extract<PermissionDifference, { kind: 'rules' }>;

async function writeRole(source: Source, schema: string, { before, after }: Role): Promise<void> {
  if (after === null) return;
  const values = [after.name, after.description, String(after.admin), String(after.app)];
  const text =
    before === null
      ? `INSERT INTO ${schema}.platform_roles (name, description, admin_access, app_access)
         VALUES ($1::text, $2::text, $3::boolean, $4::boolean)`
      : `UPDATE ${schema}.platform_roles SET description = $2::text, admin_access = $3::boolean, app_access = $4::boolean
         WHERE name = $1::text`;
  await source.run(text, values);
}

async function removeRole(source: Source, schema: string, { before }: Role): Promise<void> {
  const name = before?.name ?? null;
  const [used] = await source.run(
    `SELECT pg_catalog.count(*)::text FROM ${schema}.platform_users AS u JOIN ${schema}.platform_roles AS r ON r.id = u.role
     WHERE r.name = $1::text`,
    [name],
  );
  if (used?.[0] !== '0') {
    throw new CommandError(
      exitCodes.invalid,
      `The role "${name}" is not in the permissions file, and ${used?.[0]} of the users have it. Nothing was written.`,
      'Give these users another role, or write the role into the file.',
    );
  }
  await source.run(`DELETE FROM ${schema}.platform_roles WHERE name = $1::text`, [name]);
}

/** The rules of one action are replaced together: their order counts. */
async function writeRules(source: Source, schema: string, { before, after }: Rules): Promise<void> {
  const [first] = [...before, ...after];
  if (first === undefined) return;
  const role = first.role === 'public' ? null : first.role;
  const named = `(SELECT id FROM ${schema}.platform_roles WHERE name = $1::text)`;
  await source.run(
    `DELETE FROM ${schema}.platform_permissions
     WHERE role IS NOT DISTINCT FROM ${named} AND collection = $2::text AND action = $3::text`,
    [role, first.collection, first.action],
  );
  for (const rule of after) {
    await source.run(
      `INSERT INTO ${schema}.platform_permissions (role, collection, action, permissions, validation, presets, fields)
       VALUES (${named}, $2::text, $3::text, $4::jsonb, $5::jsonb, $6::jsonb, $7::text)`,
      [role, rule.collection, rule.action, ...partsOf(rule)],
    );
  }
}

function partsOf({ filter, validation, presets, fields }: PlainRule): readonly (string | null)[] {
  const text = (value: JsonValue): string | null => (value === null ? null : JSON.stringify(value));
  const hasPresets = Object.keys(presets).length > 0;
  return [text(filter), text(validation), hasPresets ? JSON.stringify(presets) : null, fields?.join(',') ?? null];
}
