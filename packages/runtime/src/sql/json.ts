import { cast } from '../dialects/fragment.ts';
import type { JsonPath } from '../dialects/json.ts';
import { jsonKind } from '../language/conditions/filter-json.ts';
import type { Condition } from '../language/index.ts';
import { elementwise } from '../language/operators/index.ts';
import { cell } from './cell.ts';
import { printComparison } from './comparison.ts';
import { printElements } from './elements.ts';
import { comparedType, memberAt, pathType, printValue } from './operand.ts';
import type { Row, StatementBuilder } from './row.ts';
import type { FieldScope } from './scope.ts';

type Comparison = Extract<Condition, { kind: 'compare' }>;

/**
 * Prints a comparison of JSON, or of a value within it. Path and values are parameters.
 *
 * A value is compared as the operand beside the operator. One of another kind is null there, so it matches nothing,
 * also not under a negation. `_null` holds where nothing is, and where JSON's own null is.
 */
export function printJson(row: Row, field: FieldScope, condition: Comparison): string {
  const { path: operandOfPath, operator, operand } = condition;
  const { statement } = row;
  const { json } = statement.dialect;
  const type = comparedType(field.descriptor, condition);
  const whole = cell(row, field);
  const path = operandOfPath && pathOf(statement, operandOfPath);
  if (path === undefined && !elementwise.has(operator)) {
    return printComparison(row, whole, type, operator, operand);
  }
  const document = json.document(whole, field.descriptor);
  if (path === undefined || elementwise.has(operator)) {
    const array = path === undefined ? document : json.at(document, path);
    return printElements(
      statement,
      json.container(array, () => statement.alias()),
      type,
      operator,
      operand,
    );
  }
  const isUnary = operator === '_null' || operator === '_nnull';
  const value = isUnary ? json.presence(document, path) : json.scalar(document, path, jsonKind(operand));
  return printComparison(row, value, type, operator, operand);
}

function pathOf(statement: StatementBuilder, operand: NonNullable<Comparison['path']>): JsonPath {
  return {
    segments: Array.isArray(operand.value) ? operand.value.map(String) : [],
    take: (native) => printValue(statement, { ...pathType, native }, '_eq', operand),
  };
}

/** Prints a comparison of a composite value, or of the member that a path leads to. Values are parameters. */
export function printComposite(row: Row, field: FieldScope, condition: Comparison): string {
  const { path, operator, operand } = condition;
  const whole = cell(row, field);
  const names = Array.isArray(path?.value) ? path.value.map(String) : [];
  const member = names.reduce((value, name) => `(${value})."${name.replaceAll('"', '""')}"`, whole);
  const found = path === undefined ? undefined : memberAt(field.descriptor, path);
  // A value whose members are all null is there.
  const isComposite = found === undefined || found.type === 'composite';
  if (isComposite && operator === '_null') return `(${member}) IS NOT DISTINCT FROM NULL`;
  if (isComposite && operator === '_nnull') return `(${member}) IS DISTINCT FROM NULL`;
  const type = comparedType(field.descriptor, condition);
  return printComparison(row, cast(member, found?.comparison), type, operator, operand);
}
