/** Compiles operations: the parts that hold for every request. Source: API specification, section 14.1. */

import { type GraphQLObjectType, OperationTypeNode } from 'graphql';
import { invalidQuery } from '../../errors.ts';
import { createFunctions, type Functions } from '../../functions/service.ts';
import { type CompiledApi, type GraphqlRoot, type GraphqlScope, indexGraphql } from '../../language/index.ts';
import { graphqlServiceRoots } from '../../language/operations/index.ts';
import { type BoundedCache, type CreateCache, createEmpty } from '../../language/values/bounded-cache.ts';
import { findOrCreate } from '../../language/values/once.ts';
import { defaultReadLimits } from '../../query/parse/parse-read.ts';
import type { ReadLimits } from '../../query/parse/request.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import type { ReadPass } from '../../query/plan/plan-read.ts';
import { createPlanner } from '../../query/planner.ts';
import { accessOf, buildOpenScope, buildScope, type Scope, withoutRows } from '../../sql/scope.ts';
import type { Operation, OperationSource } from '../documents/operation.ts';
import type { PreparedRead } from '../reads/item-read.ts';
import { collectFields, collectingAll, createVariants, type Variant } from './collect.ts';
import { compileMutation, type MutationField } from './compile-mutation.ts';
import { compileQuery, type QueryField } from './compile-query.ts';
import { unknownName } from './compile-selection.ts';
import type { Variables } from './input.ts';
import type { CompilingRoots } from './roots.ts';

export interface OperationCompilerOptions {
  readonly api: Pick<CompiledApi, 'collections' | 'access' | 'dialect' | 'functions'>;
  /** Functions of the database. Default: none can be called. */
  readonly functions?: Functions;
  /** Limits of lists and filters. Default: those of the API specification, section 16. */
  readonly limits?: Partial<ReadLimits>;
  /** Default: nothing is kept. */
  readonly createCache?: CreateCache;
  /** Complete planned reads. Default: none. */
  readonly passes?: readonly ReadPass[];
}

interface ClassSetting extends Pick<CompilingRoots, 'accessClass' | 'functions'> {
  readonly scope: Scope;
  readonly plans: BoundedCache<ReadPlan>;
  readonly reads: BoundedCache<PreparedRead>;
  readonly passes: readonly ReadPass[];
}

/** A compiled operation: its root fields, as the conditions of a request leave them. */
export type CompiledOperation =
  | {
      readonly kind: 'query';
      readonly fieldsOf: (variables: Variables) => readonly QueryField[];
      /** The same over a collection that has no rows. */
      readonly emptied: (collection: string, variables: Variables) => readonly QueryField[];
    }
  | {
      readonly kind: 'mutation';
      readonly scope: GraphqlScope;
      readonly fieldsOf: (variables: Variables) => readonly MutationField[];
    };

/** Compiles operations, and gives what it made of them. */
export class OperationCompiler {
  readonly #api: OperationCompilerOptions['api'];
  readonly #createCache: CreateCache;
  readonly #passes: readonly ReadPass[];
  readonly #limits: ReadLimits;
  readonly #index: ReturnType<typeof indexGraphql>;
  readonly #open: ReturnType<typeof buildOpenScope>;
  readonly #functions: Functions;
  readonly #classes = new Map<string, ClassSetting>();
  readonly #compiled = new WeakMap<Operation, CompiledOperation>();
  #count = 0;

  constructor({ api, createCache = createEmpty, passes = [], ...options }: OperationCompilerOptions) {
    const limits: ReadLimits = { ...defaultReadLimits, ...options.limits };
    const none = { returning: () => null };
    this.#api = api;
    this.#createCache = createCache;
    this.#passes = passes;
    this.#limits = limits;
    this.#index = indexGraphql(api.collections, graphqlServiceRoots, api.functions);
    this.#open = buildOpenScope(api);
    this.#functions =
      options.functions ?? createFunctions({ api, planner: createPlanner(api, { limits }), writer: none, limits });
  }

