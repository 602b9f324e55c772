/** Runs one statement and returns its rows as text values: how this package reaches a database. */
export type RunStatement = (
  sql: string,
  parameters: readonly (string | null)[],
) => Promise<readonly (readonly (string | null)[])[]>;

/** Which part of the database to read. */
export interface ReadOptions {
  /** Schemas to read; all that are not the server's own when absent. */
  readonly schemas?: readonly string[];
  /** Relations to serve, `name` or `schema.name` with `*` for any characters; all when absent. */
  readonly include?: readonly string[];
  /** Relations to leave out, in the same form; they win over `include`. */
  readonly exclude?: readonly string[];
  /**
   * Schema of the platform's own tables, which are read when they exist; when absent `platform`, without schemas
   * the database of the connection.
   */
  readonly systemSchema?: string;
  /** True reads functions and procedures, too. Default: false. */
  readonly functions?: boolean;
}
