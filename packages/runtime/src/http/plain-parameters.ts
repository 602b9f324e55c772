/** Parameters of routes that take single values and no query of items. */

import { invalidQuery } from '../errors.ts';

/**
 * The texts of parameters by their names; other parameters mean nothing. Throws INVALID_QUERY for one that stands twice
 * or in brackets. The choice of one of several values would be a guess, and a proxy may guess another one.
 */
export function plainParameters(query: string, names: readonly string[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  if (query === '') return texts;
  for (const [name, text] of new URLSearchParams(query)) {
    const [plain = ''] = name.split('[', 1);
    if (!names.includes(plain)) continue;
    if (plain !== name || texts.has(plain)) throw invalidQuery(`"${plain}" takes one value.`);
    texts.set(plain, text);
  }
  return texts;
}
