/** Pages of connections: `first` items after a cursor, or the `last` ones before one. Source: docs/graphql-connections.md. */
import { invalidQuery } from '../../errors.ts';
import { type Cursor, readPosition } from '../../query/parse/cursor.ts';
import { type Input, inputValue, type Variables } from '../compile/input.ts';

/** Items of a page at most, where QUERY_LIMIT_MAX allows as many. */
const maxItems = 1000;

/** A page of a list. */
export interface ConnectionPage {
  readonly limit: number;
  readonly cursor: Cursor;
}

/** Reads the page from the arguments of a connection. Throws INVALID_QUERY for one that is none. */
export function readPage(
  inputs: ReadonlyMap<string, Input>,
  variables: Variables,
  maxLimit: number = maxItems,
): ConnectionPage {
  const argument = (name: string): unknown => {
    const input = inputs.get(name);
    return input === undefined ? null : (inputValue(input, variables) ?? null);
  };
  const [first, after, last, before] = ['first', 'after', 'last', 'before'].map(argument);
  if ((first === null) === (last === null)) throw invalidQuery('A connection needs one of "first" and "last".');
  if (first === null && after !== null) throw invalidQuery('"after" stands beside "first".');
  if (last === null && before !== null) throw invalidQuery('"before" stands beside "last".');
  const [name, size, position] = first === null ? ['last', last, before] : ['first', first, after];
  const limit = Math.min(maxItems, maxLimit);
  if (typeof size !== 'number' || size < 1 || size > limit) {
    throw invalidQuery(`"${String(name)}" must be a number from 1 to ${limit}.`);
  }
  const cursor = readPosition(typeof position === 'string' ? position : '');
  return { limit: size, cursor: first === null ? { ...cursor, back: true } : cursor };
}
