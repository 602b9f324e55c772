/** Settings under which policies of the database judge the statements of a caller. */
export interface RowContext {
  /** Equal where the settings are: such statements may become one. */
  readonly key: string;
  /** Statement that applies them to the transaction it runs in. */
  readonly apply: SettingStatement & { readonly parameters: readonly (string | null)[] };
  /** Statement that takes them back. */
  readonly undo: SettingStatement;
}

/** A statement that changes settings of its transaction, and gives no row. */
export type SettingStatement = {
  readonly name: string;
  readonly text: string;
};

/** Side of a statement: a caller's, or the server's own, under no caller's settings. */
export type RunsAs = RowContext | 'server';

/** A caller, or the server itself, as far as that decides about rows. */
export interface Side {
  /** Absent where callers are not passed on. */
  readonly rowContext?: RunsAs;
}

export const serverSide: Side = { rowContext: 'server' };

/** Statements by their side: what others keep of a statement, such as its counters, they keep by its identity. */
const statementsOf = new WeakMap<object, WeakMap<object, object>>();

/** The statement as one of a caller. No replica answers it, as policies may look at other tables. */
export function runAs<S extends object>(statement: S, { rowContext }: Side): S {
  if (rowContext === undefined) return statement;
  const side = rowContext === 'server' ? serverSide : rowContext;
  const statements = statementsOf.get(side) ?? new WeakMap<object, object>();
  statementsOf.set(side, statements);
  const cached = statements.get(statement);
  // Only this function fills the map, with statements of the same type.
  if (cached !== undefined) return cached as S;
  // Copied without the member: an object that has lost one is slow to copy for each read. Notes are members, too.
  const { mayLag: _, ...members } = { mayLag: undefined, ...statement, runsAs: rowContext };
  const acting = members as unknown as S;
  statements.set(statement, acting);
  return acting;
}

/** The settings of a statement; undefined for those of the server. */
export function rowContextOf({ runsAs }: { readonly runsAs?: RunsAs }): RowContext | undefined {
  return runsAs === 'server' ? undefined : runsAs;
}

/** Name of a group of statements that may become one: the same text under the same settings. */
export function nameUnder({ runsAs }: { readonly runsAs?: RunsAs }, name: string): string {
  return runsAs === undefined || runsAs === 'server' ? name : `${runsAs.key}\0${name}`;
}

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

export interface RuledPrivilege {
  readonly role: string;
  /** Table as statements name it, and names of columns; none for the whole table. Or a routine, and its arguments. */
  readonly table: string;
  readonly privilege: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE' | 'EXECUTE';
  readonly columns: readonly string[];
}

export interface ExaminedRoles {
  /** Roles of the database that callers run as, by role of the API; none where only claims are set. */
  readonly roles: Readonly<Record<string, string>>;
  readonly privileges: readonly RuledPrivilege[];
  /** True for a database in this process, whose only user is a superuser. */
  readonly isEmbedded: boolean;
}
