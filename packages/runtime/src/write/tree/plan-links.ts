/**
 * One stored item whose many-to-many relations a payload lists, as one statement: it changes or finds the item, removes the links
 * that are not listed, makes those that are missing, and reads the answer from the item and the listed links.
 */
import type { FieldDescriptor, ManyToMany } from '../../contract/index.ts';
import type { Statement } from '../../database/database.ts';
import { type AnswerWriter, createAnswerWriter } from '../../json/answer.ts';
import type { Binder, ReadPlan } from '../../query/plan.ts';
import type { PlanCache } from '../../query/plan-cache.ts';
import { printOwn } from '../../query/plan-returned.ts';
import { answerList } from '../../query/plan-selection.ts';
import { fieldOfColumn } from '../../sql/cell.ts';
import { createStatement, type StatementBuilder } from '../../sql/statement.ts';
import { assignments } from '../assigned.ts';
import { checksOf, type Written } from '../checks.ts';
import { createInputs, type InputColumn, type Inputs } from '../inputs.ts';
import { isEveryRow } from '../late.ts';
import { lockOfUpdate } from '../locked-rows.ts';
import { assignMany, columnList } from '../plan-create.ts';
import { findOne } from '../plan-update.ts';
import { inputTable, keysOf, nameStatement, present, singleAnswers, transactionNumber } from '../statement.ts';
import type { Group } from './group.ts';
import { sortField } from './names.ts';
import { readOfTree } from './read-tree.ts';

/**
 * A planned change. Its answer is the item, if there is one to change: the transaction's number, for each check null where the item
 * meets it, whether the caller may read the item, and what he reads of it.
 */
export interface LinksPlan {
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  /** What the item takes, then each relation. */
  readonly sources: readonly Inputs['sources'][];
  readonly checks: number;
  readonly answer: AnswerWriter;
}

/** Changes of links by their shape; null for one that takes several statements. */
export type LinksPlanCache = PlanCache<LinksPlan | null>;

/** A relation whose links are listed. */
export interface ListedLinks {
  readonly relation: ManyToMany;
  /** How its junction gets new rows: columns of the item, of the targets, and of the order where it keeps one. */
  readonly written: Written;
}

/** Plans the change of one item. Null where it takes several statements. */
export function planLinks(
  root: Group,
  written: Written,
  links: readonly ListedLinks[],
  read: ReadPlan,
): LinksPlan | null {
  const { scope, writable } = written;
  const { descriptor } = writable.collection;
  const names = [descriptor.name, ...links.map(({ relation }) => relation.junction)];
  // What is written in two places would have to be read from both.
  if (read.whole === undefined || new Set(names).size < names.length || !isSimple(written)) return null;
  if (!links.every((link) => isPlain(written, link) && !names.includes(link.relation.target))) return null;
  const rows = new Map(names.map((name, place) => [name, place === 0 ? itemRow : listed(place)]));
  const whole = readOfTree(scope, read.whole, root, rows);
  if (whole === undefined) return null;
  const statement = createStatement(new Map(), scope.open.dialect);
  const alias = statement.alias();
  const printed = printOwn(statement, whole, (quoted) => `${alias}.${quoted}`);
  const answer = [printed.visible, ...printed.expressions].join();
  const held = links.flatMap(({ relation }) => relation.near.map(({ from }) => from));
  const columns = descriptor.fields.flatMap(({ column }) =>
    held.includes(column) || answer.includes(column) ? [column] : [],
  );
  const item = printItem(statement, written, columns);
  if (item.assigned.some(({ column }) => held.includes(column))) return null;
  const sources = [item.sources];
  const parts = links.map((link, index) => {
    const inputs = createInputs(statement, sources.flat().length);
    sources.push(inputs.sources);
    return printLinks(statement, inputs, link, index + 1);
  });
  const checks = item.checks.map((name) => `${alias}.${name}`);
  const selected = answerList(
    statement,
    [transactionNumber, ...checks, `(${printed.visible}) IS TRUE`],
    printed.expressions,
    printed.fields,
  );
  const text = `WITH ${[item.text, ...parts].join(', ')} SELECT ${selected} FROM ${itemRow} ${alias}`;
  const { text: named, binders, forms } = statement.finish(text);
  return {
    statement: { ...nameStatement(named, forms), brief: true },
    binders,
    sources,
    checks: checks.length,
    answer: createAnswerWriter(read),
  };
}

