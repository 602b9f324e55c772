import type { Container, JsonPath } from '../dialects/dialect.ts';
import { allOf, anyOf, cast, sqlFalse } from '../dialects/fragment.ts';
import { jsonKind } from '../language/conditions/filter-json.ts';
import { type Condition, type Operand, type Operator, quoteText } from '../language/index.ts';
import { definitions, elementwise, flags, listed, ranged } from '../language/operators/index.ts';
import { type RangeElement, rangeElement } from '../language/values/values.ts';
import { besideColumn, cell, comparable, comparableArray } from './cell.ts';
import { printComparison } from './comparison.ts';
import { printCount } from './lookups.ts';
import { comparedType, countType, memberAt, type OperandType, operandType, pathType, printValue } from './operand.ts';
import { printRelated } from './related.ts';
import type { Row, StatementBuilder } from './row.ts';
import type { FieldScope } from './scope.ts';
import { printNeighbour, printSpatial } from './spatial.ts';

type Comparison = Extract<Condition, { kind: 'compare' }>;

/** Prints a condition on a row as a predicate. A name that is not there makes its comparison false, never true. */
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
  const isConverted = isLabel(field, condition) || row.isStored !== true;
  const collated = isConverted ? undefined : besideColumn(field.descriptor);
  const isFound = operator === '_eq' || operator === '_in';
  const value = comparable(row, field);
  const plain =
    collated === undefined || !isFound
      ? printComparison(row, value, type, operator, operand)
      : printComparison(row, cell(row, field), { ...type, collated }, operator, operand);
  const isPlain = field.descriptor.folds !== true && collated === undefined;
  if (isPlain || definitions[operator].distinguishes !== true || isLabel(field, condition)) return plain;
  const exact = printComparison(row, statement.dialect.exactly(value), type, operator, operand);
  // The exact comparison implies the plain one, but an index of the column serves only the plain one.
  return isFound ? allOf([plain, exact]) : exact;
}

/** True for a key that is neither null nor hidden, so that a relation without items can be looked for by that alone. */
function isAlwaysThere(row: Row, field: FieldScope): boolean {
  const { name, nullable, column } = field.descriptor;
  return !nullable && row.collection.descriptor.key.includes(name) && cell(row, field) === row.column(column);
}

/** True if labels of an enum are compared with a label: no two are equal, and nothing else passes for one. */
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

/** A part of composite values under the name of the answer: a member, with parts of its own where it is composite. */
export type MemberPart =
  | { readonly key: string; readonly member: string; readonly of?: MemberParts }
  | { readonly key: string; readonly json: string };

/** Parts of a composite value; `many` for those of each value of a list. */
interface MemberParts {
  readonly parts: readonly MemberPart[];
  readonly many: boolean;
}

/**
 * Prints a comparison of JSON, or of a value within it. Path and values are parameters.
 *
 * A value is compared as the operand beside the operator. One of another kind is null there, so it matches nothing,
 * also not under a negation. `_null` holds where nothing is, and where JSON's own null is.
 */
