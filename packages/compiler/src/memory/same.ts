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
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at] && !isSame(a[at], b[at])) return false;
  return true;
}

/** The order of names counts, too, because the printed order follows it. */
function isSameObject(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const [names, others] = [Object.keys(a), Object.keys(b)];
  if (names.length !== others.length) return false;
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] ?? '';
    if (name !== others[at]) return false;
    const [one, other] = [a[name], b[name]];
    if (one !== other && !isSame(one, other)) return false;
  }
  return true;
}

/**
 * Gives one object for equal values, so that results of one are found again for another. Values belong to an owner and
 * are forgotten with it; the latest `most` of an owner are kept.
 */
export function createInterning<Value extends object>(most = 64): (owner: object, value: Value) => Value {
  const known = new WeakMap<object, Value[]>();
  return (owner, value) => {
    const values = known.get(owner) ?? [];
    known.set(owner, values);
    const found = values.find((one) => isSame(one, value));
    if (found !== undefined) return found;
    values.unshift(value);
    values.length = Math.min(values.length, most);
    return value;
  };
}
