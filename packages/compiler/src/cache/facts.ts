/** Memoizes facts that follow from one object, from two, or from a list of names, and nothing else. */

import { isSame } from './same.ts';

/** Makes a cache of what follows from one object, for as long as there is the object. */
export function createFacts<Of extends object, Fact extends object>(): (key: Of, find: () => Fact) => Fact {
  const facts = new WeakMap<Of, Fact>();
  return (key, find) => {
    const fact = facts.get(key) ?? find();
    facts.set(key, fact);
    return fact;
  };
}

/** Makes a cache of what follows from two, for as long as there are both. */
export function createFactsOfTwo<Of extends object, And extends object, Fact extends object>(): (
  key: Of,
  and: And,
  find: () => Fact,
) => Fact {
  const facts = createFacts<Of, ReturnType<typeof createFacts<And, Fact>>>();
  return (key, and, find) => facts(key, () => createFacts<And, Fact>())(and, find);
}

/** Number of lists of names, the latest, for which facts are kept. */
const maxLists = 16;

/** Makes a cache of what follows from a list of names. */
export function createFactsOfNames<Fact>(): (names: readonly string[], find: () => Fact) => Fact {
  const kept: { readonly names: readonly string[]; readonly fact: Fact }[] = [];
  return (names, find) => {
    const found = kept.find((entry) => isSame(entry.names, names));
    if (found !== undefined) return found.fact;
    const fact = find();
    kept.unshift({ names, fact });
    kept.length = Math.min(kept.length, maxLists);
    return fact;
  };
}
