/** Steps of a change as statements, of which each is done wholly or not at all: those of one table are one ALTER TABLE. */
import type { MigrationConnection } from '../../../database/database.ts';
import { PlatformError } from '../../../errors.ts';
import type { AlterPart, ColumnDefinition, ModelPlace, ModelStep } from '../../../model/model-sql.ts';

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
    // The server does not say which part it refuses.
    const field = alters.every((step) => step.place.field === first.place.field) ? first.place.field : null;
    statements.push(...altered(table, parts, definition, { ...first.place, field }));
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

function modification(
  column: string,
  changes: readonly Extract<AlterPart, { kind: 'modify' }>[],
  { columns }: TableDefinition,
): readonly Printed[] {
  const printed = columns.get(column.slice(1, -1).replaceAll('``', '`'));
  const before = printed && changes[0]?.whole(printed);
  if (before === undefined) throw new Error(`The database does not describe the column ${column}.`);
  const after = changes.reduce((definition, { to }) => to(definition), before);
  const isDescribed = printColumnDefinition({ ...after, comment: before.comment }) === printColumnDefinition(before);
  // The servers print a question mark for a character that the expression may have.
  if (before.generated && (!isDescribed || before.rest.some((text) => text.includes('?'))))
    throw new PlatformError('UNPROCESSABLE_ENTITY', 'The database computes it: change it there.');
  const [sql, undo] = [after, before].map(
    (definition) => `MODIFY COLUMN ${column} ${printColumnDefinition(definition)}`,
  );
  const lossy = changes.some((change) => change.lossy === true);
  return sql === undefined || undo === undefined || sql === undo
    ? []
    : [{ sql, undo: lossy ? null : undo, dropsKey: undefined }];
}

type TableDefinition = ReturnType<typeof readTableDefinition>;

const linePattern = /^ {2}`((?:[^`]|``)+)` (.*?),?$/;
const indexPattern = /^ {2}(?:UNIQUE |FULLTEXT |SPATIAL )?KEY `((?:[^`]|``)+)`/;

/** Reads what SHOW CREATE TABLE prints in a session that quotes names by backticks. */
export function readTableDefinition(printed: string) {
  const lines = printed.split('\n');
  const named = (pattern: RegExp): readonly (readonly [string, string])[] =>
    lines.flatMap((line) => {
      const [, name, rest = ''] = pattern.exec(line) ?? [];
      return name === undefined ? [] : [[name.replaceAll('``', '`'), rest] as const];
    });
  return {
    /** By their names. */
    columns: new Map(named(linePattern).map(([name, text]) => [name, readColumnDefinition(text)])),
    indexes: new Set(named(indexPattern).map(([name]) => name)),
  };
}

/** Reads the definition of a column: the text after its name. */
export function readColumnDefinition(text: string): ColumnDefinition {
  const keywords = wordsOf(text);
  const typeEnd = keywords.findIndex((_, position) => position > 0 && !isOfType(keywords, position));
  const end = typeEnd === -1 ? keywords.length : typeEnd;
  const rest: string[] = [];
  let [nullable, backfill, comment, check]: [boolean, string | null, string | null, string | null] = [
    true,
    null,
    null,
    null,
  ];
  for (let position = end; position < keywords.length; position++) {
    const [word = '', next = ''] = keywords.slice(position, position + 2);
    const upper = word.toUpperCase();
    if (upper === 'NOT' && next.toUpperCase() === 'NULL') nullable = false;
    else if (upper === 'DEFAULT') backfill = next.toUpperCase() === 'NULL' ? null : next;
    else if (upper === 'COMMENT') comment = next;
    else if (upper === 'CHECK') check = next;
    else {
      if (upper !== 'NULL') rest.push(word);
      continue;
    }
    position += 1;
  }
  const generated = rest.some((word) => /^(?:GENERATED|AS)$/i.test(word));
  return { type: keywords.slice(0, end).join(' '), nullable, default: backfill, comment, check, rest, generated };
}

/** Words between blanks; text in quotes or parentheses is one word with what it touches: `decimal(8,2)`. */
function wordsOf(text: string): readonly string[] {
  const keywords: string[] = [];
  let start = 0;
  for (let position = 0; position <= text.length; position++) {
    const character = text[position];
    if (character === "'" || character === '`') position = endOfQuoted(text, position);
    else if (character === '(') position = endOfGroup(text, position);
    else if (character === undefined || character === ' ') {
      if (position > start) keywords.push(text.slice(start, position));
      start = position + 1;
    }
  }
  return keywords;
}

/** Position of the parenthesis that closes the one at `open`; parentheses in texts and names do not count. */
function endOfGroup(text: string, open: number): number {
  let depth = 0;
  for (let position = open; position < text.length; position++) {
    const character = text[position];
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === "'" || character === '`') position = endOfQuoted(text, position);
    if (depth === 0) return position;
  }
  return text.length;
}

function endOfQuoted(text: string, start: number): number {
  const quote = text[start];
  for (let position = start + 1; position < text.length; position++) {
    if (quote === "'" && text[position] === '\\') position += 1;
    else if (text[position] === quote) {
      if (text[position + 1] !== quote) return position;
      position += 1;
    }
  }
  return text.length;
}

const typeWords: ReadonlySet<string> = new Set([
  'UNSIGNED',
  'ZEROFILL',
  'CHARACTER',
  'CHARSET',
  'COLLATE',
  'PRECISION',
]);

function isOfType(keywords: readonly string[], position: number): boolean {
  const [before = '', word = ''] = [keywords[position - 1], keywords[position]].map((text) => text?.toUpperCase());
  if (typeWords.has(word) || word === 'SET') return true;
  return before === 'COLLATE' || before === 'CHARSET' || before === 'SET';
}

export function printColumnDefinition(column: ColumnDefinition): string {
  const nullability = column.nullable ? 'NULL' : 'NOT NULL';
  return [
    column.type,
    // Computed columns take NOT NULL after their expression, and no NULL.
    ...(column.generated ? column.rest : [nullability]),
    ...(column.default === null ? [] : [`DEFAULT ${column.default}`]),
    ...(column.generated ? (column.nullable ? [] : [nullability]) : column.rest),
    ...(column.comment === null ? [] : [`COMMENT ${column.comment}`]),
    ...(column.check === null ? [] : [`CHECK ${column.check}`]),
  ].join(' ');
}
