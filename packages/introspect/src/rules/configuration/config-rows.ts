/** Mistakes in the configuration of rows by caller: tenants, where every table names the tenant of its rows or is shared, and row-level security. */
import {
  areComparable,
  type CallerValue,
  claimPath,
  dialectFacts,
  followCallerPath,
  parseOperand,
} from '@tablewright/runtime/language';
import type { RowSecurityConfig, TenantConfig } from '../../config/config.ts';
import { configPlace, type Diagnostic } from '../../diagnostic.ts';
import { defaultSchema, findTables, tablesById } from '../../passes/lookup.ts';
import { filterNames, namedField } from '../../passes/permissions/filter-names.ts';
import { readTenants, type Tenants } from '../../passes/tenants.ts';
import type { Collection, Key, Schema, Table } from '../../schema.ts';
import { columnPlace, configError, quotedList, type Rule, type RuleSources, tablePlace, unknownName } from '../rule.ts';

/** Checks that each table of the API has the column, and rows of other tenants cannot be named by it. */
export const configTenant: Rule = (schema, sources) => {
  const { config } = sources;
  if (config.tenant === undefined) return [];
  const names = [...sharedProblems(schema, sources), ...exemptProblems(schema, config.tenant)];
  const tenants = readTenants(config, schema.tables);
  const path = tenants === null ? refusedPath(config.tenant) : followTenant(schema, tenants);
  if (tenants === null || !('type' in path)) return [...names, ...('code' in path ? [path] : [])];
  const tables = tablesById(schema.tables);
  const bound = schema.collections.flatMap((collection) => {
    const table = tables.get(collection.table);
    return table === undefined || collection.system !== undefined || tenants.shared.has(table.id)
      ? []
      : [{ collection, table }];
  });
  const boundTables = new Set(bound.map(({ table }) => table.id));
  return [
    ...names,
    ...bound.flatMap(({ collection, table }) => [
      ...columnProblems(schema, tenants, path, collection, table),
      ...foreignKeyProblems(schema, tenants, boundTables, collection, table),
      ...keyNotes(schema, tenants, table),
    ]),
  ];
};

function sharedProblems({ tables }: Schema, { config }: RuleSources): readonly Diagnostic[] {
  return (config.tenant?.shared ?? []).flatMap((name, index) => {
    const path = ['tenant', 'shared', index];
    const found = findTables(tables, name, defaultSchema(config));
    if (found.length === 1) return [];
    if (found.length > 1) {
      return [
        configError(path, 'ambiguous-name', `"${name}" means several tables.`, 'Write the schema before the name.'),
      ];
    }
    const candidates = tables.flatMap((table) => [table.name, table.id]);
    return [unknownName(path, `There is no table "${name}".`, name, candidates)];
  });
}

/** Requests without a token have no tenant, so `public` cannot see those of all. */
function exemptProblems({ roles }: Schema, { exempt = [] }: TenantConfig): readonly Diagnostic[] {
  const roleNames = roles.map(({ name }) => name);
  return exempt.flatMap((name, index) =>
    roleNames.includes(name)
      ? []
      : [unknownName(['tenant', 'exempt', index], `There is no role "${name}".`, name, roleNames)],
  );
}

function refusedPath({ of: text }: TenantConfig): Diagnostic {
  const hint = 'Write a path such as $CURRENT_USER.tenant_id.';
  return configError(['tenant', 'of'], 'tenant-of', `"${text}" is no path from the caller to a field.`, hint);
}

const addFieldOfUsers = 'Run `platform migrate` where there is no table of users yet, and add the column to it.';

/** The value that the path leads to, or what is wrong with it. */
function followTenant(schema: Schema, { of: operand }: Tenants): CallerValue | Diagnostic {
  const found = followCallerPath(filterNames(schema.collections, schema.tables, schema.dialect), operand);
  const refuse = (message: string, hint?: string): Diagnostic =>
    configError(['tenant', 'of'], 'tenant-of', message, hint);
  if (!('type' in found)) return refuse(`The path ${found.message}.`, addFieldOfUsers);
  return found.many ? refuse('The path leads to several values: a caller has one tenant.') : found;
}

