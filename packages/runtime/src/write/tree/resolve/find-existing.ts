/** Which of the items that a tree names by their keys there are: one statement for all of them, which locks them. */
import { anyOf, cast, sqlTrue } from '../../../dialects/fragment.ts';
import { PlatformError } from '../../../errors.ts';
import { failedValidation } from '../../../json/problems.ts';
import { readPlaces } from '../../../sql/array-text.ts';
import { operandType } from '../../../sql/operand.ts';
import { readable } from '../../../sql/readable.ts';
import { tableRow } from '../../../sql/row.ts';
import { keyFields } from '../../../sql/scope.ts';
import type { WriteScope } from '../../access/scope.ts';
import { isEveryRow } from '../../checks/late.ts';
import type { Running } from '../../execute/running.ts';
import { selectLocked } from '../../plan/locked-rows.ts';
import { type Group, groupsOf, type TreeNode } from '../parse/group.ts';
import { ask, inputRows, keyEqual, type Question, startQuestion } from './stored.ts';

/** True if there is an item for a node. An object with a key that is not there is made. */
export type Found = (node: TreeNode) => boolean;

/** Nodes of a group whose items have to be looked for. */
interface ExistenceQuery {
  readonly group: Group;
  readonly nodes: readonly TreeNode[];
}

/** The groups of a tree in which items have to be looked for: all that have keys, but for those that the request is about. */
export function existenceQueries(root: Group): readonly ExistenceQuery[] {
  return groupsOf(root).flatMap((group) => {
    const nodes = group === root ? [] : group.nodes.filter(({ form }) => form !== 'create');
    return nodes.length === 0 ? [] : [{ group, nodes }];
  });
}

/** Looks for items. Throws FORBIDDEN for a hidden one. */
export async function findExisting(
  running: Running,
  scope: WriteScope,
  requested: readonly ExistenceQuery[],
): Promise<Found> {
  if (requested.length === 0) return () => false;
  const question = startQuestion(running.dialect);
  const { collectedArray: arrayOf } = running.dialect.input;
  const parts = requested.map((entry, index) => printQuery(question, scope, entry, `g${index}`));
  const answers = requested.flatMap((_, index) => [
    `(SELECT ${arrayOf({ value: 'n' })} FROM g${index})`,
    `(SELECT ${arrayOf({ value: 'n', only: 'r' })} FROM g${index})`,
  ]);
  const row = await ask(running, question, `WITH ${parts.join(', ')} SELECT ${answers.join(', ')}`);
  const found = new Set<TreeNode>();
  for (const [index, { nodes }] of requested.entries()) {
    const there = new Set(readPlaces(row[index * 2]));
    const visible = new Set(readPlaces(row[index * 2 + 1]));
    for (const [position, node] of nodes.entries()) {
      if (there.has(position) !== visible.has(position)) throw new PlatformError('FORBIDDEN');
      if (there.has(position)) found.add(node);
    }
  }
  return (node) => found.has(node);
}

/**
 * Returns the error for an item that is neither there nor made: FORBIDDEN. A caller who may read everything learns
 * instead that a link leads nowhere, where the database does not check it.
 */
export function missing(
  { read }: WriteScope,
  { writable, loose }: Group,
  { place: location }: TreeNode,
): PlatformError {
  const rows = read.collections.get(writable.collection.descriptor.name)?.rows ?? [];
  if (!loose || !rows.some(isEveryRow)) return new PlatformError('FORBIDDEN');
  return failedValidation(location, null, 'foreign_key', 'is not there');
}

function printQuery(question: Question, scope: WriteScope, { group, nodes }: ExistenceQuery, name: string): string {
  const { collection } = group.writable;
  const { descriptor } = collection;
  const { statement } = question;
  const { dialect } = statement;
  const alias = statement.alias();
  const fields = keyFields(descriptor);
  const columns = fields.map((field, part) => {
    const values = nodes.map(({ key }) => key?.[part] ?? null);
    return { name: `k${part}`, native: operandType(field).native, values };
  });
  const input = inputRows(question, columns, 'i');
  const keys = fields.map(({ column, comparison }) => cast(`${alias}.${column}`, comparison));
  const equal = keyEqual(dialect, collection, alias, 'i');
  const readScope = scope.read.collections.get(descriptor.name);
  const visible = readScope === undefined ? anyOf([]) : readable(tableRow(statement, scope.read, readScope, alias));
  // Links to targets only keep them from being deleted; all others are going to be changed.
  const lock = nodes.every(({ form }) => form === 'link') && group.owned.length === 0 ? 'KEY SHARE' : 'NO KEY UPDATE';
  const from = `${input}${dialect.input.join}${statement.table(descriptor.table)} AS ${alias} ON ${equal}`;
  const selected = `i.n, (${visible}) IS TRUE AS r`;
  return `${name} AS (${selectLocked(dialect, { descriptor, selected, from, rows: sqlTrue, alias, keys, lock })})`;
}
