/**
 * Types of a project's own code as data: the input and output of its routes. Made of TypeScript when it is compiled.
 */

/** A value as JSON has it; `date` is a time in ISO 8601 there, and a `Date` in code. */
export type Shape =
  /** Anything that JSON can say. */
  | { readonly kind: 'json' }
  | { readonly kind: 'null' }
  | { readonly kind: 'string' }
  | { readonly kind: 'number' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'date' }
  | { readonly kind: 'literal'; readonly values: readonly (string | number | boolean)[] }
  | { readonly kind: 'array'; readonly of: Shape }
  | ObjectShape
  | { readonly kind: 'union'; readonly of: readonly Shape[] };

/** An object with these members and, with `rest`, any others of one shape. */
export interface ObjectShape {
  readonly kind: 'object';
  readonly members: readonly ShapeMember[];
  readonly rest?: Shape;
}

/** One member of an object. */
export interface ShapeMember {
  readonly name: string;
  readonly optional?: true;
  readonly shape: Shape;
}
