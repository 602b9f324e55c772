/** Expressions of generated code: plain data, identifiers and calls. */

/**
 * An expression to print: plain data, in which `code`, `call` and what `createKept` gives may stand anywhere. Properties
 * keep their order; undefined ones are left out.
 */
export type Value = string | number | boolean | null | undefined | object;

/** An object of data. */
export type Data = Readonly<Record<string, Value>>;

/** Values that are no plain data: made by `code`, `call`, or `createKept`. */
abstract class Expression {}

/** Text of our own making. */
export class Code extends Expression {
  readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }
}

/** A call. */
export class Call extends Expression {
  readonly name: string;
  readonly of: readonly Value[];

  constructor(name: string, parameters: readonly Value[]) {
    super();
    this.name = name;
    this.of = parameters;
  }
}

/** An object of several properties, whose text on lines of its own is printed once. */
export class Kept extends Expression {
  readonly value: () => object;
  readonly texts: Map<number, string>;

  constructor(value: () => object, texts: Map<number, string>) {
    super();
    this.value = value;
    this.texts = texts;
  }
}

/** An identifier or other code of our own making. */
export function code(text: string): Value {
  return new Code(text);
}

/** A call of a function of the runtime. */
export function call(name: string, ...parameters: readonly Value[]): Value {
  return new Call(name, parameters);
}

/** Makes calls. */
export type MakeCall = typeof call;

/** Uses of the runtime in one file. */
export interface Calls {
  /** Names that the file imports. */
  readonly used: ReadonlySet<string>;
  readonly call: MakeCall;
  constant(name: string): Value;
}

/** Makes calls, and takes down the functions and constants that are used. */
export function createCalls(): Calls {
  const used = new Set<string>();
  return {
    used,
    call(name, ...parameters) {
      used.add(name);
      return call(name, ...parameters);
    },
    constant(name) {
      used.add(name);
      return code(name);
    },
  };
}

/** True if it is an object of data, whose properties stand for themselves. */
export function isData(value: object): value is Data {
  return !(value instanceof Expression) && !Array.isArray(value);
}

/** Gives objects of data an expression each, which always has several properties, and keeps what is printed of it with them. */
export function createKept<Data extends object>(create: (data: Data) => object): (data: Data) => Value {
  const texts = new WeakMap<Data, Map<number, string>>();
  return (source) => {
    const kept = texts.get(source) ?? new Map<number, string>();
    texts.set(source, kept);
    return new Kept(() => create(source), kept);
  };
}
