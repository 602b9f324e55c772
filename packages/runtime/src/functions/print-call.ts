/** SQL of a call: the function with its arguments by name. */
import { castStored } from '../dialects/fragment.ts';
import type { ArgumentDescriptor, FunctionAccess, FunctionDescriptor, Operand } from '../language/index.ts';
import { printPath } from '../sql/caller-path.ts';
import { operandType, printValue } from '../sql/operand.ts';
import type { Printing } from '../sql/row.ts';
import type { DecodedArguments } from './arguments.ts';

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

/**
 * Prints a call; the values of the caller stand at `index` in the order of `valuesOf`. `open` is the scope in which values
 * of the caller are looked up.
 */
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
export function printArguments(
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

/** Where arguments have names, their types tell functions of one name apart; some values are read by an expression. */
function exactly({ statement }: Printing, expression: string, argument: ArgumentDescriptor): string {
  const isExpression = argument.stored?.includes('{}') === true;
  return statement.dialect.namesArguments || isExpression ? castStored(`(${expression})`, argument) : expression;
}
