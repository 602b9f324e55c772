import { forbidden, invalidQuery } from '../../errors.ts';
import {
  always,
  type Condition,
  type FilterProblem,
  type Operand,
  type Operator,
  type ParsedFilter,
  parseFilter,
  printProblem,
} from '../../language/index.ts';
import { elementwise, flags, matching } from '../../language/operators/index.ts';
import { comparedType, countType, encodeOperand, type OperandType, pathType } from '../../sql/operand.ts';
import { type CollectionScope, filterNames, type Scope } from '../../sql/scope.ts';
import type { QueryParameter } from '../parse/parse-query-string.ts';
import type { ReadLimits } from '../parse/request.ts';

/** Reads the filter of a request, without which every row matches. `links` are the collections of `item`. */
export function readFilter(
  scope: Scope,
  collection: string,
  filter: QueryParameter | undefined,
  limits: ReadLimits,
  links?: readonly string[],
): ParsedFilter {
  if (filter === undefined) return { condition: always, problems: [] };
  const options = { text: filter.text, limits, ...(links && { links }) };
  return parseFilter(filter.value, collection, filterNames(scope), options);
}

/** Throws what a filter's first problem of a stage deserves: INVALID_QUERY, or FORBIDDEN for names. */
export function refuseProblem(problems: readonly FilterProblem[], stage: FilterProblem['stage']): void {
  const problem = problems.find((candidate) => candidate.stage === stage);
  if (problem === undefined) return;
  if (stage === 'name') throw forbidden(`${JSON.stringify(problem.path.join('.'))} of the filter`);
  const location = problem.path.length === 0 ? '' : ` at "${problem.path.join('.')}"`;
  throw invalidQuery(`The filter${location} ${printProblem(problem)}.`);
}

/** Number of relations that a condition looks through or counts. */
export function relationsOf(condition: Condition): number {
  if (condition.kind === 'compare') return (condition.function === 'count' ? 1 : 0) + stepsOf(condition.operand);
  if (condition.kind === 'related') return 1 + relationsOf(condition.where);
  return condition.of.reduce((sum, part) => sum + relationsOf(part), 0);
}

/** Throws INVALID_QUERY when filters look through more relations than one request may. */
export function refuseRelations(relations: number, limits: ReadLimits): void {
  if (relations > limits.filterRelations) throw invalidQuery('The filters look through too many relations.');
}

function stepsOf(operand: Operand): number {
  return operand.kind === 'caller' ? operand.path.length : 0;
}

/** The values that a request leaves open: where each operand's first value stands, and the values as parameter text. */
export interface OpenValues {
  readonly operands: Map<Operand, number>;
  readonly values: string[];
  readonly size: { listValues: number; patternLength: number };
  /** Encodings of the operands of filters and searches. */
  readonly comparisons: OpenComparison[];
}

/** A comparison whose operand is left open. */
interface OpenComparison {
  readonly operand: Operand;
  readonly operator: Operator;
  readonly type: OperandType;
  /** False where a text decides more than the value it becomes. */
  readonly plain: boolean;
}

/** Nothing yet. */
export function openValues(): OpenValues {
  return { operands: new Map(), values: [], comparisons: [], size: { listValues: 0, patternLength: 0 } };
}

/** Throws INVALID_QUERY for values that are too much for one request. */
export function refuseSize({ values, size }: OpenValues, { listValues, patternLength }: ReadLimits): void {
  const many = values.length > maxValues || size.listValues > listValues;
  if (many) throw invalidQuery('The query has too many values.');
  if (size.patternLength > patternLength) throw invalidQuery('The query looks for too much text.');
}

/** More values than this do not fit into the parameters of one statement beside those of rules. */
const maxValues = 32_000;

/** Adds the values of a checked condition in the order of its parts, which is the same for every condition of a shape. */
export function collectValues(open: OpenValues, scope: Scope, collection: CollectionScope, condition: Condition): void {
  visitOperands(scope, collection, condition, (operand, operator, type, plain) => {
    // A search compares every field with one operand.
    if (open.operands.has(operand)) return;
    openOperand(open, operand, operator, type);
    open.comparisons.push({ operand, operator, type, plain });
  });
}

/** Adds the values of an operand, and counts them towards the size of the request. */
export function openOperand(open: OpenValues, operand: Operand, operator: Operator, type: OperandType): void {
  open.operands.set(operand, open.values.length);
  const encoded = encodeOperand(type, operator, operand);
  open.values.push(...encoded);
  if (operand.kind !== 'literal') return;
  if (Array.isArray(operand.value)) open.size.listValues += operand.value.length;
  if (matching.has(operator)) open.size.patternLength += encoded.join('').length;
}

function visitOperands(
  scope: Scope,
  collection: CollectionScope,
  condition: Condition,
  visit: (operand: Operand, operator: Operator, type: OperandType, plain: boolean) => void,
): void {
  if (condition.kind === 'and' || condition.kind === 'or') {
    for (const part of condition.of) visitOperands(scope, collection, part, visit);
  } else if (condition.kind === 'related') {
    const target = condition.item ?? collection.relations.get(condition.relation)?.descriptor.target;
    const inner = scope.collections.get(target ?? '');
    if (inner !== undefined) visitOperands(scope, inner, condition.where, visit);
  } else {
    const field = collection.fields.get(condition.field)?.descriptor;
    const { path, operator, operand } = condition;
    if (path !== undefined && path.members !== true) visit(path, '_eq', pathType, false);
    if (flags.has(operator)) return;
    // Within JSON a text decides its own kind, and an element is looked for as a list.
    const plain = path === undefined && !elementwise.has(operator);
    visit(operand, operator, field === undefined ? countType : comparedType(field, condition), plain);
  }
}
