/** Differences between families of servers to the commands. */
import type { Schema } from '@tablewright/introspect/schema';
import type { Parameter, Statement } from '@tablewright/runtime';
import { type ProjectMigration, unusableDatabase } from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from '../errors/failures.ts';
import type { Examination } from './finding.ts';
import type { MissingIndex, TablesByName } from './missing-index.ts';
import type { Source } from './source.ts';

export interface TableEvents {
  readonly name: string;
  /** Ends the session, and with it the event trigger. */
  close(): Promise<void>;
}

/** Callbacks of the listener. */
export interface Hearers {
  /** Tables may have changed. */
  readonly heard: () => void;
  /** The session was lost: nothing is heard any more. */
  readonly lost: () => void;
}

export interface FamilyCommands {
  /** Questions of the doctor. */
  examinations(schema: Schema): readonly Examination[];
  /** Reads an address as the driver does. */
  connection(url: string): ConnectionFacts;
  /** Asks for limits of connections; those below one are none. */
  readonly limitsSql: string;
  /** The plan of a statement as the server prints it; with `analyze` the statement runs. */
  explain(
    source: Source,
    statement: Statement,
    parameters: readonly Parameter[],
    analyze: boolean,
  ): Promise<readonly string[]>;
  /** Finds tables that a plan filters without an index. */
  missingIndexes(
    source: Source,
    statement: Statement,
    parameters: readonly Parameter[],
    tables: TablesByName,
  ): Promise<readonly MissingIndex[]>;
  /**
   * Begins to hear of changes of tables. Rejects with an error whose message says why that cannot be. A text where the
   * servers cannot tell of them, which says why.
   */
  readonly hearTables: ((url: string, hearers: Hearers) => Promise<TableEvents>) | string;
  /** Completes or undoes a change of the model that a server has left half done. `schema` as `systemPlace` gives it. */
  waitForChanges(source: Source, schema: string): Promise<void>;
  /** Applies a migration of the project; false if another process has done so meanwhile. */
  applyMigration(source: Source, schema: string, migration: ProjectMigration): Promise<boolean>;
}

/** Connection of a server to its database. */
export interface ConnectionFacts {
  /** True for an address of this machine. */
  readonly isLocal: boolean;
  /** `unchecked`: encrypted, for anyone who shows any certificate. */
  readonly encryption: 'none' | 'unchecked' | 'checked';
  /** Parameter of the address that encrypts, and checks the certificate. */
  readonly checking: string;
}

/** True for the name or address of this machine, and for the folder of a socket. */
export function isLocalHost(host: string): boolean {
  return host === '' || host.startsWith('/') || /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/.test(host);
}

/** A database that cannot be used, as a failure with the cure. `label` names it without credentials. */
export function unreachable(label: string, error: unknown): CommandError {
  const { message, hint } = unusableDatabase(label, error);
  return new CommandError(exitCodes.database, message, hint);
}
