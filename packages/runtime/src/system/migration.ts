import { hash } from 'node:crypto';

/**
 * One step of the platform's own tables. Once it is released its `up` never changes: databases remember its checksum.
 *
 * Names in the SQL are unqualified: it runs with the schema of the tables alone on the search path, so the text is the
 * same wherever they lie.
 */
export interface Migration {
  /** Counted from 1, without gaps. */
  readonly id: number;
  /** For people: `accounts`. */
  readonly name: string;
  /** Statements that make the step, from what the migrations before left. */
  readonly up: string;
  /** Statements that undo it, with all that is in its tables. */
  readonly down: string;
}

/** SHA-256 of what a migration runs, hexadecimal. `down` is not part of it: databases do not remember it. */
export function checksumOf({ up }: Pick<Migration, 'up'>): string {
  return hash('sha256', up);
}
