/**
 * Stored items whose many-to-many relations payloads list, as one statement. It changes or finds the items, removes the
 * links that are not listed, and creates the missing ones. Then it reads the answer from items and listed links.
 */

import type { Transaction } from '../../../database/database.ts';
import { nameStatement } from '../../../database/own-statements.ts';
import { runAs } from '../../../database/row-context.ts';
import { transactionNumber } from '../../../dialects/fragment.ts';
import { PlatformError } from '../../../errors.ts';
import { int32 } from '../../../json/bytes.ts';
import { arrayLiteral, type FieldDescriptor, type ManyToMany } from '../../../language/index.ts';
import type { BoundedCache } from '../../../language/values/bounded-cache.ts';
import { type Answer, createAnswerWriter } from '../../../query/answer.ts';
import type { ReadPlan } from '../../../query/plan/plan.ts';
import { batchKey } from '../../../query/plan/plan-keys.ts';
import { printOwn } from '../../../query/plan/plan-returned.ts';
import { answerList } from '../../../query/plan/plan-selection.ts';
import { bind } from '../../../query/planner.ts';
import { fieldOfColumn } from '../../../sql/cell.ts';
import { hasLateValues } from '../../../sql/row.ts';
import { createStatement } from '../../../sql/statement.ts';
import { isEveryRow, readsEveryRow, type Written } from '../../../write/checks/check.ts';
import { checksOf } from '../../../write/checks/checks.ts';
import type { Keys } from '../../../write/decode/keys.ts';
import { skip } from '../../../write/execute/run.ts';
import { createInputs, valuesOf, type WriteValues } from '../../../write/plan/inputs.ts';
import { type Group, sortField } from '../../../write/tree/parse/group.ts';
import { inBatches, joinBatches, shareWork } from '../sharing.ts';
import { itemPlace } from '../tree/plan-inserts.ts';
import { readOfTree } from '../tree/read-tree.ts';
import {
  type ChangeLinks,
  heldItem,
  type LinksChange,
  type LinksPlan,
  type ListedLinks,
  linksOf,
  planHold,
  printItem,
  printLinks,
} from './print-links.ts';

/** Changes of links by their shape; null for one that takes several statements. */
export type LinksPlanCache = BoundedCache<LinksPlan | null>;

/** Plans the change of items. Null where it takes several statements. */
export function planLinks(
  root: Group,
  written: Written,
  links: readonly ListedLinks[],
  read: ReadPlan,
): LinksPlan | null {
  const { scope, writable } = written;
  const { descriptor } = writable.collection;
  const names = [descriptor.name, ...links.map(({ relation }) => relation.junction)];
  // Rows written in two places would have to be read from both.
  if (read.selected === undefined || new Set(names).size < names.length || !isSimple(written)) return null;
  if (!links.every((link) => isPlain(written, link) && !names.includes(link.relation.target))) return null;
  const rows = new Map(names.map((name, index) => [name, index === 0 ? heldItem : linksOf(index)]));
  const whole = readOfTree(scope, read.selected, root, rows);
  if (whole === undefined) return null;
  const statement = createStatement(new Map(), scope.open.dialect);
  const alias = statement.alias();
  const printed = printOwn(statement, whole, (quoted) => `${alias}.${quoted}`);
  const result = [printed.visible, ...printed.expressions].join();
  const held = links.flatMap(({ relation }) => relation.near.map(({ from }) => from));
  const columns = descriptor.fields.flatMap(({ column }) =>
    held.includes(column) || result.includes(column) ? [column] : [],
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
    [transactionNumber, `${alias}.${itemPlace}`, ...checks, `(${printed.visible}) IS TRUE`],
    printed.expressions,
    printed.fields,
  );
  const text = `WITH ${[item.text, ...parts].join(', ')} SELECT ${selected} FROM ${heldItem} ${alias}`;
  const finished = statement.finish(text);
  const plan = {
    hold: planHold(written, item.assigned),
    statement: { ...nameStatement(finished), brief: true },
    binders: finished.binders,
    sources,
    checks: checks.length,
    answer: createAnswerWriter(read),
    isBatch: batchKey(writable.collection) !== undefined,
  };
  return { ...plan, change: changeLinks(plan) };
}

/** True if the item can be checked when it is changed, by the statement alone. */
function isSimple(written: Written): boolean {
  const { grant, writable } = written;
  const { descriptor } = writable.collection;
  const { system, unlockable } = descriptor;
  if (hasLateValues(descriptor) || system === true || unlockable === true) return false;
  return grant.rules.length === 1 && checksOf(written).every(({ late }) => !late);
}

/**
 * True if no checks are left for the links of a relation. Every target can be read, foreign keys guarantee that the
 * targets exist, and no two links are the same. A caller who may make links may also remove them all.
 */
