/** Statements of calls that do not read items: values and objects as the function gives them, or the keys of items. */

import type { ParameterForm, StatementPart } from '../database/database.ts';
import type { Binder } from '../database/parameter-forms.ts';
import { cast, castStored } from '../dialects/fragment.ts';
import type { Shape, ShapeField } from '../json/shape.ts';
import type {
  ArgumentDescriptor,
  FieldDescriptor,
  FunctionAccess,
  FunctionDescriptor,
  Operand,
  ResultMember,
} from '../language/index.ts';
import { derivedOnce } from '../language/values/once.ts';
import type { Bounds } from '../query/parse/request.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import { boundValues, printBounds } from '../query/plan/plan-bounds.ts';
import { isStreamed, statementOf } from '../query/plan/plan-read.ts';
import { printPath } from '../sql/caller-path.ts';
import { operandType, printValue } from '../sql/operand.ts';
import type { Printing } from '../sql/row.ts';
import type { Scope } from '../sql/scope.ts';
import { createStatement } from '../sql/statement.ts';
import type { DecodedArguments } from './arguments.ts';

/** A plan of a call, with the values that the call left open. */
export type PlannedCall = Pick<ReadPlan, 'statement' | 'binders'>;

/** Plans a call whose answer is a value, objects, or nothing; `open` is the scope without rules. */
export function planCall(open: Scope, call: RequestedCall, bounds: Bounds): ReadPlan {
  const { returns, procedure } = call.descriptor;
  const statement = createStatement(new Map(), open.dialect);
  const text = printCall({ statement, scope: open }, call, 0);
  const plain = { cost: 0, many: false, fields: [], meta: [], streamed: false } as const;
  if (procedure === true && !open.dialect.namesArguments) return { ...plain, ...planProcedure(open, call) };
  if (procedure === true) {
    const fields = returns.kind === 'objects' ? returns.members.map(fieldOf) : [];
    return { ...plain, ...statementOf(statement.finish(`CALL ${text}`)), fields };
  }
  if (returns.kind === 'nothing') return { ...plain, ...statementOf(statement.finish(`SELECT ${text}`)) };
  const limits = printBounds(statement, bounds, valuesOf(call).length);
  if (returns.kind === 'value') {
    const { value, many } = returns;
    const field: ShapeField = { key: 'data', shape: shapeOf(value, many) };
    const single = `SELECT ${cast(`(${text})`, value.wire.cast)}`;
    const all = `SELECT ARRAY(SELECT ${cast('t.v', value.wire.cast)} FROM ${text} AS t(v)${limits})`;
    return { ...plain, ...statementOf(statement.finish(many ? all : single)), fields: [field], bare: true };
  }
  const members = returns.kind === 'objects' ? returns.members : [];
  const names = members.map((_, index) => `c${index}`);
  const columns = members.map(({ wire }, index) => cast(`t.c${index}`, wire.cast));
  const rows = `SELECT ${columns.join(', ')} FROM ${text} AS t(${names.join(', ')})`;
  const many = returns.kind === 'objects' && returns.many === true;
  return {
    ...plain,
    ...statementOf(statement.finish(many ? rows + limits : rows)),
    many,
    fields: members.map(fieldOf),
    streamed: many && isStreamed(bounds.limit, undefined),
  };
}

export function callValues(call: RequestedCall, bounds: Bounds): readonly string[] {
  const { returns, procedure } = call.descriptor;
  const isList = procedure !== true && 'many' in returns && returns.many === true;
  return isList ? [...valuesOf(call), ...boundValues(bounds)] : valuesOf(call);
}

/** Plans a call that changes something and gives rows of a table: only their keys, so that it always runs to its end. */
export function planKeys(open: Scope, call: RequestedCall, key: readonly FieldDescriptor[]): PlannedCall {
  const statement = createStatement(new Map(), open.dialect);
  const text = printCall({ statement, scope: open }, call, 0);
  const { count, collectedArray, place: numbered } = open.dialect.input;
  const columns = key.map(({ column, comparison }, index) => `${cast(`t.${column}`, comparison)} AS k${index}`);
  const present = key.map(({ column }) => `t.${column} IS NOT NULL`);
  const arrays = key.map((field, index) => collectedArray({ value: `k.k${index}`, settled: 'k.n', field }));
  const rows = `SELECT ${columns.join(', ')}${numbered('')} FROM ${text} AS t WHERE ${present.join(' AND ')}`;
  return statementOf(statement.finish(`SELECT NULL, ${[count(), ...arrays].join(', ')} FROM (${rows}) k`));
}

/** The same statement for callers without a token. */
export const publicPlan = derivedOnce((plan: ReadPlan): ReadPlan => {
  return { ...plan, statement: { ...plan.statement, isPublic: true } };
});

/**
 * Plans the call. Values that the procedure gives are variables of the session, which are set before where it also takes
 * them, and read afterwards. Without such values the answer is that of the call: its first rows as JSON.
 */
