/** Runs compiled operations: the heart of `/graphql`. Source: API specification, section 14.1. */

import { PlatformError } from '../errors.ts';
import type { CompiledApi } from '../language/index.ts';
import { createPopulationTest } from '../query/planner.ts';
import {
  type CompiledOperation,
  OperationCompiler,
  type OperationCompilerOptions,
} from './compile/compile-operations.ts';
import type { Variables } from './compile/input.ts';
import type { OperationRunner, PlannedField } from './documents/operation.ts';
import { type MutationSetting, runMutation } from './run-mutation.ts';
import { type FindPopulated, type QuerySetting, readItem, runQuery } from './run-query.ts';

export interface OperationRunnerOptions extends OperationCompilerOptions, QuerySetting, MutationSetting {
  readonly api: CompiledApi;
}

export function createOperationRunner(options: OperationRunnerOptions): OperationRunner {
  const compiler = new OperationCompiler(options);
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
    compile: (source) => compiler.compile(source),
    plan: (operation, variables) => planStatements(compiler.compiledOf(operation), variables),
    run(operation, call) {
      const found = compiler.compiledOf(operation);
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

/** Plans what an operation reads with these variables, so that its plans are kept, and tells the statement of each root field. */
export function planStatements(compiled: CompiledOperation, variables: Variables): readonly PlannedField[] {
  if (compiled.kind === 'mutation') {
    return compiled.fieldsOf(variables).map(({ key, source }) => ({ key, kind: source.kind }));
  }
  return compiled.fieldsOf(variables).map(({ key, source }): PlannedField => {
    if (source.kind !== 'rows') return { key, kind: source.kind };
    try {
      return { key, kind: 'read', statement: source.prepare(variables).plan.statement.text };
    } catch (error) {
      // A value made up for a variable need not be one that the field can have.
      if (error instanceof PlatformError) return { key, kind: 'failure' };
      throw error;
    }
  });
}
