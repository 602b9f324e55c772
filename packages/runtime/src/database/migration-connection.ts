import type { Family } from '../language/index.ts';

/** A connection that migrations run on: their own, of a role that may create tables. */
export interface MigrationConnection {
  /** Runs one statement; values in text form. */
  query(text: string, parameters: readonly (string | null)[]): Promise<readonly (readonly (string | null)[])[]>;
  /** Runs statements without parameters: several where the server takes them as one text. */
  script(text: string): Promise<void>;
  /** SQL dialect; that of `defaultDialect` when absent. */
  readonly family?: Family;
}
