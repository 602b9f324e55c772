import { printTable } from '@tablewright/runtime/language';
import type { Diagnostic } from '../diagnostic.ts';
import { groupedBy, sortedBy } from '../order.ts';
import type { ForeignKey, ReferentialAction, TableId } from '../schema.ts';
import type { KeyRow, MysqlCatalog } from './catalog.ts';
import { idOf } from './names.ts';

/** The foreign keys of one table, by name, and those that are left out. */
export interface ForeignKeys {
  readonly foreignKeys: readonly ForeignKey[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Builds the foreign keys of a table whose targets are among `listed`. */
export function buildForeignKeys(
  catalog: MysqlCatalog,
  table: TableId,
  rows: readonly KeyRow[],
  listed: ReadonlySet<TableId>,
): ForeignKeys {
  const groups = [
    ...groupedBy(
      sortedBy(rows, (row) => row.constraint_name),
      (row) => row.constraint_name,
    ).values(),
  ];
  const built = groups.map((group) => buildForeignKey(catalog, group));
  return {
    foreignKeys: built.filter(({ target }) => listed.has(target)),
    diagnostics: built.filter(({ target }) => !listed.has(target)).map((key) => targetOutside(table, key)),
  };
}

function buildForeignKey(catalog: MysqlCatalog, rows: readonly KeyRow[]): ForeignKey {
  const ordered = [...rows].sort((left, right) => left.ordinal_position - right.ordinal_position);
  const [first] = ordered;
  const target = { table_schema: first?.referenced_table_schema ?? '', table_name: first?.referenced_table_name ?? '' };
  return {
    name: first?.constraint_name ?? '',
    columns: ordered.map((row) => row.column_name),
    target: idOf(catalog, target),
    targetColumns: ordered.map((row) => row.referenced_column_name),
    onDelete: actionOf(first?.delete_rule),
    onUpdate: actionOf(first?.update_rule),
    deferrable: false,
    initiallyDeferred: false,
    validated: true,
  };
}

const actions: ReadonlyMap<string, ReferentialAction> = new Map([
  ['RESTRICT', 'restrict'],
  ['CASCADE', 'cascade'],
  ['SET NULL', 'set null'],
  ['SET DEFAULT', 'set default'],
]);

function actionOf(rule: string | undefined): ReferentialAction {
  return actions.get(rule ?? '') ?? 'no action';
}

function targetOutside(table: TableId, key: ForeignKey): Diagnostic {
  return {
    code: 'foreign-key-outside',
    severity: 'warning',
    place: `table ${printTable('mysql', table)}`,
    message: `The foreign key "${key.name}" leads to "${printTable('mysql', key.target)}", which is not served, so it is no relation.`,
    hint: 'Add the schema of the target to the list of schemas, or include the table.',
  };
}
