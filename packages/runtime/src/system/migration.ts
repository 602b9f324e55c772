import { hash } from 'node:crypto';

/**
 * One step of the platform's own tables. Once it is released its `up` never changes: databases remember its checksum.
 *
 * Names in the SQL are unqualified. It runs with the schema of the tables alone on the search path, so the text is the
 * same wherever they lie.
 */
export interface Migration extends MigrationTexts {
  /** Counted from 1, without gaps. */
  readonly id: number;
  /** For people: `accounts`. */
  readonly name: string;
  /** The same for servers that commit every statement that makes a table; absent: the step is not for them. */
  readonly steps?: StepMigration;
}

/** Texts of a step where tables are made in transactions. */
export interface MigrationTexts {
  /** Statements that make the step, starting from the state after the migrations before. */
  readonly up: string;
  /** Statements that undo it, with all that is in its tables. */
  readonly down: string;
}

/**
 * A migration where every statement that makes a table is committed at once. Each statement therefore does nothing if it was run before, and an interrupted migration is run again from the start.
 *
 * `{uuid}` stands for the type of keys, `{table}` for engine and collation. Keys are not checked meanwhile, so tables
 * may refer to each other in any order.
 */
export interface StepMigration {
  readonly up: readonly string[];
  /** The tables that it makes, and undoing it drops. A step without tables is not undone. */
  readonly tables: readonly string[];
}

/** SHA-256 of a migration's statements, hexadecimal. `down` is not part of it, because databases do not store it. */
export function checksumOf({ up }: Pick<Migration, 'up'>): string {
  return hash('sha256', up);
}

/** The same for its statements in steps, as they stand here. */
export function stepChecksumOf({ up }: Pick<StepMigration, 'up'>): string {
  return hash('sha256', up.join(';\n'));
}