  compile(source: OperationSource): Operation {
    const { document, operation, schema } = source;
    const kind = operation.operation === OperationTypeNode.MUTATION ? 'mutation' : 'query';
    const type = kind === 'query' ? schema.schema.getQueryType() : schema.schema.getMutationType();
    if (!type) throw unknownName(operation.operation);
    const fields = collectFields(collectingAll(document, schema.schema), type, [operation.selectionSet]);
    const names = fields.map(({ name }) => name);
    const roots = this.#index.roots[schema.scope][kind];
    const services = names.filter((name) => roots.get(name)?.operation === 'service');
    if (kind === 'mutation') refuseMixed(names, services);
    const made: Operation = {
      kind,
      rootFields: fields.length,
      collections: [...new Set(names.flatMap((name) => collectionsOf(roots.get(name))))],
      keepable: kind === 'mutation' && !services.some((name) => holdsSecrets.test(name)),
    };
    this.#compiled.set(
      made,
      kind === 'query' ? this.#compileQueries(source, type) : this.#compileMutations(source, type),
    );
    return made;
  }

  /** Throws for an operation of another compiler. */
  compiledOf(operation: Operation): CompiledOperation {
    const found = this.#compiled.get(operation);
    if (found === undefined) throw new Error('The operation was compiled by another compiler.');
    return found;
  }

  #classOf(name: string): ClassSetting {
    return findOrCreate(this.#classes, name, () => {
      const scope = buildScope(this.#api, accessOf(this.#api, name), this.#open);
      const reads = { ...keptReads(this.#createCache), passes: this.#passes };
      return { accessClass: name, functions: this.#functions, scope, ...reads };
    });
  }

  #settingOf(source: OperationSource, classSetting: ClassSetting, kind: 'query' | 'mutation') {
    const name = `${this.#count++}`;
    const index = this.#index;
    const limits = this.#limits;
    const open = this.#open;
    const roots = index.roots[source.schema.scope][kind];
    return ({ collecting, name: variant }: Variant): CompilingRoots => {
      return { ...classSetting, ...collecting, index, limits, roots, open, name: `${name} ${variant}` };
    };
  }

  #compileQueries(source: OperationSource, type: GraphQLObjectType): CompiledOperation {
    const classSetting = this.#classOf(source.schema.accessClass);
    const sets = [source.operation.selectionSet];
    const setting = this.#settingOf(source, classSetting, 'query');
    return {
      kind: 'query',
      fieldsOf: createVariants(source, (variant) => compileQuery(setting(variant), type, sets)),
      emptied: (collection, variables) => {
        const scope = withoutRows(classSetting.scope, collection);
        const without = { ...classSetting, scope, ...keptReads(createEmpty) };
        const other = this.#settingOf(source, without, 'query');
        return createVariants(source, (variant) => compileQuery(other(variant), type, sets))(variables);
      },
    };
  }

  #compileMutations(source: OperationSource, type: GraphQLObjectType): CompiledOperation {
    const { accessClass, scope } = source.schema;
    const setting = this.#settingOf(source, this.#classOf(accessClass), 'mutation');
    const sets = [source.operation.selectionSet];
    const fieldsOf = createVariants(source, (variant) => compileMutation(setting(variant), type, sets));
    return { kind: 'mutation', scope, fieldsOf };
  }
}

function keptReads(createCache: CreateCache): Pick<ClassSetting, 'plans' | 'reads'> {
  return { plans: createCache<ReadPlan>('reads'), reads: createCache<PreparedRead>('graphql') };
}

/** The collection of a root field; none for one of a service, and for `__typename`. */
function collectionsOf(root: GraphqlRoot | undefined): readonly string[] {
  if (root === undefined || root.operation === 'service') return [];
  if (root.operation !== 'function') return [root.collection.name];
  const { returns } = root.function;
  return returns.kind === 'items' ? [returns.collection] : [];
}

/** Root fields whose answers are not kept. Source: API specification, section 17. */
const holdsSecrets = /^(?:auth_|users_invite_accept$|users_me_tfa_)/;

/** A mutation outside the transaction of an operation cannot be rolled back with it, so it must be the only one. */
function refuseMixed(names: readonly string[], services: readonly string[]): void {
  const apart = services.filter((name) => name !== 'update_users_me');
  const others = names.filter((name) => name !== '__typename');
  if (apart.length === 0 || others.length === 1) return;
  throw invalidQuery(`"${apart[0]}" must be the only mutation of its operation.`);
}