/** What the item is called that the statement changes or finds. */
const itemRow = 'w0';
/** What the answer of a check is called: no column of a table is likely to be called that. */
const checkOf = (place: number): string => `"# of check ${place}"`;
/** What the listed links of a relation are called, by its place from 1. */
const listed = (place: number): string => `l${place}`;

/** Whether the item can be judged when it is changed, by the statement alone. */
function isSimple(written: Written): boolean {
  const { grant, writable } = written;
  const { amended, system, unlockable } = writable.collection.descriptor;
  if (amended === true || system === true || unlockable === true) return false;
  return grant.rules.length === 1 && checksOf(written).every(({ late }) => !late);
}

/**
 * Whether nothing is left to judge about the links of a relation: every target can be read, foreign keys know which there are, no two links
 * are the same, and who may make them may remove them all.
 */
function isPlain(item: Written, { relation, written }: ListedLinks): boolean {
  const { scope, writable } = written;
  const { descriptor } = writable.collection;
  const readAll = (name: string) => scope.read.collections.get(name)?.rows.some(isEveryRow);
  const near = relation.near.map(({ to }) => fieldOfColumn(descriptor.fields, to));
  const far = relation.far.map(({ from }) => fieldOfColumn(descriptor.fields, from));
  const names = new Set([...near, ...far].map((field) => field?.name));
  const { constraints = [], key } = descriptor;
  const uniques = [
    key,
    ...constraints.flatMap(({ type, fields, incomplete }) => {
      return type === 'unique' && incomplete !== true ? [fields] : [];
    }),
  ];
  const owner = item.writable.collection.descriptor.fields;
  return (
    descriptor.amended !== true &&
    descriptor.system !== true &&
    readAll(relation.target) === true &&
    readAll(relation.junction) !== false &&
    readsOrder(written, relation) &&
    checksOf(written).length === 0 &&
    writable.delete?.some(({ where }) => isEveryRow(where)) === true &&
    relation.near.every(({ from }) => fieldOfColumn(owner, from)?.nullable === false) &&
    far.every((field) => field?.comparison === undefined && field?.stored === undefined) &&
    constraints.some(({ type, target, fields, incomplete }) => {
      return type === 'foreign_key' && target === relation.target && incomplete !== true && isSame(fields, far);
    }) &&
    uniques.some((fields) => fields.length > 0 && fields.every((name) => names.has(name)))
  );
}

/** Who orders by a field of the junction must be able to read it of every row. */
function readsOrder({ scope, writable }: Written, { junction, sort }: ManyToMany): boolean {
  const readable = scope.read.collections.get(junction);
  const order = sortField(writable.collection, sort);
  if (sort === undefined) return true;
  return order !== undefined && (readable === undefined || readable.fields.get(order.name)?.grant === null);
}

function isSame(names: readonly string[], fields: readonly (FieldDescriptor | undefined)[]): boolean {
  return names.length === fields.length && fields.every((field) => field !== undefined && names.includes(field.name));
}

/**
 * The item, changed or found, with the columns that others look at. One that somebody else holds is not found: the links were read before he
 * is done, so whoever waits has to look again.
 */
