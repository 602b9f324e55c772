import { findOrCreate } from '@tablewright/runtime/language';
import type { Diagnostic } from '../diagnostic.ts';
import type { UnlistedKey } from '../facts.ts';
import type { ForeignKey, Index, Key, ReferentialAction, Table, TableId } from '../schema.ts';
import { foreignKeyOutside, tableId } from '../table-names.ts';
import type { ConstraintRow, IndexRow, RelationRow } from './catalog.ts';
import { baseOrder, relationId } from './columns.ts';
import type { Listed, Lookup } from './lookup.ts';

export type Keys = Pick<Table, 'primaryKey' | 'uniques'>;

const none: Keys = { primaryKey: null, uniques: [] };

/** Finds keys of a relation by constraints and unique indexes. A view has its only table's, if it shows all columns. */
export function buildKeys(lookup: Lookup, relation: string): Keys {
  const built = findOrCreate(builtKeys, lookup, () => new Map<string, Keys>());
  const cached = built.get(relation);
  if (cached) return cached;
  const basesOf = (view: string): readonly string[] => baseOf(lookup, view) ?? [];
  for (const next of baseOrder(relation, basesOf, (base) => built.has(base)))
    built.set(next, keysOf(lookup, built, next));
  return findOrCreate(built, relation, () => viewKeys(lookup, relation, null, none));
}

/** Every relation is asked about once for itself, and once for each foreign key and view that names it. */
const builtKeys = new WeakMap<Lookup, Map<string, Keys>>();

/** The relation whose rows a view shows, as a list; undefined for what is no view, and for other views. */
function baseOf(lookup: Lookup, relation: string): readonly [string] | undefined {
  const base = isView(lookup, relation) ? lookup.trace(relation)?.rowsOf : null;
  return typeof base === 'string' && lookup.relations.has(base) ? [base] : undefined;
}

function keysOf(lookup: Lookup, built: ReadonlyMap<string, Keys>, relation: string): Keys {
  if (!lookup.relations.has(relation)) return none;
  if (!isView(lookup, relation)) return tableKeys(lookup, relation);
  const [base] = baseOf(lookup, relation) ?? [];
  return viewKeys(lookup, relation, base ?? null, built.get(base ?? '') ?? none);
}

function isView(lookup: Lookup, relation: string): boolean {
  return ['v', 'm'].includes(lookup.relations.get(relation)?.relkind ?? '');
}

function tableKeys(lookup: Lookup, relation: string): Keys {
  const constraints = lookup.constraints(relation);
  const [primary] = constraints.filter((row) => row.contype === 'p');
  const uniques = constraints.filter((row) => row.contype === 'u');
  return {
    primaryKey: primary ? constraintKey(lookup, primary) : null,
    uniques: byName([...uniques.map((row) => constraintKey(lookup, row)), ...indexKeys(lookup, relation)]),
  };
}

/** A materialized view may have unique indexes of its own. */
function viewKeys(lookup: Lookup, view: string, base: string | null, baseKeys: Keys): Keys {
  // Rows of other tables appear in an inheritance parent: its keys do not hold for what it shows.
  const keys = base === null || lookup.hasChildren(base) ? none : baseKeys;
  const shown = (key: Key): Key[] => keysOfView(lookup, view, base ?? '', key);
  const indexed = indexKeys(lookup, view);
  const inherited = keys.uniques.flatMap(shown).filter((key) => !indexed.some((other) => other.name === key.name));
  return {
    primaryKey: (keys.primaryKey && shown(keys.primaryKey)[0]) ?? null,
    uniques: byName([...indexed, ...inherited]),
  };
}

/** The key under the names of the view's columns; empty when the view lacks one of them. */
function keysOfView(lookup: Lookup, view: string, base: string, key: Key): Key[] {
  const columns = key.columns.flatMap((name) => viewColumn(lookup, view, base, name) ?? []);
  return columns.length === key.columns.length ? [{ ...key, columns }] : [];
}

