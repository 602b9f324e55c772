import { reservedPrefix } from '@tablewright/runtime/language';
import { type Diagnostic, sortDiagnostics } from '../diagnostic.ts';
import { followThrough, type SchemaFacts } from '../facts.ts';
import { sortedBy } from '../order.ts';
import type { Column, ColumnType, Policy, Table, TableId } from '../schema.ts';
import { quotedNames, tableId } from '../table-names.ts';
import { type Catalog, type ObjectRow, oldestVersion, type PolicyRow, type RelationRow } from './catalog.ts';
import { type BuildColumns, columnsBuilder, relationId, updatableBits } from './columns.ts';
import { buildRoutines } from './functions.ts';
import { buildForeignKeys, buildIndexes, buildKeys, type Keys, unlistedKeys } from './keys.ts';
import { type Listed, type Lookup, lookupOf } from './lookup.ts';
import { catalogRemarks, tableRemarks } from './remarks.ts';
import { selectRelations } from './selection.ts';
import { buildEnums } from './types.ts';

interface BuiltRelation extends Unreadable {
  readonly diagnostics: readonly Diagnostic[];
}

/** The facts, and what they were built from by relation. */
export interface BuiltTables {
  readonly facts: SchemaFacts;
  /** By oid. */
  readonly relations: ReadonlyMap<string, BuiltRelation>;
}

/**
 * Builds tables and enums from a catalog. Pure: the result does not depend on the order of the catalog's rows, and is
 * sorted. Tables are sorted by id, enums by schema and name, diagnostics by place, code and message. Facts without a
 * place in the result are reported in the diagnostics.
 */
export function buildTables(catalog: Catalog): SchemaFacts {
  return buildRelations(catalog).facts;
}

/** The same; relations that are built already stay what they are. */
export function buildRelations(catalog: Catalog, built: ReadonlyMap<string, BuiltRelation> = new Map()): BuiltTables {
  if (!(catalog.version >= oldestVersion)) {
    return { facts: { tables: [], enums: [], diagnostics: [serverTooOld(catalog)] }, relations: new Map() };
  }
  const lookup = lookupOf(catalog);
  const { listed, diagnostics } = selectRelations(catalog, lookup);
  const build = relationBuilder(catalog, lookup, listed);
  const rows = sortedBy([...listed.values()], relationId);
  const relations = new Map(rows.map((row) => [row.oid, built.get(row.oid) ?? build(row)]));
  const all = [...relations.values()];
  const alone = all.map(({ table }) => table);
  const tables = followThrough(alone, unlistedKeys(lookup, listed), triggeredIn(catalog, lookup));
  const facts = {
    tables,
    enums: buildEnums(catalog, usedEnums(tables)),
    ...(catalog.functions && { routines: buildRoutines(catalog.functions) }),
    diagnostics: sortDiagnostics([
      ...diagnostics,
      ...all.flatMap((built) => built.diagnostics),
      ...catalogRemarks(catalog, lookup, tables),
      ...privilegeDiagnostics(all),
    ]),
  };
  return { facts, relations };
}

function relationBuilder(catalog: Catalog, lookup: Lookup, listed: Listed): (row: RelationRow) => BuiltRelation {
  const buildColumns = columnsBuilder(lookup, (relation) => listed.has(relation));
  const triggered = triggeredIn(catalog, lookup);
  return (row) => {
    const { diagnostics, ...foreign } = buildForeignKeys(lookup, listed, row);
    const table = {
      ...buildTable(lookup, listed, buildColumns, row),
      ...(isAmended(lookup, triggered, row) && { amended: true as const }),
      ...foreign,
    };
    const unreadable = lookup.columns(row.oid).filter((column) => !column.isReadable);
    return {
      table,
      diagnostics: [...diagnostics, ...tableRemarks(lookup, listed, row), ...rowSecurityRemark(row)],
      unreadable: unreadable.map((column) => column.attname),
    };
  };
}

function buildTable(
  lookup: Lookup,
  listed: Listed,
  buildColumns: BuildColumns,
  row: RelationRow,
): Omit<Table, 'foreignKeys'> {
  const described = buildColumns(row.oid);
  return {
    id: relationId(row),
    schema: row.nspname,
    name: row.relname,
    kind: tableKind(row.relkind),
    comment: row.description,
    owner: row.owner,
    rowSecurity: rowSecurityOf(row),
    inherits: parentsOf(lookup, listed, row),
    ...(lookup.hasChildren(row.oid) && { inherited: true as const }),
    writable: {
      insert: (row.updatableByTriggers & updatableBits.insert) !== 0,
      update: (row.updatableByTriggers & updatableBits.update) !== 0,
      delete: (row.updatableByTriggers & updatableBits.delete) !== 0,
    },
    ...(isUnlockable(row) && { unlockable: true as const }),
    ...described,
    ...keysOf(lookup, row, described.columns),
    indexes: buildIndexes(lookup, row.oid),
  };
}

/** Tables with triggers or rules, partitioned ones with those of their partitions. */
function triggeredIn({ objects }: Catalog, lookup: Lookup): ReadonlySet<TableId> {
  const names = new Set(objects.filter(isTrigger).map((object) => tableId(object.nspname, object.relation)));
  const rows = [...lookup.relations.values()].filter((row) => names.has(relationId(row)));
  return new Set(rows.map((row) => relationId(lookup.relations.get(lookup.root(row.oid)) ?? row)));
}

function isTrigger(object: ObjectRow): object is ObjectRow & { readonly relation: string } {
  return object.relation !== null && ['trigger', 'rewrite rule'].includes(object.kind);
}

