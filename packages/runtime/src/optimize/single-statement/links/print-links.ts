/**
 * Parts of a statement that replaces links: the items, and for each relation the links to remove, those to make and
 * those that result.
 *
 * No other request may change the links of an item meanwhile, and a statement does not see what was committed after it
 * began. So another statement locks the items before it, and this one finds only those that its transaction locked.
 */

import type { Caller } from '../../../caller.ts';
import type { Statement, Transaction } from '../../../database/database.ts';
import type { Binder } from '../../../database/parameter-forms.ts';
import { allOf, anyOf } from '../../../dialects/fragment.ts';
import type { FieldDescriptor, ManyToMany } from '../../../language/index.ts';
import type { Answer, AnswerWriter } from '../../../query/answer.ts';
import { fieldOfColumn } from '../../../sql/cell.ts';
import type { StatementBuilder } from '../../../sql/row.ts';
import type { Written } from '../../../write/checks/check.ts';
import { checksOf } from '../../../write/checks/checks.ts';
import { ruleMatches } from '../../../write/checks/presets.ts';
import type { Batch } from '../../../write/decode/batch.ts';
import { assignEach, assignments } from '../../../write/plan/assigned.ts';
import { createInputs, type InputColumn, type Inputs } from '../../../write/plan/inputs.ts';
import { assignMany, columnList } from '../../../write/plan/plan-create.ts';
import { lockOfUpdate } from '../../../write/plan/plan-update.ts';
import {
  changeOf,
  type Drafting,
  finishWrite,
  inputTable,
  keyColumns,
  keyInputs,
  keysEqual,
  present,
  rowColumns,
  ruleRow,
  singleAnswers,
  startWrite,
  type WriteStatement,
} from '../../../write/plan/statement.ts';
import { sortField } from '../../../write/tree/parse/group.ts';
import { itemPlace } from '../tree/plan-inserts.ts';

/** Alias of the items that the statement changes or finds. */
export const heldItem = 'w0';

/** Alias of the listed links of a relation, by its position from 1. */
export const linksOf = (index: number): string => `l${index}`;

/** Column with the result of a check: no column of a table is likely to be called that. */
const checkOf = (index: number): string => `"# of check ${index}"`;

/**
 * Setting that holds the positions of the locked items until the transaction ends. The rows themselves do not show it:
 * a row that another transaction has changed, and to which this one has linked something, looks the same.
 */
const heldPlaces = 'platform.held';

/** Plans the statement that locks items until the transaction ends, and skips locked ones instead of waiting. */
export function planHold(written: Written, assigned: readonly FieldDescriptor[]): WriteStatement {
  const drafting = startWrite(written);
  const alias = drafting.statement.alias();
  const { descriptor } = written.writable.collection;
  const keys = keyInputs(drafting);
  const names = assigned.map(({ name }) => name);
  const lock = drafting.statement.dialect.input.lock(lockOfUpdate(descriptor, names), alias);
  const from = `${inputTable(drafting, keys, 'i')} JOIN ${descriptor.table} AS ${alias} ON ${isNamed(written, alias, keys)}`;
  const places = `COALESCE(pg_catalog.array_agg(h.n), '{}')::pg_catalog.text`;
  const text = `SELECT pg_catalog.set_config('${heldPlaces}', ${places}, TRUE) FROM (SELECT i.n FROM ${from}${lock} SKIP LOCKED) h`;
  return finishWrite(drafting, text, {});
}

/** The condition that a row has the key of a row of input. */
function isNamed(written: Written, alias: string, keys: readonly InputColumn[]): string {
  return keysEqual(
    keyColumns(written, (quoted) => `${alias}.${quoted}`),
    keys.map(({ name }) => `i.${name}`),
  );
}

/** Items that are held, changed or found, with their positions and with the columns that others look at. */
export function printItem(statement: StatementBuilder, written: Written, columns: readonly string[]) {
  const inputs = createInputs(statement);
  const drafting: Drafting = { statement, inputs, written };
  const alias = statement.alias();
  const column = rowColumns(written, alias);
  const { assigned, arrays } = assignEach(drafting, { column, match: null });
  const row = ruleRow(drafting, column);
  const keys = keyInputs(drafting);
  const source = inputTable(drafting, [...keys, ...arrays], 'i');
  const isHeld = `i.n = ANY ((SELECT pg_catalog.current_setting('${heldPlaces}'))::pg_catalog.int8[])`;
  const rules = anyOf(written.grant.rules.map((rule) => ruleMatches(row, rule)));
  const rows = allOf([isNamed(written, alias, keys), isHeld, rules]);
  const { table } = written.writable.collection.descriptor;
  const changes = assigned.length > 0;
  if (changes) statement.change(table, changeOf(written));
  const checks = changes ? singleAnswers(checksOf(written), { row, matched: present, present }) : [];
  const judged = checks.map((check, index) => `${check} AS ${checkOf(index)}`);
  const list = [`i.n AS ${itemPlace}`, ...columns.map(column), ...judged].join(', ');
  const change = `UPDATE ${table} AS ${alias} SET ${assignments(assigned)} FROM ${source} WHERE ${rows} RETURNING ${list}`;
  const look = `SELECT ${list} FROM ${source} CROSS JOIN ${table} AS ${alias} WHERE ${rows}`;
  return {
    text: `${heldItem} AS (${changes ? change : look})`,
    sources: inputs.sources,
    checks: checks.map((_, index) => checkOf(index)),
    assigned: assigned.map(({ field }) => field),
  };
}

