/** Texts of objects that stand in many places of documents: once they are printed they are kept. */

/** A kept text, and its position: text on one line is the same everywhere. */
export interface KeptText {
  text: string | null;
  indent: number;
  levels: number;
}

const kept = new WeakMap<object, KeptText>();

/** Keeps the text of an object that does not change any more; returns the object. */
export function keepText<Value extends object>(value: Value): Value {
  if (!kept.has(value)) kept.set(value, { text: null, indent: 0, levels: 0 });
  return value;
}

/** Where the text of an object is kept; undefined for most objects. */
export function keptTextOf(value: object): KeptText | undefined {
  return kept.get(value);
}
