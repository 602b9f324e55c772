import { allOf, anyOf, sqlFalse } from '../../dialects/fragment.ts';
import { forbidden, invalidQuery } from '../../errors.ts';
import { type AggregateFunction, aggregateFits, isAggregateFunction } from '../../language/descriptors/aggregates.ts';
import {
  always,
  type Condition,
  type FilterNames,
  type FilterProblem,
  type Operator,
  type ParsedFilter,
  parseFilter,
  printProblem,
  type ValueType,
} from '../../language/index.ts';
import { definitions, flags } from '../../language/operators/index.ts';
import { aggregateOperand } from '../../sql/calls.ts';
import { printComparison } from '../../sql/comparison.ts';
import type { OperandType } from '../../sql/operand.ts';
import type { Printing } from '../../sql/row.ts';
import { type CollectionScope, filterNames, type Scope } from '../../sql/scope.ts';
import type { QueryParameter } from '../parse/parse-query-string.ts';
import type { ReadLimits } from '../parse/request.ts';
import type { Aggregate } from './aggregate.ts';
import { type OpenValues, openOperand } from './filter.ts';

/**
 * `having` is a filter over aggregate rows: `{"count": {"_gt": 2}}`, `{"sum": {"views": {"_lt": 9}}}`, `_and`, `_or`.
 *
 * It is read as any filter, over names of its own. A function stands for a relation to one row that holds its results
 * by field, and `count` and `countAll` are fields too. So its operators, values and problems are those of filters.
 */
export function readHaving(
  scope: Scope,
  collection: CollectionScope | undefined,
  having: QueryParameter | undefined,
  limits: ReadLimits,
): ParsedFilter {
  if (having === undefined) return { condition: always, problems: [] };
  const options = { text: having.text, limits, callers: filterNames(scope) };
  return parseFilter(having.value, root, havingNames(collection), options);
}

/** No function has this name. */
const root = '';

const rowCount: ValueType = { type: 'bigInteger' };

function havingNames(collection: CollectionScope | undefined): FilterNames {
  return {
    field(level, name) {
      if (level === root) return name === 'count' || name === 'countAll' ? rowCount : undefined;
      return isAggregateFunction(level) ? resultField(collection, level, name) : undefined;
    },
    relation(level, name) {
      if (level !== root || !isAggregateFunction(name) || name === 'countAll') return undefined;
      return { kind: 'm2o', target: name };
    },
    key: () => [],
  };
}

/** A function that does not fit the field leaves a value that nothing can be compared with. */
function resultField(
  collection: CollectionScope | undefined,
  name: AggregateFunction,
  fieldName: string,
): ValueType | undefined {
  const field = collection?.fields.get(fieldName);
  if (field === undefined || field.secret) return undefined;
  if (!aggregateFits(name, field.descriptor.type)) return { type: 'unknown' };
  return aggregateOperand(name, field.descriptor);
}

/** Throws what the first problem of a stage deserves: INVALID_QUERY, or FORBIDDEN for names. */
export function refuseHaving({ problems }: ParsedFilter, stage: FilterProblem['stage']): void {
  const problem = problems.find((candidate) => candidate.stage === stage);
  if (problem === undefined) return;
  if (stage === 'name') throw forbidden(`${JSON.stringify(problem.path.join('.'))} of "having"`);
  throw invalidQuery(`"having" at "${problem.path.join('.')}" ${printProblem(problem)}.`);
}

/** The last stage: checks that operators, values and functions fit the types. */
export function checkHaving(collection: CollectionScope, having: ParsedFilter): void {
  refuseHaving(having, 'value');
  visitHaving(collection, having.condition, (_, found) => {
    if (found === undefined)
      throw invalidQuery('"having" uses a function that is not defined for the type of a field.');
  });
}

type Comparison = Extract<Condition, { kind: 'compare' }>;

/** The aggregate that a comparison looks at, below a function or at the root; undefined when there is no such one. */
function aggregateOf(
  collection: CollectionScope,
  { field: name }: Comparison,
  below: string | undefined,
): Aggregate | undefined {
  if (below === undefined) return isAggregateFunction(name) ? { function: name, field: null } : undefined;
  const field = collection.fields.get(name);
  if (!isAggregateFunction(below) || field === undefined || field.secret) return undefined;
  return aggregateFits(below, field.descriptor.type) ? { function: below, field } : undefined;
}

/** Visits every comparison of a checked condition; one without an aggregate is one that does not fit its field. */
function visitHaving(
  collection: CollectionScope,
  condition: Condition,
  visit: (comparison: Comparison, aggregate: Aggregate | undefined) => void,
  below?: string,
): void {
  if (condition.kind === 'compare') visit(condition, aggregateOf(collection, condition, below));
  else if (condition.kind === 'related') visitHaving(collection, condition.where, visit, condition.relation);
  else for (const part of condition.of) visitHaving(collection, part, visit, below);
}

/** Adds what the operands of `having` leave open after the values of the filter. */
export function collectHaving(open: OpenValues, collection: CollectionScope, condition: Condition): void {
  visitHaving(collection, condition, ({ operator, operand }, aggregate) => {
    if (aggregate !== undefined && !flags.has(operator)) openOperand(open, operand, operator, operandOf(aggregate));
  });
}

function operandOf({ function: name, field }: Aggregate): OperandType {
  return aggregateOperand(name, field?.descriptor ?? null);
}

/** Prints `having`; `print` gives the expression of an aggregate. */
export function printHaving(
  printing: Printing,
  collection: CollectionScope,
  condition: Condition,
  print: (aggregate: Aggregate) => string,
  below?: string,
): string {
  const inner = (part: Condition) => printHaving(printing, collection, part, print, below);
  if (condition.kind === 'and') return allOf(condition.of.map(inner));
  if (condition.kind === 'or') return anyOf(condition.of.map(inner));
  if (condition.kind === 'related') {
    return printHaving(printing, collection, condition.where, print, condition.relation);
  }
  const aggregate = aggregateOf(collection, condition, below);
  if (aggregate === undefined) return sqlFalse;
  const { operator, operand } = condition;
  const value = print(aggregate);
  const exact = distinguishesTexts(aggregate, operator) ? printing.statement.dialect.exactly(value) : value;
  return printComparison(printing, exact, operandOf(aggregate), operator, operand);
}

/** True if the result is a text of a column whose collation takes some texts for equal, and the operator does not. */
function distinguishesTexts({ function: name, field }: Aggregate, operator: Operator): boolean {
  const isText = field?.descriptor.folds === true && (name === 'min' || name === 'max');
  return isText && definitions[operator].distinguishes === true;
}
