import type { FieldDescriptor } from '../language/index.ts';
import type { JsonKind } from '../language/operators/definition.ts';

/** A path into JSON while it is printed. */
export interface JsonPath {
  /** One per level. */
  readonly segments: readonly string[];
  /** A placeholder for the path, or what the type `native` makes of it. */
  take(native: string): string;
}

/** Predicates that look for elements in a container: all of a list, or any of it. */
export interface Container {
  /** The list of one value, as an expression of the container's type. */
  readonly one: (value: string) => string;
  readonly all: (list: string) => string;
  readonly any: (list: string) => string;
  /** A predicate that is null where the container is none; then its negation does not hold either. */
  readonly guarded: (predicate: string) => string;
}

/** Differences between servers where comparisons look into JSON. */
export interface JsonDialect {
  /** The cell of a field as functions take it; null where they cannot. */
  document(cell: string, field: FieldDescriptor): string;
  /** The JSON at a path, null where nothing is. */
  at(document: string, path: JsonPath): string;
  /** A value that is null where nothing is at a path, or JSON's null. */
  presence(document: string, path: JsonPath): string;
  /** The value at a path, as what it is compared as; null where it is of another kind. */
  scalar(document: string, path: JsonPath, kind: JsonKind): string;
  /** An array as a container; `alias` gives names that no other part of the statement has. */
  container(document: string, alias: () => string): Container;
}

/**
 * True if a segment of a path names an element where it meets an array. It is a number, which counts from the end when
 * it is negative. Where it meets an object every segment is a key.
 */
export function isIndex(segment: string): boolean {
  return /^\s*[+-]?\d{1,10}$/.test(segment) && Math.abs(Number(segment)) < 2 ** 31;
}
