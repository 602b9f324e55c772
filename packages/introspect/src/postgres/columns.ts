import { findOrCreate } from '@tablewright/runtime/language';
import type { Check, Column, ColumnFill, ColumnType, Table, TableId } from '../schema.ts';
import { tableId } from '../table-names.ts';
import type { ColumnRow, ObjectName, RelationRow } from './catalog.ts';
import { allowedValues, buildChecks, type CheckedColumn } from './checks.ts';
import type { Lookup } from './lookup.ts';
import { buildColumnType, domainChecksOf } from './types.ts';
import type { Origin } from './view-trace.ts';

type ColumnsAndChecks = Pick<Table, 'columns' | 'checks'>;

/** Builds a relation's columns. A view's columns follow those they are read from, through views in between. */
export type BuildColumns = (relation: string) => ColumnsAndChecks;

/** Bits of `pg_relation_is_updatable`: one shifted by the command's number. */
export const updatableBits = { update: 4, insert: 8, delete: 16 } as const;

/** Makes a builder that builds every relation once. `isListed` tells which tables a source may name. */
export function columnsBuilder(lookup: Lookup, isListed: (relation: string) => boolean): BuildColumns {
  const built = new Map<string, ColumnsAndChecks>();
  const basesOf = (relation: string): readonly string[] =>
    [...(lookup.trace(relation)?.origins.values() ?? [])].map((origin) => origin.relation);
  return (relation) => {
    const cached = built.get(relation);
    if (cached) return cached;
    for (const next of baseOrder(relation, basesOf, (base) => built.has(base))) {
      built.set(next, buildColumnsOf(lookup, isListed, built, next));
    }
    // A view without a beginning is in no order: its columns are followed nowhere.
    return findOrCreate(built, relation, () => buildColumnsOf(lookup, isListed, new Map(), relation));
  };
}

function buildColumnsOf(
  lookup: Lookup,
  isListed: (relation: string) => boolean,
  built: ReadonlyMap<string, ColumnsAndChecks>,
  relation: string,
): ColumnsAndChecks {
  const owner = lookup.relations.get(relation);
  const typed = lookup.columns(relation).map((row) => ({
    row,
    type: buildColumnType(lookup.types, row.atttypid, row.atttypmod),
  }));
  const names = new Map(typed.map(({ row }) => [row.attnum, row.attname]));
  const checks = buildChecks(lookup.constraints(relation), typed, names);
  if (!owner) return { columns: [], checks };
  const columns = typed.map((column) => {
    const plain = buildOwnColumn(lookup, owner, column, checks);
    const origin = lookup.trace(relation)?.origins.get(column.row.attnum);
    const base = origin && originColumn(lookup, built, origin);
    return base ? followBase(plain, owner, origin, base, sourceOf(lookup, isListed, origin, base)) : plain;
  });
  return { columns, checks };
}

/** A column by what is known of it alone. */
function buildOwnColumn(lookup: Lookup, owner: RelationRow, column: CheckedColumn, checks: readonly Check[]): Column {
  const { row, type } = column;
  return {
    name: row.attname,
    nativeType: row.nativeType,
    type: { ...type, values: allowedValues(column, checks, domainChecksOf(lookup.types, row.atttypid)) },
    nullable: !isNotNull(lookup, row, type, owner),
    fill: fillOf(lookup, row),
    collation: row.collation && collationName(row.collation),
    ...(!row.collisdeterministic && { folds: true as const }),
    comment: row.description,
    source: null,
    updatable: isUpdatable(owner, row),
  };
}

/** Null can stand in any column of a view, and in one whose NOT NULL was added but not yet validated (from 18). */
function isNotNull(lookup: Lookup, row: ColumnRow, type: ColumnType, owner: RelationRow): boolean {
  if (owner.relkind === 'v' || owner.relkind === 'm') return false;
  if (type.domains.some((domain) => domain.notNull)) return true;
  const unproved = lookup
    .constraints(owner.oid)
    .some(
      (constraint) => constraint.contype === 'n' && !constraint.convalidated && constraint.conkey?.[0] === row.attnum,
    );
  return row.attnotnull && !unproved;
}

