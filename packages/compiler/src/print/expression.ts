/** Expressions of generated code: plain data, identifiers and calls. */

/**
 * An expression to print: plain data, in which `code`, `call` and what `createKept` gives may stand anywhere. Properties
 * keep their order; undefined ones are left out.
 */
export type Value = string | number | boolean | null | undefined | object;

/** Text of our own making; made by `code`. */
export class Code {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A call; made by `call`. */
export class Call {
  readonly name: string;
  readonly of: readonly Value[];

  constructor(name: string, of: readonly Value[]) {
    this.name = name;
    this.of = of;
  }
}

/** An object of several properties, whose text on lines of its own is printed once; made by what `createKept` gives. */
export class Kept {
  readonly value: () => object;
  readonly texts: Map<number, string>;

  constructor(value: () => object, texts: Map<number, string>) {
    this.value = value;
    this.texts = texts;
  }
}

/** An identifier or other code of our own making. */
export function code(text: string): Value {
  return new Code(text);
}

/** A call of a function of the runtime. */
export function call(name: string, ...of: readonly Value[]): Value {
  return new Call(name, of);
}

/** Gives objects of data an expression each, which always has several properties, and keeps what is printed of it with them. */
export function createKept<Data extends object>(make: (data: Data) => object): (data: Data) => Value {
  const texts = new WeakMap<Data, Map<number, string>>();
  return (of) => {
    const own = texts.get(of) ?? new Map<number, string>();
    texts.set(of, own);
    return new Kept(() => make(of), own);
  };
}