function columnProblems(
  schema: Schema,
  { column: name }: Tenants,
  { type }: CallerValue,
  collection: Collection,
  table: Table,
): readonly Diagnostic[] {
  const column = table.columns.find((candidate) => candidate.name === name);
  const field = collection.fields.find((candidate) => candidate.column === name);
  const problem = (code: string, severity: 'error' | 'warning', message: string, hint: string): Diagnostic => {
    const location = column === undefined ? tablePlace(schema, table) : columnPlace(schema, table.id, name);
    return { code, severity, place: location, message, hint };
  };
  if (column === undefined) {
    const message = `The table has no column "${name}", so nothing tells whose its rows are.`;
    return [problem('tenant-missing', 'error', message, 'Add the column, or list the table under `tenant.shared`.')];
  }
  if (field === undefined) {
    const message = `The column that names the tenant is left out of "${collection.name}".`;
    return [problem('tenant-hidden', 'error', message, 'Show it, and leave it out of the fields of rules instead.')];
  }
  if (!areComparable(namedField(field, column.type, schema.dialect), type) && field.type !== type.type) {
    const message = `A value of type "${type.type}" names the tenant of a caller, and the column has the type "${field.type}".`;
    return [problem('tenant-type', 'error', message, 'Give both the same type.')];
  }
  if (!column.nullable) return [];
  const message = 'The column may be null: only administrators and exempt roles see rows without a tenant.';
  return [problem('tenant-nullable', 'warning', message, 'Make it NOT NULL.')];
}

/** A key that payloads can name has to lead to rows whose tenant can be checked. */
function foreignKeyProblems(
  schema: Schema,
  { column }: Tenants,
  bound: ReadonlySet<string>,
  collection: Collection,
  table: Table,
): readonly Diagnostic[] {
  const tables = tablesById(schema.tables);
  const checked = new Set(
    collection.relations.flatMap((relation) => (relation.kind === 'm2o' ? [relation.foreignKey] : [])),
  );
  const isNamed = (name: string): boolean =>
    name !== column && collection.fields.some((field) => field.column === name);
  return table.foreignKeys
    .filter(({ name, columns, target }) => {
      const hasTenants =
        bound.has(target) || tables.get(target)?.columns.some((found) => found.name === column) === true;
      return hasTenants && !checked.has(name) && !columns.includes(column) && columns.some(isNamed);
    })
    .map(({ name, target }) => ({
      code: 'tenant-foreign-key',
      severity: 'error' as const,
      place: tablePlace(schema, table),
      message: `The foreign key "${name}" is no relation of the API, so payloads could name rows of other tenants in "${target}".`,
      hint: `Show the relation, hide its field, or add "${column}" to the foreign key.`,
    }));
}

/** True for the key of a table of links: callers choose all of its values. */
function isOfLinks({ foreignKeys }: Table, { columns }: Key): boolean {
  const links = new Set(foreignKeys.flatMap((link) => link.columns));
  return columns.length > 1 && columns.every((name) => links.has(name));
}

/** Keys that tell of values in other tenants, and indexes that do not begin with the tenant. */
function keyNotes(schema: Schema, { column }: Tenants, table: Table): readonly Diagnostic[] {
  if (!table.columns.some(({ name }) => name === column)) return [];
  const note = (code: string, severity: 'info' | 'warning', message: string, hint: string): Diagnostic => {
    return { code, severity, place: tablePlace(schema, table), message, hint };
  };
  const keys = table.primaryKey === null || !isOfLinks(table, table.primaryKey) ? [] : [table.primaryKey];
  const open = [...table.uniques, ...keys].filter(({ columns }) => !columns.includes(column));
  const isLed = [...table.indexes, ...table.uniques, ...(table.primaryKey === null ? [] : [table.primaryKey])].some(
    ({ columns }) => columns[0] === column,
  );
  const isStored = table.kind === 'table' || table.kind === 'partitioned';
  return [
    ...open.map(({ name }) => {
      const message = `The unique key "${name}" holds over all tenants: a refused value tells that another one has it.`;
      return note('tenant-unique', 'warning', message, `Add "${column}" to it.`);
    }),
    ...(isLed || !isStored
      ? []
      : [note('tenant-index', 'info', `No index begins with "${column}", which every read compares.`, 'Add one.')]),
  ];
}

