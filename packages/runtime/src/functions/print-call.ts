/** SQL of a call: the function with its arguments by name. */
import type { ArgumentDescriptor, FunctionAccess, FunctionDescriptor, Operand } from '../language/index.ts';
import { printPath } from '../sql/caller-path.ts';
import { type OperandType, printValue } from '../sql/operand.ts';
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
export function printCall(open: Printing, { descriptor, access, sent }: RequestedCall, index: number): string {
  const fixed = new Map((access.args ?? []).map(({ name, value }) => [name, value]));
  let next = index;
  const printed = new Map([...sent].map(([name, value]) => [name, value === null ? null : next++] as const));
  const list = descriptor.arguments.flatMap((argument) => {
    const value = fixed.get(argument.name);
    if (value !== undefined) return [`${argument.column} => ${printFixed(open, argument, value)}`];
    const position = printed.get(argument.name);
    if (position === undefined) return [];
    return [
      `${argument.column} => ${position === null ? exactly('NULL', argument) : printSent(open, argument, position)}`,
    ];
  });
  const outputs = descriptor.procedure === true && descriptor.returns.kind === 'objects' ? missing(descriptor) : [];
  return `${descriptor.routine}(${[...list, ...outputs].join(', ')})`;
}

/** A procedure takes a null for each value that it only gives. */
function missing({ arguments: args, returns }: FunctionDescriptor): readonly string[] {
  const names = new Set(args.map(({ name }) => name));
  const members = returns.kind === 'objects' ? returns.members : [];
  return members.filter(({ name }) => !names.has(name)).map(({ column }) => `${column} => NULL`);
}

function printSent({ statement }: Printing, argument: ArgumentDescriptor, index: number): string {
  const value = statement.parameter({ kind: 'value', index }, argument.native);
  return argument.stored === undefined ? value : exactly(value, argument);
}

function printFixed(open: Printing, argument: ArgumentDescriptor, value: Operand): string {
  if (value.kind === 'literal' && value.value === null) return exactly('NULL', argument);
  const { type, native, values, element } = argument;
  const operand: OperandType = { type, native, ...(values && { values }), ...(element && { element }) };
  if (value.kind !== 'caller' || value.path.length === 0)
    return exactly(printValue(open.statement, operand, '_eq', value), argument);
  const path = printPath(open, value, () => false);
  return exactly(path?.expression ?? 'NULL', argument);
}

function exactly(expression: string, { native, stored = native }: ArgumentDescriptor): string {
  return `(${expression})::${stored}`;
}
