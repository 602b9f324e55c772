import { type MysqlCatalog, schemaOf, type TableName } from './catalog.ts';

/** A table that stands for another one while a change is tried (the runtime's `TableDraft`). */
interface Draft {
  /** As the IR calls it. */
  readonly schema: string;
  readonly table: string;
  /** Null where the table goes. */
  readonly draft: string | null;
  /** True if the table exists already. */
  readonly stands: boolean;
  /** Foreign keys that the table loses: a draft has those only that it gets. */
  readonly droppedKeys: readonly string[];
}

/** The catalog as it would be if each draft were the table that it stands for. */
export function withDrafts(catalog: MysqlCatalog, drafts: readonly Draft[]): MysqlCatalog {
  const find = (row: TableName, name: 'table' | 'draft'): Draft | undefined =>
    drafts.find(
      (candidate) => candidate[name] === row.table_name && candidate.schema === schemaOf(catalog, row.table_schema),
    );

  /** Rows of drafts in place of those of their tables. */
  function replaced<Row extends TableName>(rows: readonly Row[]): readonly Row[] {
    return rows.flatMap((row) => {
      if (find(row, 'table') !== undefined) return [];
      const draft = find(row, 'draft');
      return [draft === undefined ? row : { ...row, table_name: draft.table }];
    });
  }

  /** Facts that a copy lacks, or has under other names, are those of its table. */
  function kept<Row extends TableName>(
    rows: readonly Row[],
    keep: (row: Row, draft: Draft) => boolean,
  ): readonly Row[] {
    return rows.flatMap((row) => {
      const [existing, draft] = [find(row, 'table'), find(row, 'draft')];
      if (existing !== undefined) return existing.draft !== null && keep(row, existing) ? [row] : [];
      if (draft === undefined) return [row];
      return draft.stands ? [] : [{ ...row, table_name: draft.table }];
    });
  }

  return {
    ...catalog,
    tables: kept(catalog.tables, () => true),
    columns: replaced(catalog.columns),
    statistics: replaced(catalog.statistics),
    keys: [
      ...kept(catalog.keys, (row, { droppedKeys }) => !droppedKeys.includes(row.constraint_name)),
      ...replaced(catalog.keys.filter((row) => find(row, 'draft')?.stands === true)),
    ],
    // MySQL makes names for those of a copy.
    checks: catalog.dialect === 'mysql' ? kept(catalog.checks, () => true) : replaced(catalog.checks),
  };
}
