/** Compiles operations and runs them: the heart of `/graphql`. Source: API specification, section 14. */
import { type GraphQLObjectType, OperationTypeNode } from 'graphql';
import { type CompiledApi, indexGraphql } from '../contract/index.ts';
import type { Database } from '../database/database.ts';
import { createUnpopulatedTest } from '../http/unpopulated.ts';
import { defaultReadLimits, type ReadLimits } from '../query/parse-read.ts';
import type { ReadPlan } from '../query/plan.ts';
import { createPlanCache, type PlanCache } from '../query/plan-cache.ts';
import { buildOpenScope, buildScope, type Scope, withoutRows } from '../query/scope.ts';
import { collectFields } from './collect.ts';
import { type CompilingRoots, compileQuery, type QueryField, type RowSource } from './compile-query.ts';
import { unknownName } from './compile-selection.ts';
import type { Variables } from './input.ts';
import type { Operation, OperationRunner, OperationSource } from './operation.ts';
import { type QuerySetting, runQuery } from './run-query.ts';
import { collectingAll, createVariants, type Variant } from './variants.ts';

/** What running operations needs. */
export interface OperationRunnerOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'read'>;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly gate: (statement: string) => void;
  /** Limits of lists and filters. Default: those of the API specification, section 16. */
  readonly limits?: Partial<ReadLimits>;
  /** Plans kept per access class. Default 1,000. */
  readonly plans?: number;
  /** Gives the value of a root field that is no collection's. */
  readonly service: QuerySetting['service'];
}

/** What is kept for one access class. */
interface ClassSetting {
  readonly scope: Scope;
  readonly plans: PlanCache<ReadPlan>;
}

/** What a compiled operation is run from. */
interface Compiled {
  readonly fieldsOf: (variables: Variables) => readonly QueryField[];
  /** The same over a collection that has no rows. */
  readonly emptied: (collection: string, variables: Variables) => readonly QueryField[];
}

/** Makes the runner of an API. */
export function createOperationRunner(options: OperationRunnerOptions): OperationRunner {
  const { api, plans = 1_000, database, gate, service } = options;
  const limits: ReadLimits = { ...defaultReadLimits, ...options.limits };
  const index = indexGraphql(api.collections);
  const isUnpopulated = createUnpopulatedTest(api);
  const open = buildOpenScope(api);
  const classes = new Map<string, ClassSetting>();
  const compiled = new WeakMap<Operation, Compiled>();
  let operations = 0;

  function classOf(name: string): ClassSetting {
    const known = classes.get(name);
    if (known !== undefined) return known;
    const access = api.access.find((candidate) => candidate.name === name);
    if (access === undefined) throw new Error(`there is no access class "${name}"`);
    const made = { scope: buildScope(api, access, open), plans: createPlanCache<ReadPlan>(plans) };
    classes.set(name, made);
    return made;
  }

  function compileQueries(source: OperationSource, type: GraphQLObjectType): Compiled {
    const { accessClass, scope } = source.schema;
    const own = classOf(accessClass);
    const name = `${operations++}`;
    const roots = index.roots[scope].query;
    const compile = (to: ClassSetting, { collecting, name: variant }: Variant): readonly QueryField[] => {
      const setting: CompilingRoots = { ...to, ...collecting, index, limits, roots, name: `${name} ${variant}` };
      return compileQuery(setting, type, [source.operation.selectionSet]);
    };
    return {
      fieldsOf: createVariants(source, (variant) => compile(own, variant)),
      emptied(collection, variables) {
        const without = { scope: withoutRows(own.scope, collection), plans: createPlanCache<ReadPlan>(1) };
        return createVariants(source, (variant) => compile(without, variant))(variables);
      },
    };
  }

  return {
    compile(source) {
      const { document, operation, schema } = source;
      const query = operation.operation === OperationTypeNode.QUERY;
      const type = query ? schema.schema.getQueryType() : schema.schema.getMutationType();
      if (!type) throw unknownName(operation.operation);
      const fields = collectFields(collectingAll(document, schema.schema), type, [operation.selectionSet]);
      const made: Operation = {
        kind: query ? 'query' : 'mutation',
        rootFields: fields.length,
        introspects: fields.some(({ name }) => name === '__schema' || name === '__type'),
        keepable: false,
      };
      compiled.set(made, compileQueries(source, type));
      return made;
    },
    async run(operation, call) {
      const found = compiled.get(operation);
      if (found === undefined) throw new Error('The operation was compiled by somebody else.');
      const { variables } = call;
      function unpopulated(source: RowSource, error: unknown): RowSource | undefined {
        if (!isUnpopulated(source.collection, error)) return undefined;
        const fields = found?.emptied(source.collection, variables) ?? [];
        const other = fields.find(({ key }) => key === source.key)?.source;
        return other?.kind === 'rows' ? other : undefined;
      }
      const body = await runQuery({ database, gate, service, unpopulated }, found.fieldsOf(variables), call);
      return { body, headers: [] };
    },
  };
}
