/** Calls of functions as addresses and bodies of SEARCH write them: arguments, and parameters of a query beside them. */
import type { Caller } from '../caller.ts';
import { invalidQuery, PlatformError } from '../errors.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../language/index.ts';
import { parameterNames, parseQueryString } from '../query/parse/parse-query-string.ts';
import { readBodyQuery } from '../query/parse/parse-read.ts';
import type { ReadLimits } from '../query/parse/request.ts';
import { readPathTexts } from '../query/parse/target.ts';
import type { PlannedRead } from '../query/planner.ts';
import { openArguments } from './arguments.ts';
import type { Callable, Functions } from './service.ts';

export const functionPath = '/functions/:name';

/** Name of the function that a path leads to; undefined for any other path. */
export function functionNamed(path: string): string | undefined {
  return path.startsWith('/functions/') ? readPathTexts(functionPath, path)?.get('name')?.[0] : undefined;
}

/** Plans a call by GET. Throws INVALID_QUERY for names that mean nothing. */
export function planGet(
  functions: Functions,
  caller: Caller,
  callable: Callable,
  query: string,
  limits: ReadLimits,
): PlannedRead {
  const args = openArguments(callable.descriptor, callable.access).map(({ name }) => name);
  refuseUnknown(query, new Set([...args, ...optionsOf(callable)]));
  const tree = new Map(parseQueryString(query, limits, new Set([...args, ...parameterNames])));
  const values = new Map<string, JsonValue>();
  for (const name of args) {
    const parameter = tree.get(name);
    if (parameter !== undefined) values.set(name, parameter.value);
    tree.delete(name);
  }
  return functions.read(caller, callable, { values, text: true }, tree);
}

export function planSearch(
  functions: Functions,
  caller: Caller,
  callable: Callable,
  body: JsonValue | undefined,
): PlannedRead {
  const { args = {}, query = {}, ...others } = objectIn(body, 'The body');
  const [other] = Object.keys(others);
  if (other !== undefined) throw new PlatformError('INVALID_PAYLOAD', 'The body takes "args" and "query".');
  const tree = readBodyQuery(query, new Set(optionsOf(callable)));
  const values = new Map(Object.entries(objectIn(args, '"args"')));
  return functions.read(caller, callable, { values, text: false }, tree);
}

/** Arguments by their names. Throws INVALID_PAYLOAD for anything but an object. */
export function argumentsIn(body: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  return objectIn(body, 'The arguments');
}

function objectIn(value: JsonValue | undefined, subject: string): Readonly<Record<string, JsonValue>> {
  if (value === undefined) return {};
  if (!isObject(value)) throw new PlatformError('INVALID_PAYLOAD', `${subject} must be an object.`);
  return value;
}

/** Parameters of a query beside the arguments. */
function optionsOf({ descriptor: { returns } }: Callable): readonly string[] {
  if (returns.kind === 'items') return [...parameterNames].filter((name) => !aggregates.has(name));
  return 'many' in returns && returns.many === true ? ['limit', 'offset', 'page'] : [];
}

const aggregates: ReadonlySet<string> = new Set(['aggregate', 'groupBy', 'having']);

function refuseUnknown(query: string, names: ReadonlySet<string>): void {
  for (const name of new URLSearchParams(query).keys()) {
    const [plain = ''] = name.split('[', 1);
    if (plain !== 'access_token' && !names.has(plain)) throw invalidQuery(`"${plain}" is not known here.`);
  }
}