function isPlain(item: Written, { relation, written }: ListedLinks): boolean {
  const { scope, writable } = written;
  const { descriptor } = writable.collection;
  const readAll = (name: string) => {
    const readable = scope.read.collections.get(name);
    return readable && readsEveryRow(readable);
  };
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
    descriptor.softDelete === undefined &&
    readAll(relation.target) === true &&
    readAll(relation.junction) !== false &&
    readsOrder(written, relation) &&
    checksOf(written).length === 0 &&
    writable.delete?.some(({ where }) => isEveryRow(where)) === true &&
    relation.near.every(({ from }) => fieldOfColumn(owner, from)?.nullable === false) &&
    far.every((field) => field?.comparison === undefined && field?.stored === undefined) &&
    constraints.some(({ type, target, fields, unchecked }) => {
      return type === 'foreign_key' && target === relation.target && unchecked !== true && isSame(fields, far);
    }) &&
    uniques.some((fields) => fields.length > 0 && fields.every((name) => names.has(name)))
  );
}

/** True if the caller can read the junction's sort field on every row, which ordering by it requires. */
function readsOrder({ scope, writable }: Written, { junction, sort }: ManyToMany): boolean {
  const readable = scope.read.collections.get(junction);
  const order = sortField(writable.collection, sort);
  if (sort === undefined) return true;
  return order !== undefined && (readable === undefined || readable.fields.get(order.name)?.grant === null);
}

function isSame(names: readonly string[], fields: readonly (FieldDescriptor | undefined)[]): boolean {
  return names.length === fields.length && fields.every((field) => field !== undefined && names.includes(field.name));
}

/** Plan as `run` takes it. */
type Planned = Omit<LinksPlan, 'change'>;

function changeLinks(plan: Planned): ChangeLinks {
  const create = shareWork<LinksChange, Answer>(async (transaction, changes) => {
    // Sent at once: a change of an item that another one has changed sees what that has left.
    const batches = await Promise.all(
      apart(plan, changes).map(async (together) => {
        const answers = await run(transaction, plan, together);
        return together.map((change, index) => [change, answers[index]] as const);
      }),
    );
    const all = new Map(batches.flat());
    return changes.map((change) => all.get(change) ?? refuse());
  });
  // A statement that takes values of the caller is shared only by requests of that caller.
  const isOwn = plan.binders.some(({ kind }) => kind === 'caller');
  return (transaction, change) => {
    const { user, role } = change.caller;
    return create(transaction, isOwn ? JSON.stringify([user, role]) : '', change);
  };
}

/** Changes in rounds in which no item comes twice. */
function apart({ isBatch: batch }: Planned, changes: readonly LinksChange[]): readonly (readonly LinksChange[])[] {
  return batch ? inBatches(changes, ({ key }) => key.join()) : changes.map((change) => [change]);
}

async function run(
  transaction: Transaction,
  { hold, statement, binders, sources, checks, answer: result }: Planned,
  changes: readonly LinksChange[],
): Promise<readonly (Answer | undefined)[]> {
  const [first] = changes;
  if (first === undefined) return [];
  const values = joinChanges(changes, sources.length);
  const parameters = sources.flatMap((groupSources, index) => valuesOf(groupSources, values[index] ?? noItems));
  const answers: (Answer | undefined)[] = changes.map(() => undefined);
  const keys = valuesOf(hold.sources, values[0] ?? noItems);
  const held = transaction.run(runAs(hold.statement, first.caller), bind(hold.binders, keys, first.caller), noRows);
  const changed = transaction.run(runAs(statement, first.caller), bind(binders, parameters, first.caller), {
    row(buffer, offset, length) {
      let position = skip(buffer, offset);
      transaction.identify(buffer.toString('latin1', offset + 4, position));
      // The position is a 64-bit integer, but never so large that its upper half matters.
      const index = int32(buffer, position + 8) - 1;
      position = skip(buffer, position);
      let passed = true;
      for (let check = 0; check < checks; check++) {
        if (int32(buffer, position) >= 0) passed = false;
        position = skip(buffer, position);
      }
      if (!passed) return;
      const rows = result();
      // The flag that the caller may read the row is a boolean, and never null.
      if (buffer[position + 4] === 1) {
        rows.row(buffer, position + 5, length - (position + 5 - offset));
        rows.end();
      }
      answers[index] = rows;
    },
  });
  await Promise.all([held, changed]);
  return answers;
}

/** Joins the parameters of the changes: for the items, then for each relation. */
function joinChanges(changes: readonly LinksChange[], count: number): readonly WriteValues[] {
  return Array.from({ length: count }, (_, index) => {
    const batches = changes.flatMap(({ batches: parts }) => parts[index] ?? []);
    const items = { batch: joinBatches(batches), matched: nothing };
    if (index === 0) return { ...items, keys: keysOf(changes) };
    const places = batches.flatMap((batch, position) => Array.from({ length: batch.count }, () => position + 1));
    return { ...items, keys: null, places: [places] };
  });
}

function keysOf(changes: readonly LinksChange[]): Keys {
  const parts = changes[0]?.key ?? [];
  const values = parts.map((_, part) => arrayLiteral(changes.map(({ key }) => key[part] ?? null)));
  return { count: changes.length, many: true, values };
}

function refuse(): never {
  throw new PlatformError('FORBIDDEN');
}

const nothing: ReadonlyMap<number, string> = new Map();
const noItems: WriteValues = { batch: { count: 0, columns: [] }, keys: null, matched: nothing };
const noRows = { row: () => {} };