/** Too little is known about views, foreign tables and partitions. */
function isAmended(lookup: Lookup, triggered: ReadonlySet<TableId>, row: RelationRow): boolean {
  return row.relkind !== 'r' || lookup.hasChildren(row.oid) || triggered.has(relationId(row));
}

/** A row of a view that groups or leaves out doubles is no single row of a table. */
function isUnlockable({ relkind, updatable, updatableByTriggers }: RelationRow): boolean {
  const changes = updatableBits.update | updatableBits.delete;
  return relkind === 'v' && (updatableByTriggers & changes) !== 0 && (updatable & changes) === 0;
}

/** A materialized view has no primary key: the shortest of its unique indexes without nulls takes its place. */
function keysOf(lookup: Lookup, row: RelationRow, columns: readonly Column[]): Keys {
  const keys = buildKeys(lookup, row.oid);
  if (row.relkind !== 'm' || keys.primaryKey) return keys;
  const nullable = new Set(columns.filter((column) => column.nullable).map((column) => column.name));
  const complete = keys.uniques.filter((key) => !key.columns.some((name) => nullable.has(name)));
  const [primaryKey] = complete.toSorted((left, right) => left.columns.length - right.columns.length);
  if (!primaryKey) return keys;
  return { primaryKey, uniques: keys.uniques.filter((key) => key !== primaryKey) };
}

function tableKind(relkind: string): Table['kind'] {
  switch (relkind) {
    case 'p':
      return 'partitioned';
    case 'v':
      return 'view';
    case 'm':
      return 'materializedView';
    case 'f':
      return 'foreign';
    default:
      return 'table';
  }
}

/** Parents in the order in which the table names them. */
function parentsOf(lookup: Lookup, listed: Listed, row: RelationRow): TableId[] {
  return lookup
    .parents(row.oid)
    .filter((link) => listed.has(link.inhparent))
    .map((link) => tableId(link.parent.nspname, link.parent.name));
}

function usedEnums(tables: readonly Table[]): ReadonlySet<string> {
  return new Set(tables.flatMap((table) => table.columns.flatMap((column) => enumsOf(column.type))));
}

function enumsOf(type: ColumnType): readonly string[] {
  const inner = type.element ? enumsOf(type.element) : [];
  return type.enum === null ? inner : [type.enum, ...inner];
}

function serverTooOld(catalog: Catalog): Diagnostic {
  return {
    code: 'server-version',
    severity: 'error',
    place: 'database',
    message: `The server reports version ${catalog.version}; PostgreSQL 14 or later is needed.`,
    hint: 'Upgrade the server.',
  };
}

/** Warnings about tables (one per schema) and about single columns (one per table) without the privilege SELECT. */
function privilegeDiagnostics(tables: readonly Unreadable[]): Diagnostic[] {
  const incomplete = tables.filter(({ unreadable }) => unreadable.length > 0);
  const isWhole = ({ table, unreadable }: Unreadable): boolean => unreadable.length === table.columns.length;
  const schemas = Map.groupBy(incomplete.filter(isWhole), ({ table }) => table.schema);
  return [
    ...[...schemas].map(([schema, rows]) => tablesDiagnostic(schema, rows)),
    ...incomplete.filter((row) => !isWhole(row)).map(columnsDiagnostic),
  ];
}

interface Unreadable {
  readonly table: Table;
  /** Names of its columns that may not be read. */
  readonly unreadable: readonly string[];
}

function tablesDiagnostic(schema: string, rows: readonly Unreadable[]): Diagnostic {
  // Those of the platform are read also where they are excluded.
  const isOwn = rows.every(({ table }) => table.name.startsWith(reservedPrefix));
  const hint = isOwn
    ? `Have its owner GRANT USAGE ON SCHEMA "${schema}", SELECT, INSERT, UPDATE, DELETE ON ALL TABLES and USAGE ON ALL SEQUENCES IN SCHEMA "${schema}" to it.`
    : 'GRANT it USAGE on the schema and SELECT on the tables, or leave them out with `database.exclude` in platform.config.ts.';
  return {
    code: 'unreadable-tables',
    severity: 'warning',
    place: `schema ${schema}`,
    message: `The database role may not read ${quotedNames(rows.map(({ table }) => table.name))}: requests for them will fail.`,
    hint,
  };
}

function columnsDiagnostic({ table, unreadable }: Unreadable): Diagnostic {
  return {
    code: 'unreadable-columns',
    severity: 'warning',
    place: `table ${table.id}`,
    message: `The database role may not read the columns ${quotedNames(unreadable)}: requests for them will fail.`,
    hint: 'GRANT it SELECT on the columns, or set `hidden: true` for the fields in platform.config.ts.',
  };
}

const commands: Readonly<Record<string, Policy['command']>> = { r: 'select', a: 'insert', w: 'update', d: 'delete' };

function rowSecurityOf(row: RelationRow): Table['rowSecurity'] {
  const policies = (row.security?.policies ?? []).map(policyOf);
  const enabled = { enabled: row.relrowsecurity, forced: row.relforcerowsecurity };
  return policies.length === 0 ? enabled : { ...enabled, policies };
}

function policyOf({ polname, polpermissive, polcmd, roles, using, check }: PolicyRow): Policy {
  return { name: polname, permissive: polpermissive, command: commands[polcmd] ?? 'all', roles, using, check };
}

/** Tells which rows of a table the role of the connection sees, so that no list is empty without a reason. */
function rowSecurityRemark(row: RelationRow): readonly Diagnostic[] {
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
