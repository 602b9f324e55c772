/** Roles and rules in the platform's own tables, as the command line reads them and makes them equal to a file. */
import {
  type Diagnostic,
  type PermissionDifference,
  type PermissionDocument,
  type PlainRule,
  purgeName,
  type RoleRow,
  type RuleRow,
  readPermissionRows,
} from '@tablewright/introspect';
import type { ModelRows } from '@tablewright/runtime';
import { type JsonValue, modelLock, parseExactly } from '@tablewright/runtime/language';
import { type ModelTables, type OwnSql, ownTables, type SystemPlace } from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from '../errors/failures.ts';
import type { Project } from '../project/project.ts';
import { inTransaction, runOwn, type Source } from './source.ts';
import { systemPlace } from './system.ts';

export interface PermissionTables {
  readonly document: PermissionDocument;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads them; null where they are not installed, or where the role of the connection may not read them. */
export async function readPermissionTables(source: Source, project: Project): Promise<PermissionTables | null> {
  const texts = textsOf(source, project);
  if (!(await texts.arePermissionsReadable(source.run))) return null;
  const roles = await source.run(texts.roles, []);
  const rules = await source.run(texts.rules, []);
  return readRuleRows({ roles, rules });
}

/** Reads rows as the two statements of the contract give them. */
export function readRuleRows({ roles, rules }: Pick<ModelRows, 'roles' | 'rules'>): PermissionTables {
  return readPermissionRows(roles.map(readRoleRow), rules.map(readRuleRow));
}

function textsOf(source: Source, project: Project) {
  return permissionStatements(systemPlace(source, project));
}

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
  return parseExactly(text ?? 'null');
}

/**
 * Applies the differences to the tables, as one transaction. A role that users have is never removed. Before the commit
 * `confirm` gets the differences that remain: none unless another connection writes at the same time.
 */
export async function writePermissionTables(
  source: Source,
  project: Project,
  compare: (tables: PermissionTables) => readonly PermissionDifference[],
): Promise<readonly PermissionDifference[]> {
  return inTransaction(source, async () => {
    const texts = textsOf(source, project);
    await runOwn(source, texts.lock, [modelLock]);
    const tables = await readPermissionTables(source, project);
    if (tables === null) throw notInstalled();
    const differences = compare(tables);
    // Rules of roles that are made here need them.
    for (const difference of differences)
      if (difference.kind === 'role' && difference.after !== null) await writeRole(source, texts, difference);
    for (const difference of differences) if (difference.kind === 'rules') await writeRules(source, texts, difference);
    for (const difference of differences)
      if (difference.kind === 'role' && difference.after === null) await removeRole(source, texts, difference);
    return differences;
  });
}

export function notInstalled(): CommandError {
  return new CommandError(exitCodes.invalid, 'There are no tables of permissions.', 'Run `platform migrate` first.');
}

type Role = Extract<PermissionDifference, { kind: 'role' }>;
type Rules = Extract<PermissionDifference, { kind: 'rules' }>;

async function writeRole(source: Source, texts: ReturnType<typeof textsOf>, { before, after }: Role): Promise<void> {
  if (after === null) return;
  const values = [after.name, after.description, String(after.admin), String(after.app)];
  await runOwn(source, before === null ? texts.addRole : texts.changeRole, values);
}

async function removeRole(source: Source, texts: ReturnType<typeof textsOf>, { before }: Role): Promise<void> {
  const name = before?.name ?? null;
  const [used] = await runOwn(source, texts.usersOf, [name]);
  if (used?.[0] !== '0') {
    throw new CommandError(
      exitCodes.invalid,
      `The role "${name}" is not in the permissions file, and ${used?.[0]} of the users have it. Nothing was written.`,
      'Give these users another role, or write the role into the file.',
    );
  }
  await runOwn(source, texts.removeRole, [name]);
}