function printJson(row: Row, field: FieldScope, condition: Comparison): string {
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
function printComposite(row: Row, field: FieldScope, condition: Comparison): string {
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

/** Takes the cast of a composite value to JSON, `{}` for the value, to one to JSON of some parts. */
export function castMembers(cast: string, members: MemberParts): string {
  return takeParts(cast, members, 0);
}

function takeParts(json: string, { parts, many }: MemberParts, depth: number): string {
  const [value, element] = [`p${depth}.v`, `e${depth}`];
  const single = printParts(many ? `${element}.v` : value, parts, depth);
  const rows = `pg_catalog.json_array_elements(${value}) WITH ORDINALITY ${element}(v, i)`;
  const list = `(SELECT COALESCE(pg_catalog.json_agg(${single} ORDER BY ${element}.i), '[]') FROM ${rows})`;
  const whole = many ? `CASE pg_catalog.json_typeof(${value}) WHEN 'array' THEN ${list} END` : single;
  return `(SELECT ${whole} FROM (SELECT ${json} AS v) p${depth})`;
}

/** Arguments of a function in SQL are 100 at most, and each part takes two. */
const maxPairs = 50;

function printParts(value: string, parts: readonly MemberPart[], depth: number): string {
  const pairs = parts.map((part): readonly [key: string, value: string] => {
    const key = quoteText(part.key);
    if ('json' in part) return [key, `${quoteText(part.json)}::pg_catalog.json`];
    const member = `(${value} OPERATOR(pg_catalog.->) ${quoteText(part.member)})`;
    return [key, part.of === undefined ? member : takeParts(member, part.of, depth + 1)];
  });
  const built = `pg_catalog.json_build_object(${pairs.flat().join(', ')})`;
  const rows = pairs.map((pair) => `(${pair.join(', ')})`).join(', ');
  const aggregated = `(SELECT pg_catalog.json_object_agg(o.k, o.v) FROM (VALUES ${rows}) o(k, v))`;
  const object = pairs.length > maxPairs ? aggregated : built;
  return `CASE pg_catalog.json_typeof(${value}) WHEN 'object' THEN ${object} END`;
}

/**
 * Prints `_has`, `_has_any`, `_has_all` and their negations. None of them matches null. An empty list has no element that
 * is there, and none that is missing. Without the caller's value no comparison holds, negated or not.
 */
function printElements(
  statement: StatementBuilder,
  container: Container,
  type: OperandType,
  operator: Operator,
  operand: Operand,
): string {
  const value = printValue(statement, type, operator, operand);
  const literal = operand.kind === 'literal';
  const list = literal ? value : container.one(value);
  const there = listed.has(operator) && operator.endsWith('_any') ? container.any(list) : container.all(list);
  const predicate = operator.startsWith('_n') ? container.guarded(`NOT ${there}`) : there;
  return literal ? predicate : `(${value} IS NOT NULL AND ${predicate})`;
}

/** An array as a container; GIN indexes on the column know its operators. */
function arrayContainer(expression: string): Container {
  return {
    one: (value) => `ARRAY[${value}]`,
    all: (list) => `(${expression} @> ${list})`,
    any: (list) => `(${expression} && ${list})`,
    guarded: (predicate) => predicate,
  };
}

/** Prints the operators of ranges. A pair is a range without its second value, empty if the wrong way round. */
function printSpan(
  statement: StatementBuilder,
  expression: string,
  { range }: RangeElement,
  type: OperandType,
  operator: Operator,
  operand: Operand,
): string {
  const value = printValue(statement, type, operator, operand);
  if (operator === '_has') return `(${expression} @> ${value})`;
  if (operator === '_nhas') return `(NOT ${expression} @> ${value})`;
  const [from, to] = [`(${value})[1]`, `(${value})[2]`];
  const pair = `(CASE WHEN ${from} > ${to} THEN 'empty'::${range} ELSE pg_catalog.${range}(${from}, ${to}) END)`;
  const predicate = `${expression} ${/overlaps$/.test(operator) ? '&&' : '<@'} ${pair}`;
  return operator.startsWith('_n') ? `(NOT ${predicate})` : `(${predicate})`;
}

const columnPattern = /\{("(?:[^"]|"")*")\}/g;

const text: OperandType = { type: 'text', native: 'text' };

/** Comparison of the words of a search. */
export type WordsCondition = Extract<Condition, { kind: 'compare' }>;

/** Prints a search for words: a predicate, and the rank by which lists are ordered. */
export function printWords(row: Row, { operator, operand }: WordsCondition) {
  const { search } = row.collection.descriptor;
  if (search === undefined) return { matches: 'FALSE', rank: '0' };
  const document = search.document.replace(columnPattern, (_, column: string) => row.column(column));
  return row.statement.dialect.wordSearch(
    document,
    printValue(row.statement, text, operator, operand),
    search.language,
  );
}
