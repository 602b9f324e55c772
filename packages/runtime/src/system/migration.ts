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

/** Problems between the platform's own tables in a database and this version of the platform. */
export type MigrationProblem =
  /** The text of a migration that was applied is another one now. */
  | 'changed'
  /** The database has migrations that this version does not know. */
  | 'ahead'
  /** The role has no permission for a statement of a migration. */
  | 'forbidden'
  /** The database takes no writes. */
  | 'readOnly'
  /** Another transaction held a lock for too long. */
  | 'locked'
  /** Other tables refer to those that a migration would drop. */
  | 'needed'
  /** The database is not in UTF-8. */
  | 'encoding';

/** Error of a migration that is not a bug: the migration that it names has changed nothing, those before it stay. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  readonly problem: MigrationProblem;
  /** Action that solves the problem. */
  readonly hint: string;

  constructor(problem: MigrationProblem, message: string, hint: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
    this.hint = hint;
  }
}

/**
 * Converts errors of the database to advice; anything unforeseen stays as it is. `doing` ends a sentence: "apply …".
 */
export function toMigrationError(error: unknown, doing: string): unknown {
  if (!(error instanceof Error) || error instanceof MigrationError || !('code' in error)) return error;
  const reason = error.message.replace(/\.$/, '');
  switch (error.code) {
    case '42501': {
      const hint = 'Run it as a role with CREATE on the database (for the schema) and on the schema, or ask its owner.';
      return new MigrationError('forbidden', `The database role may not ${doing}: ${reason}.`, hint, error);
    }
    case '25006': {
      const hint = 'Connect to the primary server, as a role whose transactions may write.';
      return new MigrationError('readOnly', `The database cannot ${doing}: ${reason}.`, hint, error);
    }
    case '55P03': {
      const hint = 'Another process migrates, or a long transaction uses the tables. Try again when it has ended.';
      return new MigrationError('locked', `The database did not come to ${doing} in time: ${reason}.`, hint, error);
    }
    case '2BP01': {
      const hint = 'Drop the foreign keys and views that lead to the tables of the platform first.';
      return new MigrationError('needed', `The database cannot ${doing}: ${reason}.`, hint, error);
    }
    default:
      return error;
  }
}
