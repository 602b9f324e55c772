/** Running planned writes in a transaction, and what their answers mean. */
import type { Caller } from '../../caller.ts';
import type { Transaction } from '../../database/database.ts';
import { ServerError, toDatabaseError } from '../../database/errors.ts';
import { statementRows, type TextRow } from '../../database/own-statements.ts';
import { runAs } from '../../database/row-context.ts';
import { PlatformError, together } from '../../errors.ts';
import { int32 } from '../../json/bytes.ts';
import { failedValidation, maxErrors, type Place } from '../../json/problems.ts';
import { arrayLiteral, type ConstraintDescriptor } from '../../language/index.ts';
import type { Answer, AnswerWriter } from '../../query/answer.ts';
import { bind } from '../../query/planner.ts';
import type { PermissionCheck } from '../checks/check.ts';
import type { Batch } from '../decode/batch.ts';
import { valuesOf, type WriteValues } from '../plan/inputs.ts';
import { draw } from '../plan/plan-create.ts';
import type { KeyPart, MadeKeys, WriteStatement } from '../plan/statement.ts';

/** Runs a write. A missing row counts as none written; a write of one item answers a row for each that it has found. */
export async function runWrite(
  transaction: Transaction,
  plan: WriteStatement,
  values: WriteValues,
  caller: Caller,
): Promise<WriteAnswer> {
  if (plan.made !== undefined) return runInsert(transaction, plan, plan.made, values, caller);
  const rows = await rowsOf(transaction, plan, values, caller);
  const [[number = null, , ...rest] = []] = rows;
  if (number !== null) transaction.identify(number);
  const count = rows.reduce((sum, [, written]) => sum + Number(written ?? 0), 0);
  return readAnswer(plan, count, number !== null, rest);
}

export interface ReturnedAnswer extends Omit<WriteAnswer, 'matched'> {
  /** The items that the caller may read. */
  readonly rows: Answer;
}

/** Runs a write that returns its items: rows of the transaction's number, permission checks, keys, and what is read of an item. */
export async function runReturned(
  transaction: Transaction,
  { statement, sources, binders, judgements, keys: parts }: WriteStatement,
  values: WriteValues,
  caller: Caller,
  result: AnswerWriter,
  many: boolean,
): Promise<ReturnedAnswer> {
  const rows = result();
  const failed = judgements.map((): number[] => []);
  const keys = Array.from({ length: parts }, (): string[] => []);
  let count = 0;
  let wrote = false;
  await transaction.run(runAs(statement, caller), bind(binders, valuesOf(sources, values), caller), {
    row(buffer, offset, length) {
      let position = skip(buffer, offset);
      if (count === 0 && position > offset + 4) {
        wrote = true;
        transaction.identify(buffer.toString('latin1', offset + 4, position));
      }
      for (const items of failed) {
        if (int32(buffer, position) >= 0) items.push(count);
        position = skip(buffer, position);
      }
      for (const texts of keys) {
        const end = skip(buffer, position);
        texts.push(buffer.toString('utf8', position + 4, end));
        position = end;
      }
      count++;
      // The flag that the caller may read the row is a boolean, and never null.
      if (buffer[position + 4] === 1) rows.row(buffer, position + 5, length - (position + 5 - offset));
    },
    // Not only when COMMIT is answered: until then it would keep its memory from other answers.
    end() {
      if (rows.items > 0) rows.end();
    },
  });
  const verdicts = judgements.flatMap((permissionCheck, index) => {
    const items = failed[index] ?? [];
    return items.length === 0 ? [] : [{ permissionCheck, items }];
  });
  return { count, wrote, keys: keys.map((texts) => (many ? arrayLiteral(texts) : (texts[0] ?? ''))), verdicts, rows };
}

/** Offset of the column after one. */
export function skip(buffer: Buffer, offset: number): number {
  return offset + 4 + Math.max(int32(buffer, offset), 0);
}

