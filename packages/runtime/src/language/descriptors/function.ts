/** Functions and procedures of the database, as generated code states them. */
import type { Operand } from '../conditions/condition.ts';
import type { FieldDescriptor } from './collection.ts';

/** An argument; `column` is its quoted name. */
export interface ArgumentDescriptor
  extends Pick<
    FieldDescriptor,
    'name' | 'column' | 'type' | 'native' | 'stored' | 'values' | 'element' | 'attributes' | 'composite'
  > {
  /** Set where it has a default. */
  readonly optional?: true;
}

/** One value of a result. */
export type ResultMember = Pick<
  FieldDescriptor,
  'name' | 'column' | 'type' | 'native' | 'wire' | 'values' | 'element' | 'attributes' | 'composite'
>;

/** Result of a function; `many` is set for a list. */
export type FunctionResult =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'value'; readonly many?: true; readonly value: ResultMember }
  | { readonly kind: 'objects'; readonly many?: true; readonly members: readonly ResultMember[] }
  /** Rows of a collection's table: its readable items. */
  | { readonly kind: 'items'; readonly many?: true; readonly collection: string };

/** A function or procedure, everything quoted and ready for SQL. */
export interface FunctionDescriptor {
  /** API name. */
  readonly name: string;
  /** `"public"."nearest_shops"` */
  readonly routine: string;
  /** True if it only reads, so that GET calls it. */
  readonly reads: boolean;
  readonly procedure?: true;
  readonly arguments: readonly ArgumentDescriptor[];
  /** Names of all parameters of a procedure in their order, where calls do not name them. */
  readonly parameters?: readonly string[];
  readonly returns: FunctionResult;
}

/** The right of an access class to call a function, with the arguments that the server sets. */
export interface FunctionAccess {
  readonly function: string;
  readonly args?: readonly { readonly name: string; readonly value: Operand }[];
}
