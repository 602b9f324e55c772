/** The statements of the operations that are known beforehand: for people who want to see when one changes. */
import type { CompiledApi, KnownOperation } from '../../language/index.ts';
import type { PlannedField } from '../documents/operation.ts';

/** An operation with its planned statements. */
export interface PlannedOperation extends KnownOperation {
  /** Statements by response name, with all variables; null where they are not known before the first request. */
  readonly whole: readonly PlannedField[];
  /** The same without the variables that may be left out, where that makes a difference. */
  readonly least: readonly PlannedField[] | null;
}

/** Parts of an API that decide about statements. */
type PlannedApi = Pick<CompiledApi, 'collections' | 'access' | 'dialect' | 'graphql' | 'functions'>;

/** Plans operations as a server with the usual limits does; `texts` are their documents by hash. Loads graphql-js. */
export async function planOperations(
  api: PlannedApi,
  operations: readonly KnownOperation[],
  texts: Readonly<Record<string, string>>,
): Promise<readonly PlannedOperation[]> {
  const { graphql: read } = api;
  if (read === undefined || operations.length === 0) return [];
  const { parseKnown } = await import('../documents/check-document.ts');
  const { OperationCompiler } = await import('../compile/compile-operations.ts');
  const { createCoercion } = await import('../compile/input.ts');
  const { planSamples } = await import('./plan-samples.ts');
  const { planStatements } = await import('../run.ts');
  const { createSchemas } = await import('../documents/schemas.ts');
  const findSchema = createSchemas(read);
  const compiler = new OperationCompiler({ api });
  return Promise.all(
    operations.map(async (entry) => {
      const schema = await findSchema(entry.accessClass, entry.scope);
      const { document, operation } = parseKnown(texts[entry.hash] ?? '');
      const compiled = compiler.compiledOf(compiler.compile({ schema, document, operation }));
      const coerce = createCoercion(schema.schema, operation);
      const plan = (variables: Parameters<typeof planStatements>[1]) => planStatements(compiled, variables);
      return { ...entry, ...planSamples(schema.schema, operation, coerce, plan) };
    }),
  );
}
