import type { DeclaredModel } from '@tablewright/runtime/contract';
import type { Diagnostic } from './diagnostic.ts';
import type { Schema } from './schema.ts';

/** What is read from a database, before the configuration has a say: the input of `resolveSchema`. */
export interface SchemaFacts extends Pick<Schema, 'tables' | 'enums'> {
  /** Server that the facts are of; PostgreSQL when absent. */
  readonly dialect?: Schema['dialect'];
  /** What the platform's own tables say about the model; absent or null where they say nothing or are not read. */
  readonly model?: DeclaredModel | null;
  /** What reading had to leave out or simplify. */
  readonly diagnostics: readonly Diagnostic[];
}
