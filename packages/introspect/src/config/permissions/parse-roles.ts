import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import { booleanOf, entriesOf, formError, isKnownKey, textOf } from '../yaml/placed-value.ts';
import type { SourceEntry, SourceNode } from '../yaml/source.ts';
import type { RoleSource } from './permission-document.ts';

/** Roles that exist in every project: callers without a token, and those who may do everything. */
const builtInRoles = ['admin', 'public'] as const;

const roleKeys = ['description', 'admin', 'app'] as const;

/** Reads the section `roles`. The built-in roles cannot be defined again. */
export function parseRoles(section: SourceNode | undefined, diagnostics: Diagnostic[]): readonly RoleSource[] {
  if (section === undefined) return [];
  return entriesOf(section, 'The section "roles"', diagnostics).flatMap((entry) => parseRole(entry, diagnostics));
}

function parseRole({ key, value }: SourceEntry, diagnostics: Diagnostic[]): readonly RoleSource[] {
  const problem = roleNameProblem(key.name);
  if (problem !== null) {
    diagnostics.push({ code: 'role-name', severity: 'error', place: key.place, ...problem });
    return [];
  }
  const entries = entriesOf(value, `The role "${key.name}"`, diagnostics);
  const recognised = entries.filter((entry) => isKnownKey(entry.key, roleKeys, diagnostics));
  const partOf = (name: (typeof roleKeys)[number]) => recognised.find((entry) => entry.key.name === name)?.value;
  const [description, admin, app] = [partOf('description'), partOf('admin'), partOf('app')];
  return [
    {
      ...key,
      description: description === undefined ? null : textOf(description, diagnostics),
      admin: admin === undefined ? false : booleanOf(admin, false, diagnostics),
      app: app === undefined ? false : booleanOf(app, false, diagnostics),
    },
  ];
}

/** Why a role cannot have this name; null when it can. */
export function roleNameProblem(name: string): { readonly message: string; readonly hint: string } | null {
  const builtIn: readonly string[] = builtInRoles;
  if (builtIn.includes(name)) {
    const hint = name === 'admin' ? 'Use another name with `admin: true`.' : 'Write its rules under "permissions".';
    return { message: `The role "${name}" is built in and cannot be defined again.`, hint };
  }
  if (name.trim() !== '') return null;
  return { message: 'A role needs a name.', hint: 'Write a name before the colon.' };
}

/** False, reported, for rules of a role that the file does not define, and of `admin`, which takes none. */
export function isKnownRole({ key }: SourceEntry, roles: readonly RoleSource[], diagnostics: Diagnostic[]): boolean {
  const names = ['public', ...roles.map(({ name }) => name)];
  if (names.includes(key.name)) return true;
  if (key.name === 'admin') {
    diagnostics.push(formError(key.place, 'The role "admin" may do everything and takes no rules.', 'Remove them.'));
    return false;
  }
  const hint = suggest(key.name, names) ?? 'Define it under "roles".';
  const message = `The role "${key.name}" is not defined.`;
  diagnostics.push({ code: 'unknown-role', severity: 'error', place: key.place, message, hint });
  return false;
}
