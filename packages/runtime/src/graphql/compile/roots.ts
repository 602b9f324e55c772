/** Facts that all root fields are compiled from, and rows that they read. */
import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Caller } from '../../caller.ts';
import { PlatformError } from '../../errors.ts';
import type { Functions } from '../../functions/service.ts';
import type { GraphqlRoot } from '../../language/index.ts';
import type { Scope } from '../../sql/scope.ts';
import type { CreateConnection } from '../connections.ts';
import { createRead, type PrepareRead, type ReadSetting } from '../reads/item-read.ts';
import { type CollectedField, collectFields, type Sets } from './collect.ts';
import { type Compiling, compileSelection, constantOf, setsOf, unknownPart } from './compile-selection.ts';
import { compileArguments, type Input, type Variables } from './input.ts';

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

/** A root field that is compiled. */
export interface CompiledField<Source> {
  /** Response name. */
  readonly key: string;
  readonly nodes: readonly FieldNode[];
  /** True if a failure makes only the field null, and not the whole data. */
  readonly nullable: boolean;
  readonly source: Source;
}

/** Parts of an answer that no request decides. */
export type FixedSource =
  | { readonly kind: 'constant'; readonly json: string }
  /** An error that does not depend on variables. */
  | { readonly kind: 'failure'; readonly error: PlatformError };

/** Compiles the root fields that are selected; `fixedOf` gives those that the index of roots has not. */
export function compileRoots<Source>(
  to: CompilingRoots,
  type: GraphQLObjectType,
  sets: Sets,
  compile: (root: RootField, declared: GraphqlRoot) => Source,
  fixedOf: (type: GraphQLObjectType, field: CollectedField) => Source | FixedSource | undefined = constantOf,
): readonly CompiledField<Source | FixedSource>[] {
  return collectFields(to, type, sets).map((field) => {
    const { key, name, nodes } = field;
    const root = to.roots.get(name);
    const declared = type.getFields()[name];
    const sourceOf = (): Source | FixedSource => {
      if (root === undefined || declared === undefined) return fixedOf(type, field) ?? unknownPart(field);
      try {
        const inputs = compileArguments(nodes[0], declared.args);
        return compile({ to, field, inputs, type: getNamedType(declared.type) }, root);
      } catch (error) {
        if (error instanceof PlatformError) return { kind: 'failure', error };
        throw error;
      }
    };
    return { key, nodes, nullable: !isNonNullType(declared?.type), source: sourceOf() };
  });
}

/** Makes what prepares the read of the items that a root field selects. */
export function createItemsRead(
  { to, field, type }: RootField<GraphQLObjectType>,
  read: Omit<Parameters<typeof createRead>[2], 'selection' | 'lists'>,
): PrepareRead {
  const lists: Compiling['lists'] = [];
  const selection = compileSelection({ ...to, lists }, type, setsOf(field));
  return createRead(to, nameOf({ to, field }), { ...read, selection, lists });
}

/** Stands for the read of a root field among all plans. */
export function nameOf({ to, field }: Pick<RootField, 'to' | 'field'>): string {
  return `${to.name} ${field.key}`;
}
