/** Roles and rules in the platform's own tables, as the command line reads them and makes them equal to a file. */
import {
  type Diagnostic,
  type PermissionDifference,
  type PermissionDocument,
  type PlainRule,
  type RoleRow,
  type RuleRow,
  readPermissionRows,
} from '@tablewright/introspect';
import type { ModelRows } from '@tablewright/runtime';
import type { JsonValue } from '@tablewright/runtime/language';
import { modelLock, parseExactly } from '@tablewright/runtime/language';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import type { Project } from '../project/project.ts';
import { permissionStatements } from './permission-sql.ts';
import { runOwn, type Source } from './source.ts';
import { systemPlace } from './system.ts';

/** Content of the tables. */
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
  await source.script('BEGIN');
  try {
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

function partsOf({ filter, validation, presets, fields }: PlainRule): readonly (string | null)[] {
  const text = (value: JsonValue): string | null => (value === null ? null : JSON.stringify(value));
  const hasPresets = Object.keys(presets).length > 0;
  return [text(filter), text(validation), hasPresets ? JSON.stringify(presets) : null, fields?.join(',') ?? null];
}