function printItem(statement: StatementBuilder, written: Written, columns: readonly string[]) {
  const inputs = createInputs(statement);
  const alias = statement.alias();
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const { assigned, row, rows } = findOne({ statement, inputs, written }, column);
  const { descriptor } = written.writable.collection;
  const fields = assigned.map(({ field }) => field);
  const changes = fields.length > 0;
  const checks = changes ? singleAnswers(checksOf(written), { row, matched: present, present }) : [];
  const list = [...columns.map(column), ...checks.map((check, place) => `${check} AS ${checkOf(place)}`)];
  const names = fields.map(({ name }) => name);
  const lock = `${statement.dialect.input.lock(lockOfUpdate(descriptor, names), alias)} SKIP LOCKED`;
  const found = (selected: readonly string[]): string => {
    return `SELECT ${selected.join(', ') || '1'} FROM ${descriptor.table} AS ${alias} WHERE ${rows}${lock}`;
  };
  const keys = keysOf(written).map((field) => field.column);
  const same = keys.map((key) => `${alias}.${key} = k.${key}`).join(' AND ');
  const change = `UPDATE ${descriptor.table} AS ${alias} SET ${assignments(assigned)} FROM k0 k WHERE ${same} RETURNING ${list.join(', ') || '1'}`;
  return {
    text: changes ? `k0 AS (${found(keys.map(column))}), ${itemRow} AS (${change})` : `${itemRow} AS (${found(list)})`,
    sources: inputs.sources,
    checks: checks.map((_, place) => checkOf(place)),
    assigned: fields,
  };
}

/** The keys of the targets, the links that go, those that are made, and those that there are then. */
function printLinks(
  statement: StatementBuilder,
  inputs: Inputs,
  { relation, written }: ListedLinks,
  place: number,
): string {
  const { collection } = written.writable;
  const { fields } = collection.descriptor;
  const table = relation.junctionTable;
  const keys = `i${place}`;
  const drafting = { statement, inputs, written };
  const targets = relation.far.map(({ from }, part): InputColumn => {
    const native = fieldOfColumn(fields, from)?.native ?? 'pg_catalog.text';
    return { name: `b${part}`, source: { kind: 'values', column: part }, native };
  });
  const own = relation.near.map(({ from, to }) => ({ column: to, value: `p.${from}` }));
  const far = relation.far.map(({ from }, part) => ({ column: from, value: `i.b${part}` }));
  const ofItem = own.map(({ column, value }) => `j.${column} = ${value}`).join(' AND ');
  const ofTarget = far.map(({ column, value }) => `j.${column} = ${value}`).join(' AND ');
  const order = sortField(collection, relation.sort);
  const last = `(SELECT COALESCE(pg_catalog.max(j.${order?.column}), 0) FROM ${table} AS j WHERE ${ofItem})`;
  const next = { column: order?.column, value: `${last} + pg_catalog.row_number() OVER (ORDER BY i.n)` };
  const given = new Map([...own, ...far, next].map(({ column, value }) => [column, value]));
  const assigned = assignMany(drafting).assigned.map(({ field, value }) => {
    return { field, value: given.get(field.column) ?? value };
  });
  const values = assigned.map(({ value }) => value).join(', ');
  const missing = `NOT EXISTS (SELECT 1 FROM ${table} AS j WHERE ${ofItem} AND ${ofTarget})`;
  const made = `INSERT INTO ${table} (${columnList(assigned)}) SELECT ${values} FROM ${itemRow} p CROSS JOIN ${keys} i WHERE ${missing} ORDER BY i.n`;
  const gone = `DELETE FROM ${table} AS j USING ${itemRow} p WHERE ${ofItem} AND NOT EXISTS (SELECT 1 FROM ${keys} i WHERE ${ofTarget})`;
  const pairs = [...own, ...far].map(({ column, value }) => `${value} AS ${column}`).join(', ');
  const columns = [...own, ...far, ...(order === undefined ? [] : [order])].map(({ column }) => column);
  const kept = `SELECT ${columns.map((column) => `j.${column}`).join(', ')} FROM ${itemRow} p CROSS JOIN ${keys} i JOIN ${table} AS j ON ${ofItem} AND ${ofTarget}`;
  // Where nothing else is read of a link, it need not be read at all.
  const links =
    order === undefined
      ? `SELECT ${pairs} FROM ${itemRow} p CROSS JOIN ${keys} i`
      : `${kept} UNION ALL SELECT ${columns.join(', ')} FROM m${place}`;
  return [
    `${keys} AS (SELECT * FROM ${inputTable(drafting, targets, 'i')})`,
    `d${place} AS (${gone})`,
    `m${place} AS (${made}${order === undefined ? '' : ` RETURNING ${columns.join(', ')}`})`,
    `${listed(place)} AS (${links})`,
  ].join(', ');
}
