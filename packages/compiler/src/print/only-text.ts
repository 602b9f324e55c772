/** Parts of documents of which nothing but their text is known. */
import type { Chunk } from './chunks.ts';

type Members = Readonly<Record<string, never>>;

/** Stands for an object of which only the text at one indentation is known. It can be printed there, and nothing else. */
export function onlyText(text: Chunk, indent: number): Members {
  const value = new Proxy({}, opaque);
  texts.set(value, { text, indent });
  return value;
}

const texts = new WeakMap<object, { readonly text: Chunk; readonly indent: number }>();

/** True if only the text of an object is known. */
export function isText(value: object): boolean {
  return texts.has(value);
}

/** The text of such an object. */
export function textOf(value: object, indent: number): Chunk {
  const cached = texts.get(value);
  if (cached === undefined || cached.indent !== indent) return refuse();
  return cached.text;
}

function refuse(): never {
  throw new Error('This part of a document has only its text, which is kept elsewhere.');
}

const opaque: ProxyHandler<Members> = {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getOwnPropertyDescriptor: refuse,
};

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
