import type { KeyList } from '../../database/connection-seams.ts';
import type { KeyKind } from '../../database/database.ts';
import { createNote } from '../../database/notes.ts';
import { where } from '../../dialects/fragment.ts';
import type { FieldDescriptor } from '../../language/index.ts';
import type { ReadQuery } from '../../query/authorise/read-query.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import { type BatchKey, batchKey } from '../../query/plan/plan-keys.ts';
import { type ReadPass, runFor, startRead, statementOf } from '../../query/plan/plan-read.ts';
import { answerList, printSelection } from '../../query/plan/plan-selection.ts';
import { operandType } from '../../sql/operand.ts';
import type { Row } from '../../sql/row.ts';
import { createStatement } from '../../sql/statement.ts';

/**
 * A read by key, for several keys. Each row begins with its key, in no order; the rest of it is that of the read by one
 * key. In this statement the parameter is the list of keys, in the other the key; all others are the same in both.
 */
export interface KeyBatch extends KeyList {
  readonly kind: KeyKind;
}

/** The statement for several keys, of one that reads one row by one key. */
export const keyBatchOf = createNote<KeyBatch>('key batch');

/** Adds the statement for several keys to reads by key that look nothing up. */
export const planKeyBatch: ReadPass = (plan, { query }) => {
  const key = query.selector === 'key' && plan.statement.brief ? batchKey(query.selection.collection) : undefined;
  const batch = key && planBatch(query, key);
  const position = plan.binders.findIndex((binder) => binder.kind === 'value' && binder.index === query.values);
  // All other parameters of the text have to be the same.
  if (key === undefined || batch?.binders.length !== plan.binders.length || position < 0) return plan;
  const statement = runFor(query, query.selection.collection, { ...batch.statement, brief: true });
  return { ...plan, statement: keyBatchOf.on(plan.statement, { at: position, kind: key.kind, statement }) };
};

/** Plans the read of several keys: for each row its key, then the columns that the read by one key selects. */
function planBatch(query: ReadQuery, { field }: BatchKey): Pick<ReadPlan, 'statement' | 'binders'> {
  const statement = createStatement(query.operands, query.scope.dialect);
  const { row, from, matching } = startRead(query, statement, (row) => [printBatchKey(row, field, query.values)]);
  const { expressions, fields } = printSelection(row, query.selection, query.nested);
  const columns = answerList(statement, [row.column(field.column)], expressions, fields);
  return statementOf(statement.finish(`SELECT ${columns} FROM ${from}${where(matching)}`));
}

/** The predicate that picks items by one of several keys, whose values stand at `index`. */
function printBatchKey(row: Row, field: FieldDescriptor, index: number): string {
  const { statement } = row;
  const read = (native: string): string => statement.parameter({ kind: 'value', index }, native);
  return statement.dialect.byKeyList(row.column(field.column), operandType(field).native, read);
}

/** Where the digits of a UUID are parted by a dash. */
const uuidPattern = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
const uuidBytes = 16;

/** The key in some bytes of a row as the text that a parameter has for it. */
export function readKey(buffer: Buffer, start: number, end: number, kind: KeyKind): string {
  return kind === 'integer' ? String(integerAt(buffer, start, end)) : uuidAt(buffer, start, end);
}

function integerAt(buffer: Buffer, start: number, end: number): number | bigint {
  if (end - start === 4) return buffer.readInt32BE(start);
  if (end - start === 2) return buffer.readInt16BE(start);
  const value = buffer.readInt32BE(start) * 2 ** 32 + buffer.readUInt32BE(start + 4);
  return Number.isSafeInteger(value) ? value : buffer.readBigInt64BE(start);
}

/** In bytes, or where the server keeps it as a text, as that. */
function uuidAt(buffer: Buffer, start: number, end: number): string {
  if (end - start !== uuidBytes) return buffer.toString('latin1', start, end);
  return buffer.toString('hex', start, end).replace(uuidPattern, '$1-$2-$3-$4-$5');
}
