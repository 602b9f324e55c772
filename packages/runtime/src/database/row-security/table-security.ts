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

/** Finding about the roles and rights under which callers are passed on. */
export interface RoleFinding {
  /** Stable, lower case with dashes. */
  readonly code: string;
  /** True if a server must not start with it. */
  readonly refused: boolean;
  readonly message: string;
  readonly advice: string;
}

/** A privilege that rules count on. */
export interface RuledPrivilege {
  /** Role of the database. */
  readonly role: string;
  /** Table as statements name it, and names of columns; none for the whole table. */
  readonly table: string;
  readonly privilege: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
  readonly columns: readonly string[];
}

/** Facts that roles and rights are examined by. */
export interface ExaminedRoles {
  /** Roles of the database that callers run as, by role of the API; none where only claims are set. */
  readonly roles: Readonly<Record<string, string>>;
  readonly privileges: readonly RuledPrivilege[];
  /** True for a database in this process, whose only user is a superuser. */
  readonly isEmbedded: boolean;
}