function readAnswer(
  { keys, matched, judgements }: WriteStatement,
  count: number,
  wrote: boolean,
  row: TextRow,
): WriteAnswer {
  const answers = row.slice(keys + matched.length);
  return {
    count,
    wrote,
    keys: row.slice(0, keys).map((key) => key ?? ''),
    matched: new Map(matched.map((rule, index) => [rule, row[keys + index] ?? '{}'])),
    verdicts: judgements.flatMap((permissionCheck, index) => {
      const items = placesOf(answers[index] ?? null);
      return items.length === 0 ? [] : [{ permissionCheck, items }];
    }),
  };
}

/** `{1,5}` → 0, 4. */
function placesOf(text: string | null): readonly number[] {
  return text === null || text === '{}'
    ? []
    : text
        .slice(1, -1)
        .split(',')
        .map((position) => Number(position) - 1);
}

/** Context of the payload when verdicts become errors. */
export interface JudgedPayload {
  readonly collection: string;
  readonly placeOf: (item: number) => Place;
  /** Names that the payload has; no other field is named in an error. */
  readonly names: ReadonlySet<string>;
  readonly batch: Batch;
}

/** Throws FORBIDDEN, or FAILED_VALIDATION with every violation, when some item fails; else what a foreign key refuses. */
export function check(verdicts: readonly Verdict[], payload: JudgedPayload): void {
  if (verdicts.length === 0) return;
  const violated = new Set(verdicts.flatMap(({ permissionCheck, items }) => violatedItems(permissionCheck, items)));
  const refused = verdicts.some(
    ({ permissionCheck, items }) =>
      permissionCheck.kind === 'refused' &&
      items.some((item) => !violated.has(`${permissionCheck.requirement} ${item}`)),
  );
  if (refused) throw new PlatformError('FORBIDDEN');
  const error = together(violations(verdicts, payload));
  if (error !== undefined) throw error;
  for (const { permissionCheck, items } of verdicts) {
    if (permissionCheck.kind === 'missing') throw missingRow(permissionCheck.constraint, payload.batch, items[0] ?? 0);
  }
}

/** The error of a foreign key, as the database reports it. */
function missingRow(
  { name, fields }: Pick<ConstraintDescriptor, 'name' | 'fields'>,
  { columns, count }: Batch,
  item: number,
): PlatformError {
  const values = fields.map((field) => {
    // The same data for all items stands in the batch once.
    return columns.find((column) => column.field.descriptor.name === field)?.values[count === 1 ? 0 : item] ?? '';
  });
  const about = { C: '23503', n: name, D: `()=(${values.join(', ')})` };
  return toDatabaseError(new ServerError(new Map(Object.entries(about))));
}

function violatedItems(permissionCheck: PermissionCheck, items: readonly number[]): readonly string[] {
  return permissionCheck.kind === 'violated' ? items.map((item) => `${permissionCheck.requirement} ${item}`) : [];
}

/** Reports the conditions of the first rule, where several would have granted the write. */
function violations(verdicts: readonly Verdict[], payload: JudgedPayload): readonly PlatformError[] {
  const rules = new Map<string, number>();
  const errors = new Map<string, PlatformError>();
  for (const { permissionCheck, items } of verdicts) {
    if (permissionCheck.kind !== 'violated') continue;
    const field =
      permissionCheck.field !== null && payload.names.has(permissionCheck.field) ? permissionCheck.field : null;
    for (const item of items) {
      const rule = rules.get(`${permissionCheck.requirement} ${item}`) ?? permissionCheck.rule;
      rules.set(`${permissionCheck.requirement} ${item}`, rule);
      const location = payload.placeOf(item);
      const id = JSON.stringify([location, field, permissionCheck.type, permissionCheck.requirement]);
      if (rule !== permissionCheck.rule || errors.size >= maxErrors) continue;
      errors.set(id, failedValidation(location, field, permissionCheck.type, 'does not meet a condition'));
    }
  }
  return [...errors.values()];
}

