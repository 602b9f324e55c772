import type { Diagnostic } from '../diagnostic.ts';
import type { ForeignKey, ReferentialAction } from '../schema.ts';
import { tableId } from '../table-names.ts';
import type { ConstraintRow, RelationRow } from './catalog.ts';
import { relationId } from './columns.ts';
import { buildKeys } from './keys.ts';
import type { Lookup } from './lookup.ts';

/** The foreign keys of one table, by name, and those that are left out. */
interface ForeignKeys {
  readonly foreignKeys: readonly ForeignKey[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Builds the foreign keys of a table whose targets are served; `listed` are the tables of the IR. */
export function buildForeignKeys(
  lookup: Lookup,
  listed: ReadonlyMap<string, RelationRow>,
  table: RelationRow,
): ForeignKeys {
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

function buildForeignKey(
  lookup: Lookup,
  listed: ReadonlyMap<string, RelationRow>,
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

function targetOutside(table: RelationRow, row: ConstraintRow): Diagnostic {
  const target = row.target ? tableId(row.target.nspname, row.target.name) : 'an unknown table';
  return {
    code: 'foreign-key-outside',
    severity: 'warning',
    place: `table ${relationId(table)}`,
    message: `The foreign key "${row.conname}" leads to "${target}", which is not served, so it is no relation.`,
    hint: 'Add the schema of the target to the list of schemas, or include the table.',
  };
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
