import { invalidQuery } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import { parseTree } from './parse-parameters.ts';
import type { QueryTree } from './parse-query-string.ts';
import type { ReadLimits } from './request.ts';

/**
 * The form of `alias`: names of the answer, each with the name it stands for (API specification, 5.4). Neither has a dot,
 * and neither is a wildcard.
 */
export function parseAliases(tree: QueryTree, limits: ReadLimits): ReadonlyMap<string, string> {
  const value = parseTree(tree, 'alias')?.value;
  if (value === undefined) return new Map();
  if (!isObject(value)) throw invalidQuery('"alias" must be an object.');
  const entries = Object.entries(value);
  if (entries.length > limits.arrayLimit) throw invalidQuery('"alias" has too many elements.');
  return new Map(entries.map(([name, source]) => [checkName(name), checkName(source)]));
}

function checkName(name: unknown): string {
  const usable = typeof name === 'string' && name !== '' && name !== '*' && !name.includes('.');
  if (!usable) throw invalidQuery('"alias" takes names of one level, without dots.');
  return name;
}