/** Runs it: one statement, unless the server only tells a single key that it generated. */
async function runInsert(
  transaction: Transaction,
  plan: WriteStatement,
  made: MadeKeys,
  values: WriteValues,
  caller: Caller,
): Promise<WriteAnswer> {
  const presets = await askAhead(transaction, plan, values, caller);
  if (made.kind === 'computed' && made.parts.some((part) => isGenerated(part, values.batch)))
    return runEach(transaction, plan, made.parts, { ...values, presets }, caller);
  const drawn = draw(plan.sources, values.batch.count, presets);
  const rows = await rowsOf(transaction, plan, { ...values, drawn }, caller);
  if (made.kind === 'returned') {
    const parts = Array.from({ length: plan.keys }, (_, part) => rows.map((row) => row[part] ?? null));
    return answerOf(rows.length, parts);
  }
  const keys = made.parts.map((part) =>
    Array.from({ length: values.batch.count }, (_, item) => knownPart(part, item, values.batch, drawn)),
  );
  return answerOf(Number(rows[0]?.[1] ?? 0), keys);
}

type Drawn = readonly (readonly (string | null)[])[];

/** Reads the values that rules set, by their positions among the generated values. */
async function askAhead(
  transaction: Transaction,
  { ahead }: WriteStatement,
  values: WriteValues,
  caller: Caller,
): Promise<ReadonlyMap<number, string | null>> {
  if (ahead === undefined) return new Map();
  const [row] = await rowsOf(transaction, ahead.plan, values, caller);
  return new Map(ahead.fields.map((field, index) => [field, row?.[index] ?? null]));
}

/** True if some item leaves a part of its key to the server. */
function isGenerated({ column, drawn, constant }: KeyPart, { columns }: Batch): boolean {
  if (drawn !== undefined || constant !== undefined) return false;
  return column === undefined || columns[column]?.values.includes(null) !== false;
}

function knownPart({ column = -1, drawn = -1, constant }: KeyPart, item: number, { columns }: Batch, all: Drawn) {
  return columns[column]?.values[item] ?? all[drawn]?.[item] ?? constant ?? null;
}

async function runEach(
  transaction: Transaction,
  plan: WriteStatement,
  parts: readonly KeyPart[],
  { presets, ...values }: WriteValues & { readonly presets: ReadonlyMap<number, string | null> },
  caller: Caller,
): Promise<WriteAnswer> {
  const keys = parts.map((): string[] => []);
  for (let item = 0; item < values.batch.count; item++) {
    const batch = itemOf(values.batch, item);
    const drawn = draw(plan.sources, 1, presets);
    const [row] = await rowsOf(transaction, plan, { ...values, batch, drawn }, caller);
    for (const [index, part] of parts.entries()) {
      const key = knownPart(part, 0, batch, drawn) ?? row?.[2] ?? '0';
      if (key === '0' && isGenerated(part, batch))
        throw new PlatformError('UNPROCESSABLE_ENTITY', 'The item needs its key.');
      keys[index]?.push(key);
    }
  }
  return answerOf(values.batch.count, keys);
}

function itemOf({ columns }: Batch, item: number): Batch {
  return {
    count: 1,
    columns: columns.map((column) => ({
      ...column,
      values: column.values.slice(item, item + 1),
      present: column.present?.slice(item, item + 1) ?? null,
    })),
  };
}

function answerOf(count: number, keys: readonly (readonly (string | null)[])[]): WriteAnswer {
  return { count, wrote: true, keys: keys.map(arrayLiteral), matched: new Map(), verdicts: [] };
}

export interface WriteAnswer {
  /** Rows that were written; -1 where several have one key. */
  readonly count: number;
  /** False when the statement only looked, because there was nothing to change. */
  readonly wrote: boolean;
  /** The key of what was made: one text per key field, arrays when several items were made. */
  readonly keys: readonly string[];
  /** By the positions of rules: which stored rows they matched. */
  readonly matched: ReadonlyMap<number, string>;
  readonly verdicts: readonly Verdict[];
}

function rowsOf(
  transaction: Transaction,
  { statement, binders, sources }: WriteStatement,
  values: WriteValues,
  caller: Caller,
): Promise<readonly TextRow[]> {
  return statementRows(transaction, runAs(statement, caller), bind(binders, valuesOf(sources, values), caller));
}

/** A permission check, and the items that fail it by their positions, from 0. */
export interface Verdict {
  readonly permissionCheck: PermissionCheck;
  readonly items: readonly number[];
}
