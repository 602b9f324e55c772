/** Row-level security of one table for the role of the connection. */
export interface TableSecurity {
  /** `schema.name`. */
  readonly table: string;
  readonly role: string;
  /** False for superusers, BYPASSRLS, and owners without FORCE. */
  readonly isBound: boolean;
  /** Names of the policies that let the role read rows. */
  readonly policies: readonly string[];
}
