/** Runs compiled operations: the heart of `/graphql`. Source: API specification, section 14.1. */
import type { CompiledApi } from '../language/index.ts';
import { createPopulationTest } from '../query/unpopulated.ts';
import { createOperationCompiler, type OperationCompilerOptions } from './compile/compile-operations.ts';
import type { OperationRunner } from './documents/operation.ts';
import { planStatements } from './plan/plan-statements.ts';
import { type MutationSetting, runMutation } from './run-mutation.ts';
import { type FindPopulated, type QuerySetting, readItem, runQuery } from './run-query.ts';

/** Options for running operations. */
export interface OperationRunnerOptions extends OperationCompilerOptions, QuerySetting, MutationSetting {
  readonly api: CompiledApi;
}

/** Makes the runner of an API. */
export function createOperationRunner(options: OperationRunnerOptions): OperationRunner {
  const { compile, compiledOf } = createOperationCompiler(options);
  const isPopulationError = createPopulationTest(options.api);
  const mutating: MutationSetting = {
    ...options,
    async service(field, call) {
      const result = await options.service(field, call);
      const key: unknown = field.itemOf && JSON.parse(result.json.toString());
      return typeof key === 'number' && field.itemOf !== undefined
        ? { ...result, json: await readItem(options, field.itemOf(String(key)), call) }
        : result;
    },
  };
  return {
    compile,
    plan: (operation, variables) => planStatements(compiledOf(operation), variables),
    run(operation, call) {
      const found = compiledOf(operation);
      const { variables } = call;
      if (found.kind === 'mutation') return runMutation(mutating, found.fieldsOf(variables), call, found.scope);
      const notPopulated: FindPopulated = (source, error) => {
        if (!isPopulationError(source.collection, error)) return undefined;
        const fields = found.emptied(source.collection, variables);
        const other = fields.find(({ key }) => key === source.key)?.source;
        return other?.kind === 'rows' ? other : undefined;
      };
      return runQuery(options, notPopulated, found.fieldsOf(variables), call);
    },
  };
}
