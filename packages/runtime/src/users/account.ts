/** Facts of a user that a request needs, read in one statement. Source: API specification, sections 2.2, 3.2 and 10. */

/** A user of any status: the reader decides what the status means. */
export interface Account {
  readonly id: string;
  readonly email: string | null;
  readonly status: string;
  /** `default` for users with a password. */
  readonly provider: string;
  /** Counts the events that end sessions. */
  readonly securityVersion: number;
  readonly hasTfa: boolean;
  /** Null: the user has the permissions of the public role. */
  readonly role: AccountRole | null;
}

/** The role of a user. */
export interface AccountRole {
  readonly id: string;
  readonly name: string;
  readonly adminAccess: boolean;
  readonly appAccess: boolean;
  readonly enforceTfa: boolean;
  /** Addresses and CIDR blocks that the role may be used from; empty: from any. */
  readonly ipAccess: readonly string[];
}

/** Number of columns in `accountColumns`; other columns of a statement stand after them. */
export const accountWidth = 12;

/** Reads a row of `accountColumns`. */
export function readAccount(row: readonly (string | null)[]): Account {
  const [id, email, status, provider, version, tfa] = row;
  return {
    id: id ?? '',
    email: email ?? null,
    status: status ?? '',
    provider: provider ?? '',
    securityVersion: Number(version),
    hasTfa: tfa === 'true',
    role: readRole(row.slice(6, accountWidth)),
  };
}

function readRole([id, name, admin, app, tfa, addresses]: readonly (string | null | undefined)[]): AccountRole | null {
  if (typeof id !== 'string') return null;
  return {
    id,
    name: name ?? '',
    adminAccess: admin === 'true',
    appAccess: app === 'true',
    enforceTfa: tfa === 'true',
    ipAccess: (addresses ?? '')
      .split(',')
      .map((address) => address.trim())
      .filter((address) => address !== ''),
  };
}