function planProcedure(open: Scope, call: RequestedCall): Pick<ReadPlan, 'statement' | 'binders' | 'fields' | 'bare'> {
  const { routine, arguments: args, parameters = [], returns } = call.descriptor;
  const members = returns.kind === 'objects' ? returns.members : [];
  const variables = new Map(members.map(({ name }, index) => [name, `@platform_${index}`]));
  const taken = args.flatMap(({ name }) => {
    const variable = variables.get(name);
    return variable === undefined ? [] : [{ name, variable }];
  });
  const parts: PrintedPart[] = [];
  const add = (print: (printing: Printing) => string, more: Pick<StatementPart, 'call'> = {}): void => {
    const statement = createStatement(new Map(), open.dialect);
    const {
      text,
      binders,
      forms = binders.map(() => 'text' as const),
    } = statement.finish(print({ statement, scope: open }));
    parts.push({ part: { text, parameters: binders.length, ...more }, binders, forms });
  };
  if (taken.length > 0) {
    add((printing) => {
      const values = printArguments(printing, call, 0);
      return `SET ${taken.map(({ name, variable }) => `${variable} = ${values.get(name) ?? 'NULL'}`).join(', ')}`;
    });
  }
  add(
    (printing) => {
      const values = printArguments(printing, call, 0);
      return `CALL ${routine}(${parameters.map((name) => variables.get(name) ?? values.get(name) ?? 'NULL').join(', ')})`;
    },
    { call: true },
  );
  if (members.length > 0) {
    add(() => `SELECT ${members.map(({ name, wire }) => cast(variables.get(name) ?? 'NULL', wire.cast)).join(', ')}`);
  }
  const { statement, binders } = statementOf({
    text: parts.map(({ part }) => part.text).join('; '),
    tables: [],
    binders: parts.flatMap((part) => part.binders),
    forms: parts.flatMap((part) => part.forms),
  });
  const listed = { ...statement, parts: parts.map(({ part }) => part) };
  if (returns.kind !== 'value') return { statement: listed, binders, fields: members.map(fieldOf) };
  return { statement: listed, binders, fields: [{ key: 'data', shape: { kind: 'scalar', wire: 'json' } }], bare: true };
}

interface PrintedPart {
  readonly part: StatementPart;
  readonly binders: readonly Binder[];
  readonly forms: readonly ParameterForm[];
}

function fieldOf(member: ResultMember): ShapeField {
  return { key: member.name, shape: shapeOf(member, false) };
}

/** The shape of a value, or of a list of them. */
function shapeOf({ wire }: ResultMember, many: boolean | undefined): Shape {
  if (many === true || wire.array === true) return { kind: 'array', element: wire.kind };
  return { kind: 'scalar', wire: wire.kind };
}

/** One call: which function, what the server sets, and what the caller gives. */
export interface RequestedCall {
  readonly descriptor: FunctionDescriptor;
  readonly access: FunctionAccess;
  readonly sent: DecodedArguments;
}

/** The form of a call without its values: calls of equal form have one statement. */
export function formOf({ descriptor, sent }: RequestedCall): string {
  return JSON.stringify([descriptor.name, [...sent].map(([name, value]) => [name, value === null])]);
}

/** Values of the parameters of a call, in the order of its arguments; nulls stand in its text. */
export function valuesOf({ sent }: RequestedCall): readonly string[] {
  return [...sent.values()].filter((value) => value !== null);
}

/** Prints a call; the values of the caller stand at `index` in the order of `valuesOf`, and `open` has their names. */
export function printCall(open: Printing, { descriptor, ...call }: RequestedCall, index: number): string {
  const values = printArguments(open, { descriptor, ...call }, index);
  const { namesArguments } = open.statement.dialect;
  const list = descriptor.arguments.flatMap(({ name, column }) => {
    const value = values.get(name);
    return value === undefined ? [] : [namesArguments ? `${column} => ${value}` : value];
  });
  const outputs = descriptor.procedure === true && descriptor.returns.kind === 'objects' ? missing(descriptor) : [];
  return `${descriptor.routine}(${[...list, ...outputs].join(', ')})`;
}

/** Prints the arguments of a call that have a value, by their names. */
function printArguments(
  open: Printing,
  { descriptor, access, sent }: RequestedCall,
  index: number,
): ReadonlyMap<string, string> {
  const fixed = new Map((access.args ?? []).map(({ name, value }) => [name, value]));
  let next = index;
  const printed = new Map([...sent].map(([name, value]) => [name, value === null ? null : next++] as const));
  return new Map(
    descriptor.arguments.flatMap((argument): readonly (readonly [string, string])[] => {
      const { name } = argument;
      const value = fixed.get(name);
      if (value !== undefined) return [[name, printFixed(open, argument, value)]];
      const position = printed.get(name);
      if (position === undefined) return [];
      return [[name, position === null ? exactly(open, 'NULL', argument) : printSent(open, argument, position)]];
    }),
  );
}

/** A procedure takes a null for each value that it only gives. */
function missing({ arguments: args, returns }: FunctionDescriptor): readonly string[] {
  const names = new Set(args.map(({ name }) => name));
  const members = returns.kind === 'objects' ? returns.members : [];
  return members.filter(({ name }) => !names.has(name)).map(({ column }) => `${column} => NULL`);
}

function printSent(open: Printing, argument: ArgumentDescriptor, index: number): string {
  const value = open.statement.parameter({ kind: 'value', index }, argument.native);
  return argument.stored === undefined ? value : exactly(open, value, argument);
}

function printFixed(open: Printing, argument: ArgumentDescriptor, value: Operand): string {
  if (value.kind === 'literal' && value.value === null) return exactly(open, 'NULL', argument);
  const operand = operandType(argument);
  if (value.kind !== 'caller' || value.path.length === 0)
    return exactly(open, printValue(open.statement, operand, '_eq', value), argument);
  const path = printPath(open, value, () => false);
  return exactly(open, path?.expression ?? 'NULL', argument);
}

/** An argument in its exact type, which tells functions of one name apart; some values are read by an expression. */
function exactly({ statement }: Printing, expression: string, argument: ArgumentDescriptor): string {
  const isExpression = argument.stored?.includes('{}') === true;
  return statement.dialect.namesArguments || isExpression ? castStored(`(${expression})`, argument) : expression;
}
