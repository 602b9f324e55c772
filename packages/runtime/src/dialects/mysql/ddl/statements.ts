/** Steps of a change as statements, of which each is done wholly or not at all: those of one table are one ALTER TABLE. */
import type { MigrationConnection } from '../../../database/migration-connection.ts';
import { PlatformError } from '../../../errors.ts';
import type { ModelStep } from '../../../model/model-sql.ts';
import type { AlterPart, ModelPlace } from '../../../model/table-parts.ts';
import { printColumnDefinition, readTableDefinition, type TableDefinition } from './column-definition.ts';

/** A statement that changes a table. */
export interface TableStatement {
  /** As SQL names it. */
  readonly table: string;
  readonly place: ModelPlace;
  readonly kind: 'create' | 'alter' | 'drop';
  readonly sql: string;
  /** The statement that undoes it; null where nothing does. */
  readonly undo: string | null;
  /** True if it may cut texts off, which the servers do where they are not strict. */
  readonly loose: boolean;
  /** The statement that does the same to an empty copy of another name; null where there is nothing to do. */
  readonly onCopy: (copy: string) => string | null;
  /** Foreign keys that go. */
  readonly droppedKeys: readonly string[];
}

/** Makes them of the steps of a change; the session tells how tables are now. */
export async function tableStatements(
  { query }: Pick<MigrationConnection, 'query'>,
  steps: readonly ModelStep[],
): Promise<readonly TableStatement[]> {
  const statements: TableStatement[] = [];
  for (const [table, group] of Map.groupBy(steps.filter(isOfTable), (step) => step.table)) {
    const alters = group.filter((step) => step.kind === 'alter');
    for (const step of group) {
      const { place: location } = step;
      if (step.kind === 'create') statements.push(created(table, step.definition, location));
      if (step.kind === 'drop') statements.push(dropped(table, location));
    }
    const [first] = alters;
    if (first === undefined) continue;
    const [[, printed] = []] = await query(`SHOW CREATE TABLE ${table}`, []);
    const definition = readTableDefinition(printed ?? '');
    const parts = alters.map(({ part }) => part);
    statements.push(...altered(table, parts, definition, first.place));
  }
  return statements;
}

type TableStep = Extract<ModelStep, { kind: 'create' | 'drop' | 'alter' }>;

function isOfTable(step: ModelStep): step is TableStep {
  return step.kind === 'create' || step.kind === 'drop' || step.kind === 'alter';
}

function created(table: string, definition: string, location: ModelPlace): TableStatement {
  return {
    ...{ table, place: location, kind: 'create', loose: false, droppedKeys: [] },
    sql: `CREATE TABLE ${table} ${definition}`,
    undo: `DROP TABLE ${table}`,
    onCopy: (copy) => `CREATE TABLE ${copy} ${definition}`,
  };
}

function dropped(table: string, location: ModelPlace): TableStatement {
  return {
    ...{ table, place: location, kind: 'drop', loose: false, droppedKeys: [] },
    sql: `DROP TABLE ${table}`,
    undo: null,
    onCopy: () => null,
  };
}

interface Printed {
  readonly sql: string;
  readonly undo: string | null;
  readonly dropsKey: string | undefined;
}

function altered(
  table: string,
  parts: readonly AlterPart[],
  definition: TableDefinition,
  location: ModelPlace,
): readonly TableStatement[] {
  const modified = Map.groupBy(
    parts.filter((part) => part.kind === 'modify'),
    ({ column }) => column,
  );
  const printed: readonly Printed[] = [
    ...[...modified].flatMap(([column, changes]) => modification(column, changes, definition)),
    ...parts.flatMap((part): readonly Printed[] => {
      if (part.kind === 'modify') return [];
      if (part.makesIndex !== undefined && definition.indexes.has(part.makesIndex)) return [];
      return [{ sql: part.sql, undo: part.undo, dropsKey: part.dropsKey }];
    }),
  ];
  if (printed.length === 0) return [];
  const undone = printed.toReversed().map(({ undo }) => undo);
  const alter = (name: string, texts: readonly string[]): string => `ALTER TABLE ${name}\n  ${texts.join(',\n  ')}`;
  return [
    {
      ...{ table, place: location, kind: 'alter' },
      sql: alter(
        table,
        printed.map(({ sql }) => sql),
      ),
      undo: undone.every((undo) => undo !== null) ? alter(table, undone) : null,
      loose: parts.some((part) => part.kind === 'modify' && part.lossy === true),
      onCopy(copy) {
        const texts = printed.filter(({ dropsKey }) => dropsKey === undefined).map(({ sql }) => sql);
        return texts.length === 0 ? null : alter(copy, texts);
      },
      droppedKeys: printed.flatMap(({ dropsKey }) => dropsKey ?? []),
    },
  ];
}

/** Prints a column once, with all of its changes. */
function modification(
  column: string,
  changes: readonly Extract<AlterPart, { kind: 'modify' }>[],
  { columns }: TableDefinition,
): readonly Printed[] {
  const before = columns.get(column.slice(1, -1).replaceAll('``', '`'));
  if (before === undefined) throw new Error(`The database does not describe the column ${column}.`);
  if (before.generated) throw new PlatformError('UNPROCESSABLE_ENTITY', 'The database computes it: change it there.');
  const after = changes.reduce((definition, { to }) => to(definition), before);
  const [sql, undo] = [after, before].map(
    (definition) => `MODIFY COLUMN ${column} ${printColumnDefinition(definition)}`,
  );
  const lossy = changes.some((change) => change.lossy === true);
  return sql === undefined || undo === undefined || sql === undo
    ? []
    : [{ sql, undo: lossy ? null : undo, dropsKey: undefined }];
}
