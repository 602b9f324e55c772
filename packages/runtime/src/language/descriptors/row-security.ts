import type { Operand } from '../conditions/condition.ts';

/** How callers are passed on to policies of row-level security. */
export interface RowSecurity {
  /** Setting of the database that holds the claims of the caller as JSON. */
  readonly claims: string;
  /** Roles of the database by role of the API. Default: the role of the connection for all. */
  readonly roles?: Readonly<Record<string, string>>;
  /** Claims beside `sub` and `role`, by name. */
  readonly extraClaims?: Readonly<Record<string, Operand>>;
}

/** Bytes that the claims of a caller may have. */
export const maxClaimsBytes = 4_096;
