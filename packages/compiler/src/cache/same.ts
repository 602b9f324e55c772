/** Plain data, sets among it, by value. */

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

/**
 * Gives one object for equal values, so that results of one are found again for another. Values belong to an owner and
 * are forgotten with it; the latest `maxValues` of an owner are kept.
 */
export function createInterning<Value extends object>(maxValues = 64): (owner: object, value: Value) => Value {
  const valuesOf = new WeakMap<object, Value[]>();
  return (owner, value) => {
    const values = valuesOf.get(owner) ?? [];
    valuesOf.set(owner, values);
    const found = values.find((candidate) => isSame(candidate, value));
    if (found !== undefined) return found;
    values.unshift(value);
    values.length = Math.min(values.length, maxValues);
    return value;
  };
}
