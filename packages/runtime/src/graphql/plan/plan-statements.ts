/** The statements of an operation before anybody asks it. */
import { PlatformError } from '../../errors.ts';
import type { CompiledOperation } from '../compile/compile-operations.ts';
import type { Variables } from '../compile/input.ts';
import type { PlannedField } from '../documents/operation.ts';

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
