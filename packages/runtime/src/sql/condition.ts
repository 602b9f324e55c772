import type { Condition } from '../contract/index.ts';
import { cell, comparable } from './cell.ts';
import { printComparison } from './comparison.ts';
import { allOf, anyOf, sqlFalse } from './fragment.ts';
import { printFunction } from './functions.ts';
import { countType, isUnary, operandType } from './operand.ts';
import { printCount, printRelated } from './related.ts';
import type { Row } from './row.ts';

type Comparison = Extract<Condition, { kind: 'compare' }>;

/**
 * Prints a condition on a row as a predicate. Names are looked up in the row's scope; one that is not there makes its
 * comparison false, never true.
 */
export function printCondition(row: Row, condition: Condition): string {
  switch (condition.kind) {
    case 'and':
      return allOf(condition.of.map((part) => printCondition(row, part)));
    case 'or':
      return anyOf(condition.of.map((part) => printCondition(row, part)));
    case 'compare':
      return condition.function === undefined ? printField(row, condition) : printCall(row, condition);
    case 'related':
      return printRelated(row, condition);
  }
}

function printField(row: Row, { field: name, operator, operand }: Comparison): string {
  const field = row.collection.fields.get(name);
  if (field === undefined || field.secret) return sqlFalse;
  const presence = isUnary(operator) && (operator === '_null' || operator === '_nnull');
  const expression = presence ? cell(row, field) : comparable(row, field);
  return printComparison(row, expression, operandType(field.descriptor), operator, operand);
}

function printCall(row: Row, { field: name, function: call, operator, operand }: Comparison): string {
  const relation = row.collection.relations.get(name);
  if (call === 'count' && relation !== undefined && relation.descriptor.kind !== 'm2o') {
    return printComparison(row, printCount(row, relation), countType, operator, operand);
  }
  const field = row.collection.fields.get(name);
  if (call === undefined || field === undefined || field.secret) return sqlFalse;
  const expression = printFunction(call, cell(row, field), field.descriptor);
  return printComparison(row, expression, operandType(field.descriptor, call), operator, operand);
}
