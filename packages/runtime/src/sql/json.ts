import { type JsonKind, jsonKind } from '../contract/filter-json.ts';
import type { Condition, FieldDescriptor } from '../contract/index.ts';
import { elementwise } from '../contract/operators.ts';
import { invalidQuery } from '../query/invalid.ts';
import type { FieldScope } from '../query/scope.ts';
import { cast, cell } from './cell.ts';
import { printComparison } from './comparison.ts';
import { jsonContainer, printElements } from './elements.ts';
import { fitsJsonb } from './json-text.ts';
import { comparedType, pathType, printValue } from './operand.ts';
import type { Row } from './row.ts';

type Comparison = Extract<Condition, { kind: 'compare' }>;

const casts: Readonly<Record<JsonKind, string>> = { text: '', number: '::pg_catalog.numeric', boolean: '::bool' };
const kinds: Readonly<Record<JsonKind, string>> = { text: 'string', number: 'number', boolean: 'boolean' };

/**
 * Prints a comparison of JSON, or of a value within it. Path and values are parameters.
 *
 * A value is compared as what stands beside the operator: one of another kind is null there, so it matches nothing, also
 * not under a negation. `_null` holds where nothing is, and where JSON's own null is.
 */
export function printJson(row: Row, field: FieldScope, condition: Comparison): string {
  const { path, operator, operand } = condition;
  const { statement } = row;
  const type = comparedType(field.descriptor, condition);
  const whole = cell(row, field);
  if (path === undefined && !elementwise.has(operator)) {
    return printComparison(row, whole, type, operator, operand);
  }
  if (statement.dialect.name !== 'postgres')
    throw invalidQuery(`"filter" cannot look into JSON on this database, as it does in "${condition.field}".`);
  const value = binary(whole, field.descriptor);
  const at = path === undefined ? undefined : printValue(statement, pathType, '_eq', path);
  const inner = at === undefined ? value : `(${value} #> ${at})`;
  if (elementwise.has(operator))
    return printElements(statement, jsonContainer(statement, inner), type, operator, operand);
  const text = `(${value} #>> ${at})`;
  if (operator === '_null' || operator === '_nnull') return printComparison(row, text, type, operator, operand);
  const kind = jsonKind(operand);
  const typed = `(CASE pg_catalog.jsonb_typeof(${inner}) WHEN '${kinds[kind]}' THEN ${cast(text, casts[kind])} END)`;
  return printComparison(row, typed, type, operator, operand);
}

/** JSON as `jsonb`, whose operators are used. */
function binary(expression: string, { native }: FieldDescriptor): string {
  if (!/^(?:pg_catalog\.)?json$/.test(native)) return cast(expression, '::jsonb');
  const text = cast(expression, '::pg_catalog.text');
  return `(CASE WHEN ${fitsJsonb(text)} THEN ${cast(expression, '::jsonb')} END)`;
}
