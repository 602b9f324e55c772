/** Chooses the source of roles and rules, and reports if the other source differs. */
import type { Diagnostic, PermissionDocument, SchemaFacts } from '@tablewright/introspect';
import { comparePermissions } from '@tablewright/introspect/resolve';
import type { Project } from '../project/project.ts';
import type { PermissionTables } from './permission-tables.ts';

/** Facts of the database about rules. */
interface PermissionFacts extends Pick<SchemaFacts, 'tables'> {
  /** Null: they are not installed, or not readable. */
  readonly permissions: PermissionTables | 'offline' | null;
}

/**
 * Chooses the source that the configuration names. Without a database the file stands for the tables, as `platform
 * permissions pull` has written it. Rules of a new project are left out over a database without its tables. So they do
 * not make tables public that happen to have the same names.
 */
export function choosePermissions(project: Project, facts: PermissionFacts): PermissionTables {
  const isMigrated = facts.tables.some(({ name }) => name === 'platform_users');
  if (!project.hasStarterRules || isMigrated) return chooseSource(project, facts.permissions);
  return { document: { ...project.permissions, roles: [], rules: [] }, diagnostics: [startersUnused] };
}

function chooseSource(project: Project, tables: PermissionTables | 'offline' | null): PermissionTables {
  const { config, permissions: file } = project;
  if (tables === 'offline') return { document: file, diagnostics: [] };
  if (config.permissionSource !== 'tables') {
    const used = tables !== null && tables.document.rules.length > 0;
    const differs = used && rulesDiffer(tables.document, file);
    return { document: file, diagnostics: differs ? [tablesUnused] : [] };
  }
  if (tables === null) return { document: file, diagnostics: [tablesMissing] };
  const written = file.roles.length > 0 || file.rules.length > 0;
  const differs = written && comparePermissions(file, tables.document).length > 0;
  // The tables have no rights to call functions.
  const document = { ...tables.document, ...(file.functions && { functions: file.functions }) };
  return { document, diagnostics: [...tables.diagnostics, ...(differs ? [fileUnused] : [])] };
}

/** Roles may be in the tables alone: their users have the rules of the public. */
function rulesDiffer(tables: PermissionDocument, file: PermissionDocument): boolean {
  return comparePermissions(tables, file).some(({ kind }) => kind === 'rules');
}

const tablesMissing: Diagnostic = {
  code: 'permission-source',
  severity: 'error',
  place: 'permissionSource',
  message: 'The permissions are to come from the tables of the platform, and these cannot be read.',
  hint: 'Run `platform migrate`, or give the role of DATABASE_URL the right to read them.',
};

const startersUnused: Diagnostic = {
  code: 'starter-rules',
  severity: 'warning',
  place: 'permissions',
  message:
    'The rules of a new project are left out, because this database does not have its tables: nothing is public.',
  hint: 'Write rules for your tables into the permissions file, or make those of the project by `platform migrate`.',
};

const tablesUnused: Diagnostic = {
  code: 'permissions-differ',
  severity: 'warning',
  place: 'platform_permissions',
  message: 'The tables hold other rules than the permissions file, which is what is compiled.',
  hint: 'See `platform permissions diff`; `push` makes the tables equal to the file.',
};

const fileUnused: Diagnostic = {
  code: 'permissions-differ',
  severity: 'warning',
  place: 'permissions',
  message: 'The permissions file says otherwise than the tables, which are what is compiled.',
  hint: 'See `platform permissions diff`; `pull` writes the file from the tables.',
};