function viewColumn(lookup: Lookup, view: string, base: string, name: string): string | undefined {
  const origins = lookup.trace(view)?.origins;
  const shown = lookup.columns(view).find((column) => {
    const origin = origins?.get(column.attnum);
    return origin?.relation === base && lookup.column(base, origin.attnum)?.attname === name;
  });
  return shown?.attname;
}

function constraintKey(lookup: Lookup, row: ConstraintRow): Key {
  return {
    name: row.conname,
    columns: lookup.columnNames(row.conrelid, row.conkey ?? []),
    deferrable: row.condeferrable,
    nullsNotDistinct: row.indnullsnotdistinct,
  };
}

function indexKeys(lookup: Lookup, relation: string): Key[] {
  return lookup
    .indexes(relation)
    .filter(isKeyIndex)
    .map((row) => ({
      name: row.relname,
      columns: lookup.columnNames(relation, row.indkey.slice(0, row.indnkeyatts)),
      deferrable: !row.indimmediate,
      nullsNotDistinct: row.indnullsnotdistinct,
    }));
}

/** Keys of constraints are told by the constraint; a part of the rows, or an expression, is no key of the table. */
function isKeyIndex(row: IndexRow): boolean {
  const plain = row.indkey.slice(0, row.indnkeyatts).every((number) => number > 0);
  return row.indisunique && row.indisvalid && !row.ofConstraint && row.predicate === null && plain;
}