const path = ['database', 'rowSecurity'];

/** Passing callers on to policies needs a server that has them, a setting, roles that exist, and values of callers. */
export const configRowSecurity: Rule = (schema, { config }) => {
  const passed = config.database?.rowSecurity;
  if (!passed) return [];
  const { policies, title } = dialectFacts[schema.dialect];
  if (!policies) {
    const message = `${title} has no policies, so callers cannot be passed on to them.`;
    return [configError(path, 'row-security-unsupported', message, 'Remove the entry; rules hold all the same.')];
  }
  return [...settingProblems(passed), ...roleProblems(schema, passed), ...claimProblems(schema, passed)];
};

/** Settings of the server itself have no dot; one of them must not take the claims. */
function settingProblems({ claims }: RowSecurityConfig): readonly Diagnostic[] {
  if (/^[a-z_][\w$]*(?:\.[a-z_][\w$]*)+$/i.test(claims)) return [];
  const message = `"${claims}" cannot be the setting of claims: it needs two names or more with dots between them.`;
  return [configError([...path, 'claims'], 'row-security-claims', message, 'Take "request.jwt.claims".')];
}

function roleProblems(schema: Schema, { roles }: RowSecurityConfig): readonly Diagnostic[] {
  if (roles === undefined) return [];
  const names = ['public', 'admin', ...schema.roles.map(({ name }) => name)];
  const unknown = Object.keys(roles).filter((name) => !names.includes(name));
  const missing = schema.roles
    .filter(({ name, admin }) => !admin && !Object.hasOwn(roles, name))
    .map(({ name }) => name);
  return [
    ...unknown.map((name) => unknownName([...path, 'roles', name], `There is no role "${name}".`, name, names)),
    ...(roles.public === undefined
      ? [configError([...path, 'roles'], 'row-security-role', 'The role "public" needs a role of the database.')]
      : []),
    ...(missing.length === 0 || roles.public === undefined
      ? []
      : [unnamedRoles(`${quotedList(missing)} run as "${roles.public}", the role of the database of "public".`)]),
  ];
}

function unnamedRoles(message: string): Diagnostic {
  const hint = 'Name a role of the database for each.';
  return { code: 'row-security-role', severity: 'warning', place: configPlace(...path, 'roles'), message, hint };
}

function claimProblems(
  { collections, tables, dialect }: Schema,
  { extraClaims = {} }: RowSecurityConfig,
): readonly Diagnostic[] {
  const fields = filterNames(collections, tables, dialect);
  return Object.entries(extraClaims).flatMap(([name, value]) => {
    const refuse = (message: string) => [configError([...path, 'extraClaims', name], 'row-security-claims', message)];
    const names = claimPath(name);
    if (names[0] === 'sub' || names[0] === 'role') return refuse(`The claim "${name}" is the platform's own.`);
    if (names.includes('')) return refuse(`The claim "${name}" has an empty name.`);
    const outer = Object.keys(extraClaims).find((other) => isWithin(names, claimPath(other)));
    if (outer !== undefined) return refuse(`The claim "${name}" lies within "${outer}", which has a value.`);
    const parsed = parseOperand(value);
    if (!parsed.ok) return refuse(`The claim "${name}" ${parsed.message}.`);
    const { operand } = parsed;
    if (operand.kind === 'now') return refuse(`The claim "${name}" cannot be a time.`);
    if (operand.kind === 'literal' || operand.path.length === 0) return [];
    const followed = followCallerPath(fields, operand);
    return 'message' in followed ? refuse(`The claim "${name}" ${followed.message}.`) : [];
  });
}

function isWithin(claim: readonly string[], outer: readonly string[]): boolean {
  return outer.length < claim.length && outer.every((name, position) => name === claim[position]);
}