function fillOf(lookup: Lookup, row: ColumnRow): ColumnFill {
  const type = lookup.types.get(row.atttypid);
  if (row.attidentity !== '') return { kind: 'identity', always: row.attidentity === 'a' };
  const expression = row.expression ?? type?.typdefault ?? null;
  if (expression === null) return { kind: 'none' };
  if (row.attgenerated !== '') return { kind: 'generated', expression, stored: row.attgenerated === 's' };
  if (row.sequence && /^nextval\('(?:[^']|'')+'::regclass\)$/.test(expression)) {
    return { kind: 'serial', sequence: tableId(row.sequence.nspname, row.sequence.name) };
  }
  return { kind: 'default', expression };
}

function isUpdatable(owner: RelationRow, row: ColumnRow): boolean {
  // INSTEAD OF triggers take any column of the new row, also when there is none for DELETE.
  const writes = updatableBits.insert | updatableBits.update;
  const byTriggers = (owner.updatableByTriggers & ~owner.updatable & writes) !== 0;
  return row.attgenerated === '' && (row.isUpdatable || (owner.relkind === 'v' && byTriggers));
}

/** The names of PostgreSQL's own collations need no schema. */
function collationName(collation: ObjectName): string {
  return collation.nspname === 'pg_catalog' ? collation.name : tableId(collation.nspname, collation.name);
}

function originColumn(
  lookup: Lookup,
  built: ReadonlyMap<string, ColumnsAndChecks>,
  origin: Origin,
): Column | undefined {
  const name = lookup.column(origin.relation, origin.attnum)?.attname;
  return built.get(origin.relation)?.columns.find((column) => column.name === name);
}

/** The base column, or what the view in between has as its base. A partition's column is that of its table. */
function sourceOf(
  lookup: Lookup,
  isListed: (relation: string) => boolean,
  origin: Origin,
  base: Column,
): Column['source'] {
  if (lookup.trace(origin.relation)) return base.source;
  const root = lookup.root(origin.relation);
  const row = lookup.relations.get(root);
  return row && isListed(root) ? { table: relationId(row), column: base.name } : null;
}

/** A view's column with what its base column tells: outside of outer joins also that it is never null. */
function followBase(plain: Column, owner: RelationRow, origin: Origin, base: Column, source: Column['source']): Column {
  // A statement on a view that PostgreSQL rewrites to one on the base table leaves the column to the base's default.
  const insertable = (owner.updatable & updatableBits.insert) !== 0;
  const fillable = insertable && plain.fill.kind === 'none' && plain.updatable;
  return {
    ...plain,
    type: { ...plain.type, values: plain.type.values ?? base.type.values },
    nullable: origin.outer || base.nullable,
    fill: fillable ? base.fill : plain.fill,
    source,
    updatable: plain.updatable && (base.updatable || !insertable),
  };
}

export function relationId(row: RelationRow): TableId {
  return tableId(row.nspname, row.relname);
}

/**
 * The relations that a relation is built from, itself last: each stands after those that it is built from. Relations
 * that lead back to themselves are not among them, nor are those that are built from one. Nothing follows from a circle
 * without a beginning. A loop and no recursion, because chains of views have any length.
 *
 * `isBuilt` tells which relations are built already and have no place in the list.
 */
export function baseOrder(
  relation: string,
  basesOf: (relation: string) => readonly string[],
  isBuilt: (relation: string) => boolean,
): readonly string[] {
  const waiting = new Map<string, number>();
  const readers = new Map<string, string[]>();
  const found = [relation];
  for (let relation = found.pop(); relation !== undefined; relation = found.pop()) {
    if (waiting.has(relation)) continue;
    const bases = [...new Set(basesOf(relation))].filter((base) => !isBuilt(base));
    waiting.set(relation, bases.length);
    for (const base of bases) {
      const waitingReaders = readers.get(base);
      if (waitingReaders === undefined) readers.set(base, [relation]);
      else waitingReaders.push(relation);
    }
    found.push(...bases);
  }
  const order = [...waiting].flatMap(([relation, bases]) => (bases === 0 ? [relation] : []));
  // The list grows while it is gone through.
  for (const ready of order) {
    for (const reader of readers.get(ready) ?? []) {
      const bases = (waiting.get(reader) ?? 0) - 1;
      waiting.set(reader, bases);
      if (bases === 0) order.push(reader);
    }
  }
  return order;
}