function byName(keys: readonly Key[]): Key[] {
  return [...keys].sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** The valid indexes of a relation, by name. An invalid one serves no query and proves nothing. */
export function buildIndexes(lookup: Lookup, relation: string): Index[] {
  return lookup
    .indexes(relation)
    .filter((row) => row.indisvalid)
    .map((row) => {
      const columns = row.indkey.map((number, position) => indexColumn(lookup, row, number, position));
      return {
        name: row.relname,
        method: row.amname,
        columns: columns.slice(0, row.indnkeyatts),
        include: columns.slice(row.indnkeyatts),
        unique: row.indisunique,
        ...(row.indnullsnotdistinct && { nullsNotDistinct: true as const }),
        predicate: row.predicate,
        ...distanceOf(row),
      };
    });
}

/** Operator classes of vectors have names such as `vector_cosine_ops`. */
function distanceOf({ opclass }: IndexRow): Pick<Index, 'distance'> {
  const [, distance] = /^(?:half)?vec(?:tor)?_(cosine|l2|ip|l1)_ops$/.exec(opclass ?? '') ?? [];
  return distance === undefined ? {} : { distance };
}

/** PostgreSQL prints a bare function call without parentheses, every other expression with them. */
function indexColumn(lookup: Lookup, row: IndexRow, number: number, position: number): string {
  const text = row.keys[position] ?? '';
  if (number === 0) return text.startsWith('(') ? text : `(${text})`;
  return lookup.column(row.indrelid, number)?.attname ?? text;
}

/** Builds the foreign keys of a table whose targets are served; `listed` are the tables of the IR. */
export function buildForeignKeys(lookup: Lookup, listed: Listed, table: RelationRow) {
  const rows = lookup.constraints(table.oid).filter((row) => row.contype === 'f');
  const results = rows.map((row) => buildForeignKey(lookup, listed, table, row));
  return {
    foreignKeys: results.flatMap((result) => ('code' in result ? [] : [result])),
    diagnostics: [
      ...results.flatMap((result) => ('code' in result ? [result] : [])),
      ...rows.flatMap((row) => remarks(lookup, table, row)),
    ],
  };
}

/** Foreign keys that no table lists: those of tables that are left out, those of partitions alone, and those that are no relation. */
export function unlistedKeys(lookup: Lookup, listed: Listed): readonly UnlistedKey[] {
  const idOf = (relation: string): TableId | null => {
    const row = lookup.relations.get(lookup.root(relation));
    return row === undefined ? null : relationId(row);
  };
  return [...lookup.relations.values()].flatMap((relation) =>
    lookup.constraints(relation.oid).flatMap((row) => {
      const table = idOf(relation.oid);
      if (row.contype !== 'f' || table === null) return [];
      if (listed.has(relation.oid) && !('code' in buildForeignKey(lookup, listed, relation, row))) return [];
      const [onDelete, onUpdate] = [referentialAction(row.confdeltype), referentialAction(row.confupdtype)];
      return [{ table, target: idOf(row.confrelid), targetColumns: row.target?.columns ?? [], onDelete, onUpdate }];
    }),
  );
}

function buildForeignKey(
  lookup: Lookup,
  listed: Listed,
  table: RelationRow,
  row: ConstraintRow,
): ForeignKey | Diagnostic {
  const root = lookup.root(row.confrelid);
  const target = listed.get(root);
  if (row.conperiod) return temporalKey(table, row);
  if (!target) return targetOutside(table, row);
  const targetColumns = row.target?.columns ?? [];
  if (root !== row.confrelid && !isKey(lookup, root, targetColumns)) return partitionTarget(table, row, target);
  return {
    name: row.conname,
    columns: lookup.columnNames(row.conrelid, row.conkey ?? []),
    target: relationId(target),
    targetColumns,
    onDelete: referentialAction(row.confdeltype),
    onUpdate: referentialAction(row.confupdtype),
    deferrable: row.condeferrable,
    initiallyDeferred: row.condeferred,
    validated: row.convalidated && row.conenforced,
    ...(!row.conenforced && { enforced: false as const }),
  };
}

function referentialAction(letter: string): ReferentialAction {
  switch (letter) {
    case 'r':
      return 'restrict';
    case 'c':
      return 'cascade';
    case 'n':
      return 'set null';
    case 'd':
      return 'set default';
    default:
      return 'no action';
  }
}

/** True when these columns, in any order, are a key of the table. */
function isKey(lookup: Lookup, relation: string, columns: readonly string[]): boolean {
  const { primaryKey, uniques } = buildKeys(lookup, relation);
  return [...(primaryKey ? [primaryKey] : []), ...uniques].some(
    (key) => key.columns.length === columns.length && key.columns.every((name) => columns.includes(name)),
  );
}

function temporalKey(table: RelationRow, row: ConstraintRow): Diagnostic {
  return {
    code: 'foreign-key-temporal',
    severity: 'warning',
    place: `table ${relationId(table)}`,
    message: `The foreign key "${row.conname}" compares periods (PERIOD), so it leads to no single row and is no relation.`,
    hint: null,
  };
}

function targetOutside(table: RelationRow, { conname, target }: ConstraintRow): Diagnostic {
  const name = target ? tableId(target.nspname, target.name) : 'an unknown table';
  return foreignKeyOutside(relationId(table), conname, name);
}

function partitionTarget(table: RelationRow, row: ConstraintRow, root: RelationRow): Diagnostic {
  return {
    code: 'foreign-key-to-partition',
    severity: 'warning',
    place: `table ${relationId(table)}`,
    message: `The foreign key "${row.conname}" leads to a partition by columns that are no key of "${relationId(root)}", so it is no relation.`,
    hint: 'Let the foreign key reference a key of the partitioned table.',
  };
}

/** Properties of a foreign key that the IR does not keep. */
function remarks(lookup: Lookup, table: RelationRow, row: ConstraintRow): Diagnostic[] {
  const columns = lookup.columnNames(table.oid, row.confdelsetcols ?? []).map((name) => `"${name}"`);
  const texts = [
    ...(columns.length > 0 ? [`ON DELETE sets only ${columns.join(', ')}`] : []),
    ...(row.confmatchtype === 'f' ? ['MATCH FULL'] : []),
    ...(row.conenforced ? [] : ['NOT ENFORCED: rows may lead nowhere']),
  ];
  return texts.map((text) => ({
    code: 'foreign-key-detail',
    severity: 'info',
    place: `table ${relationId(table)}`,
    message: `The foreign key "${row.conname}" has a detail that the schema does not keep: ${text}.`,
    hint: null,
  }));
}
