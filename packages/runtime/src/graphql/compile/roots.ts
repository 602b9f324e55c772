/** Facts that all root fields are compiled from, and rows that they read. */
import { type GraphQLNamedType, type GraphQLObjectType, isObjectType } from 'graphql';
import type { Caller } from '../../caller.ts';
import type { Functions } from '../../functions/service.ts';
import type { GraphqlRoot } from '../../language/index.ts';
import type { Scope } from '../../sql/scope.ts';
import type { CreateConnection } from '../connections.ts';
import { createRead, type PrepareRead, type ReadSetting } from '../reads/item-read.ts';
import type { CollectedField } from './collect.ts';
import type { Compiling } from './compile-selection.ts';
import type { Input, Variables } from './input.ts';

/** Rows of a collection. `keys` are the values of one item's key, which must be there. */
export interface RowSource {
  readonly kind: 'rows';
  /** Response name. */
  readonly key: string;
  readonly collection: string;
  readonly prepare: PrepareRead;
  readonly keys: ((variables: Variables, caller: Caller) => readonly string[]) | null;
  /** Collects the rows of a page. Default: they are a list, or one item. */
  readonly collect?: CreateConnection;
  /** Set where the rows are those of a function: throws FORBIDDEN for a caller who may not call it. */
  readonly called?: (caller: Caller) => void;
}

/** Context in which the root fields of an operation are compiled. */
export interface CompilingRoots extends Omit<Compiling, 'lists'>, ReadSetting {
  /** Stands for this operation, as these conditions leave it, among all. */
  readonly name: string;
  readonly roots: ReadonlyMap<string, GraphqlRoot>;
  readonly accessClass: string;
  readonly functions: Functions;
  /** The scope in which everything can be named: keys of items that can be written and not read. */
  readonly open: Scope;
}

/** A root field that is being compiled, with its arguments and the type of its answer. */
export interface RootField<Type extends GraphQLNamedType = GraphQLNamedType> {
  readonly to: CompilingRoots;
  readonly field: CollectedField;
  readonly inputs: ReadonlyMap<string, Input>;
  readonly type: Type;
}

export function givesObjects(root: RootField): root is RootField<GraphQLObjectType> {
  return isObjectType(root.type);
}

export function createRootRead({ to, field }: RootField, read: Parameters<typeof createRead>[2]): PrepareRead {
  return createRead(to, `${to.name} ${field.key}`, read);
}