/** The rules of one action are replaced together: their order counts. */
async function writeRules(source: Source, texts: ReturnType<typeof textsOf>, { before, after }: Rules): Promise<void> {
  const [first] = [...before, ...after];
  if (first === undefined) return;
  const role = first.role === 'public' ? null : first.role;
  await runOwn(source, texts.removeRules, [role, first.collection, first.action]);
  for (const rule of after) {
    await runOwn(source, texts.addRule, [role, rule.collection, rule.action, ...partsOf(rule)]);
  }
}

function partsOf({ filter, validation, presets, fields, purge }: PlainRule): readonly (string | null)[] {
  const text = (value: JsonValue): string | null => (value === null ? null : JSON.stringify(value));
  const hasPresets = Object.keys(presets).length > 0;
  const names = purge ? [purgeName] : fields;
  return [text(filter), text(validation), hasPresets ? JSON.stringify(presets) : null, names?.join(',') ?? null];
}

type PermissionStatements = ModelTables &
  Readonly<Record<'lock' | 'addRole' | 'changeRole' | 'usersOf' | 'removeRole' | 'removeRules' | 'addRule', OwnSql>>;

/** The statements by their names; `$1` is the name of a role. */
function permissionStatements(location: SystemPlace): PermissionStatements {
  const { table, text, boolean, same, rows, write, turn, statements } = ownTables(location);
  const [roles, rules, users] = ['platform_roles', 'platform_permissions', 'platform_users'].map(table);
  const named = `(SELECT id FROM ${roles} WHERE name = $1::text)`;
  return {
    ...statements.model,
    lock: turn(),
    /** $2 description, $3 and $4 admin and app access. */
    addRole: write(`INSERT INTO ${roles} (name, description, admin_access, app_access)
VALUES ($1::text, $2::text, ${boolean('$3')}, ${boolean('$4')})`),
    changeRole:
      write(`UPDATE ${roles} SET description = $2::text, admin_access = ${boolean('$3')}, app_access = ${boolean('$4')}
WHERE name = $1::text`),
    usersOf: rows(`SELECT ${text('COUNT(*)')} FROM ${users} AS u JOIN ${roles} AS r ON r.id = u.role
WHERE r.name = $1::text`),
    removeRole: write(`DELETE FROM ${roles} WHERE name = $1::text`),
    /** $2 collection, $3 action; a null name is that of the public role. */
    removeRules: write(
      `DELETE FROM ${rules} WHERE ${same('role', named)} AND collection = $2::text AND action = $3::text`,
    ),
    /** $4 to $6 the parts that are JSON, $7 fields. */
    addRule: write(`INSERT INTO ${rules} (role, collection, action, permissions, validation, presets, fields)
VALUES (${named}, $2::text, $3::text, $4::jsonb, $5::jsonb, $6::jsonb, $7::text)`),
  };
}

/** Prints differences for people: a line that begins with `-` for removed ones, with `+` for added ones. */
export function printDifferences(differences: readonly PermissionDifference[]): string {
  return differences.flatMap(linesOf).join('\n');
}

function linesOf(difference: PermissionDifference): readonly string[] {
  if (difference.kind === 'role') {
    const line = (role: NonNullable<typeof difference.before>): string =>
      `role ${role.name} ${JSON.stringify({ description: role.description, admin: role.admin, app: role.app })}`;
    return [
      ...(difference.before === null ? [] : [`- ${line(difference.before)}`]),
      ...(difference.after === null ? [] : [`+ ${line(difference.after)}`]),
    ];
  }
  return [
    ...difference.before.map((rule) => `- ${lineOf(rule)}`),
    ...difference.after.map((rule) => `+ ${lineOf(rule)}`),
  ];
}

/** Parts that say nothing are left out. */
function lineOf({ role, collection, action, fields, filter, validation, presets, purge }: PlainRule): string {
  const parts = {
    ...(fields !== null && { fields }),
    ...(filter !== null && { filter }),
    ...(validation !== null && { validation }),
    ...(Object.keys(presets).length > 0 && { presets }),
    ...(purge && { purge }),
  };
  return `${role} ${collection} ${action} ${JSON.stringify(parts)}`;
}
