import { allOf, anyOf, cast, sqlFalse } from '../dialects/fragment.ts';
import type { Condition } from '../language/index.ts';
import { definitions, elementwise, flags, ranged } from '../language/operators/index.ts';
import { rangeElement } from '../language/values/values.ts';
import { cell, comparable, comparableArray } from './cell.ts';
import { printComparison } from './comparison.ts';
import { arrayContainer, printElements, printSpan } from './elements.ts';
import { printComposite, printJson } from './json.ts';
import { printCount } from './lookups.ts';
import { comparedType, countType, operandType } from './operand.ts';
import { printRelated } from './related.ts';
import type { Row } from './row.ts';
import type { FieldScope } from './scope.ts';
import { printNeighbour, printSpatial } from './spatial.ts';
import { printWords } from './words.ts';

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

function printField(row: Row, condition: Comparison): string {
  const { field: name, operator, operand } = condition;
  const { statement } = row;
  if (operator === '_words') return printWords(row, condition).matches;
  const field = row.collection.fields.get(name);
  if (field === undefined || field.secret) return sqlFalse;
  if (field.descriptor.type === 'json') return printJson(row, field, condition);
  if (field.descriptor.type === 'composite') return printComposite(row, field, condition);
  const type = comparedType(field.descriptor, condition);
  const presence = operator === '_null' || operator === '_nnull';
  if (operator === '_null' && isAlwaysThere(row, field)) return sqlFalse;
  if (presence) return printComparison(row, cell(row, field), type, operator, operand);
  if (field.descriptor.type === 'geometry') return printSpatial(row, field, operator, operand);
  if (field.descriptor.type === 'vector') return printNeighbour(row, field, operator, operand);
  if (field.descriptor.type === 'array') {
    const array = comparableArray(row, field);
    if (elementwise.has(operator)) return printElements(statement, arrayContainer(array), type, operator, operand);
    return printComparison(row, array, type, operator, operand);
  }
  const range = elementwise.has(operator) || ranged.has(operator) ? rangeElement(field.descriptor.range) : undefined;
  if (range !== undefined) {
    const span = cast(cell(row, field), `::${field.descriptor.range}`);
    return printSpan(statement, span, range, type, operator, operand);
  }
  const value = comparable(row, field);
  const plain = printComparison(row, value, type, operator, operand);
  if (field.descriptor.folds !== true || definitions[operator].distinguishes !== true || isLabel(field, condition))
    return plain;
  const exact = printComparison(row, statement.dialect.exactly(value), type, operator, operand);
  // The exact comparison implies the plain one, but an index of the column serves only the plain one.
  return operator === '_eq' || operator === '_in' ? allOf([plain, exact]) : exact;
}

/** True for a key that is neither null nor hidden, so that a relation without items can be looked for by that alone. */
function isAlwaysThere(row: Row, field: FieldScope): boolean {
  const { name, nullable, column } = field.descriptor;
  return !nullable && row.collection.descriptor.key.includes(name) && cell(row, field) === row.column(column);
}

/**
 * True if labels of an enum are compared with a label: no two of them are equal, and nothing else passes for a value.
 */
function isLabel({ descriptor }: FieldScope, { operator, operand }: Comparison): boolean {
  return descriptor.type === 'enum' && operand.kind === 'literal' && !flags.has(operator);
}

function printCall(row: Row, { field: name, function: call, operator, operand }: Comparison): string {
  const relation = row.collection.relations.get(name);
  if (call === 'count' && relation !== undefined && relation.descriptor.kind !== 'm2o') {
    return printComparison(row, printCount(row, relation), countType, operator, operand);
  }
  const field = row.collection.fields.get(name);
  if (call === undefined || field === undefined || field.secret) return sqlFalse;
  const expression = row.statement.dialect.field(call, cell(row, field), field.descriptor);
  return printComparison(row, expression, operandType(field.descriptor, call), operator, operand);
}
