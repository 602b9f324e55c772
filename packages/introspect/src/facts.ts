import type { DeclaredModel } from '@tablewright/runtime/language';
import type { Diagnostic } from './diagnostic.ts';
import type { Routine, Schema } from './schema.ts';

/** Facts of a database before the configuration is applied: the input of `resolveSchema`. */
export interface SchemaFacts extends Pick<Schema, 'tables' | 'enums'> {
  /** Server that the facts are of; `defaultDialect` when absent. */
  readonly dialect?: Schema['dialect'];
  /** Functions and procedures, sorted by signature; absent where they are not read. */
  readonly routines?: readonly Routine[];
  /** The model as the platform's own tables declare it; absent or null where they declare nothing or are not read. */
  readonly model?: DeclaredModel | null;
  /** Findings about facts that were left out or simplified. */
  readonly diagnostics: readonly Diagnostic[];
}
