/** Arguments of functions: from values of a request to the texts of parameters. */
import { type ErrorCode, PlatformError, together } from '../errors.ts';
import type { ArgumentDescriptor, FunctionAccess, FunctionDescriptor, JsonValue } from '../language/index.ts';
import { isTextual } from '../language/types/index.ts';
import { decodeValue } from '../language/values/values.ts';
import { readJson } from '../query/parse/keys.ts';

/** Values that a caller gives, by name; `text` tells that they are those of a query string. */
export interface SentArguments {
  readonly values: ReadonlyMap<string, JsonValue>;
  readonly text: boolean;
}

/** Texts of parameters by the names of the arguments; null is the null of SQL. */
export type DecodedArguments = ReadonlyMap<string, string | null>;

/** The arguments that callers give themselves: all but those that the server sets. */
export function openArguments(
  { arguments: args }: FunctionDescriptor,
  { args: fixed = [] }: FunctionAccess,
): readonly ArgumentDescriptor[] {
  const names = new Set(fixed.map(({ name }) => name));
  return args.filter(({ name }) => !names.has(name));
}

/** Decodes the values. Throws `code` with all that is unknown, missing or no value of its type. */
export function decodeArguments(
  args: readonly ArgumentDescriptor[],
  { values, text }: SentArguments,
  code: ErrorCode,
): DecodedArguments {
  const problems: string[] = [];
  const names = new Set(args.map(({ name }) => name));
  for (const name of values.keys()) if (!names.has(name)) problems.push(`"${name}" is no argument of this function.`);
  const decoded = new Map<string, string | null>();
  for (const argument of args) {
    const { name, optional } = argument;
    const value = values.get(name);
    if (value === undefined) {
      if (optional !== true) problems.push(`"${name}" is missing.`);
      continue;
    }
    const result = decodeValue(argument, text ? valueOfText(argument, value) : value);
    if (result.ok) decoded.set(name, result.value);
    else problems.push(`"${name}" ${result.message}.`);
  }
  const error = together(problems.slice(0, maxProblems).map((problem) => new PlatformError(code, problem)));
  if (error !== undefined) throw error;
  return decoded;
}

/** More problems than this are not listed; the first ones say enough. */
const maxProblems = 20;

/** A value of a query string: JSON, objects and arrays may be written as JSON, `null` means null unless the argument is text. */
function valueOfText({ type }: ArgumentDescriptor, value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  if (type === 'array' && !value.startsWith('[')) return value === '' ? [] : value.split(',');
  if (type === 'json' || type === 'composite' || type === 'array') return readJson(value);
  return value === 'null' && !isTextual(type) ? null : value;
}
