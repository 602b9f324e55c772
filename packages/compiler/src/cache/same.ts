/** Plain data, sets among it, by value. */
import { findOrCreate } from '@tablewright/runtime/language';

/** True if two values are deeply equal. One object needs no look inside. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  if (Array.isArray(a)) return Array.isArray(b) && isSameList(a, b);
  if (a instanceof Set) return b instanceof Set && isSameList([...a], [...b]);
  if (Array.isArray(b) || b instanceof Set) return false;
  return isSameObject(a, b);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  // Identical elements need no call: most of them are names.
  for (let index = 0; index < a.length; index += 1)
    if (a[index] !== b[index] && !isSame(a[index], b[index])) return false;
  return true;
}

/** The order of names counts, too, because the printed order follows it. */
function isSameObject(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const [names, others] = [Object.keys(a), Object.keys(b)];
  if (names.length !== others.length) return false;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? '';
    if (name !== others[index]) return false;
    const [value, other] = [a[name], b[name]];
    if (value !== other && !isSame(value, other)) return false;
  }
  return true;
}

/** Gives one object for equal values of an owner, so that results are found again; the latest `maxValues` are kept. */
export function createInterning<Value extends object>(maxValues = 64): (owner: object, value: Value) => Value {
  const valuesOf = new WeakMap<object, Value[]>();
  return (owner, value) => {
    const values = findOrCreate(valuesOf, owner, () => []);
    const found = values.find((candidate) => isSame(candidate, value));
    if (found !== undefined) return found;
    values.unshift(value);
    values.length = Math.min(values.length, maxValues);
    return value;
  };
}

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
