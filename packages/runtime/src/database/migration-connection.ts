/** A connection that migrations run on: their own, of a role that may create tables. */
export interface MigrationConnection {
  /** Runs one statement; values in text form. */
  query(text: string, parameters: readonly (string | null)[]): Promise<readonly (readonly (string | null)[])[]>;
  /** Runs several statements without parameters; one at a time on MySQL and MariaDB. */
  script(text: string): Promise<void>;
  /** SQL dialect; PostgreSQL when absent. */
  readonly family?: 'postgres' | 'mysql';
}
