/** How what a project says about its model is read from the platform's own tables: by the compiler, and by servers. */
import type { JsonValue } from '../values/json.ts';

/** One row of `platform_collections`, `platform_fields` or `platform_relations`, without the number of the row. */
export type DeclaredRow = { readonly [member: string]: JsonValue };

/** Rows of the three tables, sorted. */
export interface DeclaredModel {
  readonly collections: readonly DeclaredRow[];
  readonly fields: readonly DeclaredRow[];
  readonly relations: readonly DeclaredRow[];
  /** SHA-256, in hexadecimal, of all rows and of the migrations that the database has had. */
  readonly digest: string;
}

/** The table in which migrations of the project are written down; made with the first one. */
export const projectLedgerTable = 'platform_project_migrations';

/**
 * Name of the lock of a transaction under which everything that is compiled is written. Otherwise two writers would
 * each compile without the changes of the other.
 */
export const modelLock = 'platform.model';

/** Channel on which a process tells the others that it has changed the model. */
export const modelChannel = 'platform_model';
