import { printTable } from '@tablewright/runtime/language';
import type { Diagnostic } from '../diagnostic.ts';
import type { UnlistedKey } from '../facts.ts';
import { sortedBy } from '../order.ts';
import type { ForeignKey, Index, Key, ReferentialAction, Table, TableId } from '../schema.ts';
import { foreignKeyOutside } from '../table-names.ts';
import { idOf, type KeyRow, type MysqlCatalog, type StatisticsRow } from './catalog.ts';

/** Name that both servers give the index of a primary key. */
const primary = 'PRIMARY';

/** Builds keys and indexes from the columns of the indexes. The servers have no index on a part of the rows. */
export function buildKeys(rows: readonly StatisticsRow[]): Pick<Table, 'primaryKey' | 'uniques' | 'indexes'> {
  const groups = [
    ...Map.groupBy(
      sortedBy(rows, (row) => row.index_name),
      (row) => row.index_name,
    ).values(),
  ].map((same) => same.toSorted((left, right) => left.seq_in_index - right.seq_in_index));
  const keys = groups.filter(isKey).map(keyOf);
  return {
    primaryKey: keys.find(({ name }) => name === primary) ?? null,
    uniques: keys.filter(({ name }) => name !== primary),
    indexes: groups.flatMap(indexOf),
  };
}

/** A unique prefix or expression does not make the column unique. */
function isKey(rows: readonly StatisticsRow[]): boolean {
  return rows.every((row) => row.non_unique === 0 && row.column_name !== null && row.sub_part === null);
}

function keyOf(rows: readonly StatisticsRow[]): Key {
  return {
    name: rows[0]?.index_name ?? '',
    columns: rows.flatMap((row) => row.column_name ?? []),
    deferrable: false,
    nullsNotDistinct: false,
  };
}

function indexOf(rows: readonly StatisticsRow[]): Index[] {
  const [first] = rows;
  if (first === undefined) return [];
  return [
    {
      name: first.index_name,
      method: first.index_type.toLowerCase(),
      columns: rows.map(indexedPart),
      include: [],
      unique: first.non_unique === 0,
      predicate: null,
      ...(first.distance !== undefined && { distance: first.distance === 'cosine' ? 'cosine' : 'l2' }),
    },
  ];
}

/**
 * A column, or between parentheses an expression or the first characters of a column. Spatial indexes are told as if they
 * were of the first bytes, those of a box.
 */
function indexedPart({ column_name: name, sub_part: part, expression, index_type: type }: StatisticsRow): string {
  if (name === null) return `(${expression ?? ''})`;
  return part === null || /^spatial$/i.test(type) ? name : `(left(${name}, ${part}))`;
}

/** Builds the foreign keys of a table whose targets are among `listed`; `indexes` are those of each table. */
export function buildForeignKeys(
  catalog: MysqlCatalog,
  table: TableId,
  rows: readonly KeyRow[],
  listed: ReadonlySet<TableId>,
  indexes: ReadonlyMap<TableId, readonly StatisticsRow[]>,
) {
  const groups = keysOf(rows);
  const [hidden, shown] = [groups.filter(isHidden), groups.filter((group) => !isHidden(group))];
  const built = shown.map((group) => buildForeignKey(catalog, group));
  const name = printTable('mysql', table);
  const served = built.filter(({ target }) => listed.has(target));
  const isUnique = (key: ForeignKey): boolean => isUniqueTarget(key, indexes.get(key.target) ?? []);
  const foreignKeys = served.filter(isUnique);
  return {
    foreignKeys,
    diagnostics: [
      ...hidden.map(([row]) => hiddenKey(name, row?.constraint_name ?? '')),
      ...built
        .filter(({ target }) => !listed.has(target))
        .map((key) => foreignKeyOutside(name, key.name, printTable('mysql', key.target))),
      ...served.filter((key) => !isUnique(key)).map((key) => ambiguousKey(name, key)),
    ],
  };
}

function keysOf(rows: readonly KeyRow[]): readonly (readonly KeyRow[])[] {
  const sorted = sortedBy(rows, (row) => row.constraint_name);
  return [...Map.groupBy(sorted, (row) => row.constraint_name).values()];
}

/** Foreign keys that no table lists. Those whose actions the server hides may have any. */
export function unlistedKeys(
  catalog: MysqlCatalog,
  rows: ReadonlyMap<TableId, readonly KeyRow[]>,
  tables: readonly Table[],
): readonly UnlistedKey[] {
  const stored = new Set(catalog.tables.map((row) => idOf(catalog, row)));
  const listed = new Map(tables.map(({ id, foreignKeys }) => [id, new Set(foreignKeys.map(({ name }) => name))]));
  return [...rows].flatMap(([table, keys]) =>
    keysOf(keys).flatMap((group) => {
      const key = buildForeignKey(catalog, group);
      if (listed.get(table)?.has(key.name)) return [];
      if (isHidden(group)) return [{ ...key, table, target: null, onDelete: 'cascade' }];
      return [{ ...key, table, target: stored.has(key.target) ? key.target : null }];
    }),
  );
}

/** True if no two rows have the same values: InnoDB takes any index for the target of a foreign key. */
function isUniqueTarget({ targetColumns }: ForeignKey, rows: readonly StatisticsRow[]): boolean {
  const { primaryKey, uniques } = buildKeys(rows);
  const keys = primaryKey === null ? uniques : [primaryKey, ...uniques];
  return keys.some(({ columns }) => columns.every((column) => targetColumns.includes(column)));
}

function ambiguousKey(table: string, { name, target }: ForeignKey): Diagnostic {
  return {
    code: 'foreign-key-to-several',
    severity: 'warning',
    place: `table ${table}`,
    message: `The foreign key "${name}" leads to columns of "${printTable('mysql', target)}" that are not unique, so it is no relation.`,
    hint: 'Make them a unique key, or let the foreign key reference one.',
  };
}

function isHidden([first]: readonly KeyRow[]): boolean {
  return first?.delete_rule === null;
}

function hiddenKey(table: string, name: string): Diagnostic {
  return {
    code: 'foreign-key-hidden',
    severity: 'warning',
    place: `table ${table}`,
    message: `The server hides what the foreign key "${name}" does: it is left out, and so are its relations.`,
    hint: 'GRANT the user of DATABASE_URL the right REFERENCES on the database, which lets it read no rows.',
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

function actionOf(rule: string | null | undefined): ReferentialAction {
  return actions.get(rule ?? '') ?? 'no action';
}
