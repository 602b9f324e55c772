import { isIndex } from '../../dialects/dialect.ts';
import { jsonKind } from '../../language/conditions/filter-json.ts';
import type { Condition, Operand } from '../../language/index.ts';
import { cursorShape } from '../parse/cursor.ts';
import type { AggregateRequest, ReadRequest, SortTerm } from '../parse/request.ts';
import { commonLimits } from '../plan/plan-bounds.ts';
import type { NestedReads } from './nested.ts';

/** The largest number of rows that is answered from memory; more are streamed. */
export const largestBufferedLimit = 1000;

/**
 * Selection of a read's rows beside its filter: nothing, one key, or a list of keys. `written`: keys that were just
 * written, whose order the answer keeps. `targets`: a permission to write; the read returns the keys.
 */
export type Selector = 'list' | 'key' | 'keys' | 'written' | 'targets';

/** Structure of a read without values, as JSON so that names stay apart. Equal shapes of a class share a plan. */
export function shapeOf(
  selector: Selector,
  collection: string,
  request: ReadRequest,
  condition: Condition,
  nested: NestedReads,
  keys: number,
): string {
  const { fields, sort, limit, offset, meta, alias } = request;
  const many = keys > largestBufferedLimit;
  return JSON.stringify([
    selector,
    collection,
    fields,
    conditionShape(condition),
    sortShape(sort),
    limitShape(limit),
    offset > 0,
    meta,
    many,
    [...alias],
    nestedShape(nested),
    request.exported ?? '',
    cursorShape(request.cursor),
    request.archived ?? '',
  ]);
}

/** Limits of equal shape share a plan. */
export function limitShape(limit: number): number | string {
  if (commonLimits.has(limit) || limit === -1) return limit;
  return limit > largestBufferedLimit ? 'streamed' : 'few';
}

/** A part of a shape, as JSON writes it. */
type Part = Shape | boolean | number | readonly Part[];

function sortShape(sort: readonly SortTerm[]): Part {
  return sort.map(({ path, descending }) => [descending, ...path]);
}

function nestedShape(reads: NestedReads): Part {
  return [...reads].map(([name, { request, condition, having, below }]) => {
    const { limit, offset, sort, aggregate, archived = '' } = request;
    const size = commonLimits.has(limit) || limit === -1 ? limit : 'few';
    const rows = aggregate === undefined ? sortShape(sort) : aggregateShape(aggregate, having.condition);
    const grouped = aggregate !== undefined;
    return [name, conditionShape(condition), grouped, rows, size, offset > 0, archived, nestedShape(below)];
  });
}

/** The structure of an aggregation without the values of its `having`. */
export function aggregateShape({ values, groups, sort }: AggregateRequest, having: Condition): Part {
  return [
    values.map((value) => [value.function, value.field ?? false]),
    groups,
    sort.map(({ name, descending }) => [descending, name]),
    conditionShape(having),
  ];
}

/** Nested names and words, as JSON writes them. */
export type Shape = string | readonly Shape[];

export function conditionShape(condition: Condition): Shape {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return [condition.kind, ...condition.of.map(conditionShape)];
    case 'compare':
      return [
        condition.field,
        condition.path === undefined || condition.path.members
          ? (condition.function ?? '')
          : jsonKind(condition.operand),
        condition.path === undefined ? '' : pathShape(condition.path),
        condition.operator,
        nearShape(condition) ?? operandShape(condition.operand),
      ];
    case 'related':
      return [condition.relation, condition.quantifier, condition.item ?? '', conditionShape(condition.where)];
  }
}

/** Segments of a path into JSON that may be numbers of elements: not every server prints them like keys. */
function pathShape({ value, members }: Extract<Operand, { kind: 'literal' }>): Shape {
  // Names of members stand in the statement.
  if (members && Array.isArray(value)) return ['members', ...value.map(String)];
  return Array.isArray(value) ? value.map((segment) => (isIndex(String(segment)) ? 'index' : 'key')) : '';
}

/** The metric of a `_near` of vectors, and how many values it has. */
function nearShape({ operator, operand }: Extract<Condition, { kind: 'compare' }>): Shape | undefined {
  if (operator !== '_near' || operand.kind !== 'literal' || !Array.isArray(operand.value)) return undefined;
  const [, metric] = operand.value;
  return [typeof metric === 'string' ? metric : '', String(operand.value.length)];
}

function operandShape(operand: Operand): Shape {
  if (operand.kind === 'literal') return Array.isArray(operand.value) ? 'list' : 'value';
  return operand.kind === 'now' ? 'now' : [operand.of, ...operand.path];
}