/** The keys of the targets, the links that go, those that are made, and those that there are then. */
export function printLinks(
  statement: StatementBuilder,
  inputs: Inputs,
  { relation, written }: ListedLinks,
  index: number,
): string {
  const { collection } = written.writable;
  const { fields } = collection.descriptor;
  const table = statement.change(relation.junctionTable, 'delete');
  const keys = `i${index}`;
  const drafting = { statement, inputs, written };
  const item: InputColumn = { name: 'o', source: { kind: 'place', of: 0 }, native: 'pg_catalog.int4' };
  const targets = relation.far.map(({ from }, part): InputColumn => {
    const native = fieldOfColumn(fields, from)?.native ?? 'pg_catalog.text';
    return { name: `b${part}`, source: { kind: 'values', column: part }, native };
  });
  const near = relation.near.map(({ from, to }) => ({ column: to, value: `p.${from}` }));
  const far = relation.far.map(({ from }, part) => ({ column: from, value: `i.b${part}` }));
  const isItsKey = `i.o = p.${itemPlace}`;
  const ofItem = near.map(({ column, value }) => `j.${column} = ${value}`).join(' AND ');
  const ofTarget = far.map(({ column, value }) => `j.${column} = ${value}`).join(' AND ');
  const order = sortField(collection, relation.sort);
  const last = `(SELECT COALESCE(pg_catalog.max(j.${order?.column}), 0) FROM ${table} AS j WHERE ${ofItem})`;
  const next = `${last} + pg_catalog.row_number() OVER (PARTITION BY i.o ORDER BY i.n)`;
  const byColumn = new Map(
    [...near, ...far, { column: order?.column, value: next }].map((pair) => [pair.column, pair.value]),
  );
  const assigned = assignMany(drafting).assigned.map(({ field, value }) => {
    return { field, value: byColumn.get(field.column) ?? value };
  });
  const values = assigned.map(({ value }) => value).join(', ');
  const listed = `${heldItem} p JOIN ${keys} i ON ${isItsKey}`;
  const missing = `NOT EXISTS (SELECT 1 FROM ${table} AS j WHERE ${ofItem} AND ${ofTarget})`;
  const made = `INSERT INTO ${table} (${columnList(assigned)}) SELECT ${values} FROM ${listed} WHERE ${missing} ORDER BY i.n`;
  const gone = `DELETE FROM ${table} AS j USING ${heldItem} p WHERE ${ofItem} AND NOT EXISTS (SELECT 1 FROM ${keys} i WHERE ${isItsKey} AND ${ofTarget})`;
  const pairs = [...near, ...far].map(({ column, value }) => `${value} AS ${column}`).join(', ');
  const columns = [...near, ...far, ...(order === undefined ? [] : [order])].map(({ column }) => column);
  const kept = `SELECT ${columns.map((column) => `j.${column}`).join(', ')} FROM ${listed} JOIN ${table} AS j ON ${ofItem} AND ${ofTarget}`;
  // Where nothing else is read of a link, it need not be read at all.
  const links =
    order === undefined
      ? `SELECT ${pairs} FROM ${listed}`
      : `${kept} UNION ALL SELECT ${columns.join(', ')} FROM m${index}`;
  return [
    `${keys} AS (SELECT * FROM ${inputTable(drafting, [...targets, item], 'i')})`,
    `d${index} AS (${gone})`,
    `m${index} AS (${made}${order === undefined ? '' : ` RETURNING ${columns.join(', ')}`})`,
    `${linksOf(index)} AS (${links})`,
  ].join(', ');
}

/**
 * A planned change of any number of items. Every row of its answer is an existing item to be changed. It has the
 * transaction's number, the item's position from 1 as a big integer, and for each check null where the item meets it. A
 * flag says if the caller may read the item, and the readable values follow.
 */
export interface LinksPlan {
  /** Statement that runs first and locks the items; without it this one finds no item. */
  readonly hold: Pick<WriteStatement, 'statement' | 'binders' | 'sources'>;
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  /** Sources of the items' parameters, then of each relation's. */
  readonly sources: readonly Inputs['sources'][];
  readonly checks: number;
  readonly answer: AnswerWriter;
  /** True if the texts of two keys tell whether they are equal, so that several items can be changed at once. */
  readonly isBatch: boolean;
  readonly change: ChangeLinks;
}

export interface ListedLinks {
  readonly relation: ManyToMany;
  /** New rows of its junction: columns of the item, of the targets, and of the order where it keeps one. */
  readonly written: Written;
}

export interface LinksChange {
  readonly caller: Caller;
  /** The item's key: a text for each part. */
  readonly key: readonly string[];
  /** Values of the item, then for each relation the keys that it lists. */
  readonly batches: readonly Batch[];
}

/** Changes an item and answers it, if the caller may read it. Throws FORBIDDEN where it must not be changed so. */
export type ChangeLinks = (transaction: Transaction, change: LinksChange) => Promise<Answer>;
