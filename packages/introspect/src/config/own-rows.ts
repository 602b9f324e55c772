/** The platform's own tables, read as the same documents that files give: the model, and roles with their rules. */
import { hash } from 'node:crypto';
import {
  type DeclaredModel,
  type DeclaredRow,
  depthOf,
  type JsonValue,
  jsonDepth,
  parseExactly,
  withNumberTexts,
} from '@tablewright/runtime/language';
import type { Diagnostic } from '../diagnostic.ts';
import { roleNameProblem } from './permissions/parse-permissions.ts';
import {
  actions,
  type PermissionDocument,
  type PlacedValue,
  type RoleSource,
  type RuleSource,
} from './permissions/permission-document.ts';
import { formError, plainValue } from './yaml/placed-value.ts';
import type { PlacedName } from './yaml/source.ts';

/** Reads rows as `modelRowsSql` gives them; null where the tables declare and change nothing. */
export function readModelTables(rows: readonly (readonly (string | null)[])[]): DeclaredModel | null {
  if (rows.length === 0) return null;
  const digest = hash('sha256', JSON.stringify(rows), 'hex');
  return {
    collections: rowsOf(rows, 'collection'),
    fields: rowsOf(rows, 'field'),
    relations: rowsOf(rows, 'relation'),
    digest,
  };
}

function rowsOf(rows: readonly (readonly (string | null)[])[], requested: string): readonly DeclaredRow[] {
  return rows.flatMap(([kind, text]) => {
    if (kind !== requested || typeof text !== 'string') return [];
    const row = withNumberTexts(parseExactly(text));
    return isObject(row) ? [row] : [];
  });
}

/** A row of `platform_roles`, as far as it is compiled. */
export interface RoleRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly admin: boolean;
  readonly app: boolean;
}

/** A row of `platform_permissions`. */
export interface RuleRow {
  readonly id: string;
  /** Key of the role; null is the public. */
  readonly role: string | null;
  readonly collection: string;
  readonly action: string;
  readonly permissions: JsonValue;
  readonly validation: JsonValue;
  readonly presets: JsonValue;
  /** Names with commas between them, as a csv field holds them. */
  readonly fields: string | null;
}

/** Reads the rows. A row that cannot be compiled is reported by its key: `platform_permissions 12`. */
export function readPermissionRows(
  roleRows: readonly RoleRow[],
  ruleRows: readonly RuleRow[],
): { readonly document: PermissionDocument; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const roles = roleRows.flatMap((row) => readRole(row, roleRows, diagnostics));
  const names = new Map(roleRows.map(({ id, name }) => [id, name]));
  const administrators = new Set(roleRows.filter(isBuiltIn).map(({ id }) => id));
  const rules = ruleRows
    .filter(({ role }) => role === null || !administrators.has(role))
    .flatMap((row) => readRule(row, row.role === null ? 'public' : names.get(row.role), diagnostics));
  return { document: { fileName: 'platform_permissions', roles, rules }, diagnostics };
}

/** The role that every project has: its row stands for what is compiled anyway. */
function isBuiltIn({ name, admin }: RoleRow): boolean {
  return name === 'admin' && admin;
}

function readRole(row: RoleRow, all: readonly RoleRow[], diagnostics: Diagnostic[]): readonly RoleSource[] {
  if (isBuiltIn(row)) return [];
  const { name, description, admin, app } = row;
  const location = `platform_roles ${row.id}`;
  const problem = roleNameProblem(name);
  if (problem !== null) {
    diagnostics.push({
      code: 'role-name',
      severity: 'error',
      place: location,
      ...problem,
      hint: 'Give it another name.',
    });
    return [];
  }
  const first = all.find((other) => other.name === name);
  if (first !== row) {
    const message = `There are two roles with the name "${name}".`;
    diagnostics.push({
      code: 'role-name',
      severity: 'error',
      place: location,
      message,
      hint: 'Give one of them another name.',
    });
    return [];
  }
  return [{ name, place: location, description, admin, app }];
}

/** Stands among the fields of a rule for delete, which has none, for the right to remove archived items for good. */
export const purgeName = 'purge';

function readRule(row: RuleRow, role: string | undefined, diagnostics: Diagnostic[]): readonly RuleSource[] {
  const location = `platform_permissions ${row.id}`;
  const action = actions.find((name) => name === row.action);
  if (action === undefined || role === undefined) {
    diagnostics.push(formError(location, 'The row names no action and role that exist.'));
    return [];
  }
  const written = action === 'create' || action === 'update';
  const values = [row.permissions, row.validation, row.presets];
  if (values.some((value) => depthOf(value, jsonDepth) > jsonDepth)) {
    diagnostics.push(formError(location, `The row holds values that nest deeper than ${jsonDepth} levels.`));
    return [];
  }
  const named = (name: string): PlacedName => ({ name, place: location });
  const placed = (value: JsonValue): PlacedValue => ({ ...plainValue(value), place: location, source: null, lines: 0 });
  return [
    {
      role: named(role),
      collection: named(row.collection),
      action,
      place: location,
      fields: action === 'delete' || row.fields === null ? null : namesOf(row.fields).map(named),
      // A condition without parts means every row, as none does.
      filter: action === 'create' || isEmpty(row.permissions) ? null : placed(row.permissions),
      validation: !written || row.validation === null ? null : placed(row.validation),
      presets: written
        ? presetsOf(row.presets, location, diagnostics).map(([field, value]) => ({
            field: named(field),
            value: placed(value),
          }))
        : [],
      ...(action === 'delete' && namesOf(row.fields ?? '').includes(purgeName) && { purge: true as const }),
    },
  ];
}

function namesOf(csv: string): readonly string[] {
  return csv
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function isEmpty(value: JsonValue): boolean {
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

function presetsOf(
  value: JsonValue,
  location: string,
  diagnostics: Diagnostic[],
): readonly (readonly [string, JsonValue])[] {
  if (value === null) return [];
  if (isObject(value)) return Object.entries(value);
  diagnostics.push(formError(location, 'The presets must be an object.'));
  return [];
}

function isObject(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
