/** Values that are worked out once, and then kept. */

/** Works something out when it is first asked for. */
export function once<Value>(work: () => Value): () => Value {
  let done: { readonly value: Value } | undefined;
  return () => {
    done ??= { value: work() };
    return done.value;
  };
}

/** Values by keys: a map, a weak one, or a cache that forgets some. */
interface Kept<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** The value of a key, made where there is none yet. */
export function findOrCreate<Key, Value>(kept: Kept<Key, Value>, key: Key, create: (key: Key) => Value): Value {
  const found = kept.get(key);
  if (found !== undefined) return found;
  const created = create(key);
  kept.set(key, created);
  return created;
}

/** Derives a value of an object once, and keeps it for as long as there is the object. */
export function derivedOnce<From extends WeakKey, Value>(derive: (from: From) => Value): (from: From) => Value {
  const derived = new WeakMap<From, Value>();
  return (from) => {
    const found = derived.get(from);
    if (found !== undefined) return found;
    const value = derive(from);
    derived.set(from, value);
    return value;
  };
}

/** Reads each document once, as they are requested often; a failed read is repeated. */
export function readOnce<Value>(read: (name: string) => Promise<Value>): (name: string) => Promise<Value> {
  const documents = new Map<string, Promise<Value>>();
  return (name) =>
    findOrCreate(documents, name, () => {
      const document = read(name);
      document.catch(() => documents.delete(name));
      return document;
    });
}
