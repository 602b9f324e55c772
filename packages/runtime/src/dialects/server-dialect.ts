import type { ConnectionSeams } from '../database/connection-seams.ts';
import type { Database, MigrationConnection } from '../database/database.ts';
import type { AskHost, CreateProbe } from '../database/host-state.ts';
import type { Failover } from '../database/hosts/choose-primary.ts';
import type { HasReached } from '../database/hosts/positions.ts';
import type { TurnLimits } from '../database/public/public-queue.ts';
import type { ExaminedRoles, RoleFinding, TableSecurity } from '../database/row-context.ts';
import type { Driver } from '../environment/database.ts';
import type { RenewableUrl } from '../environment/renewable-url.ts';
import type { LiveObject, NamedTable } from '../language/index.ts';
import type { ChangeModel, ModelChanged, ModelChangerOptions } from '../model/model-changer.ts';
import type { PoolObserver } from '../operate/metrics/pool-metrics.ts';
import type { Migration, Migrator } from '../system/ledger.ts';
import type { SystemPlace } from '../system/place.ts';
import type { OwnTables } from './own-tables.ts';

/** Settings of the connections to a server. Those that a driver has no use for it ignores. */
export interface ConnectOptions {
  /** `scheme://user:password@host:port/database?…`, with the parameters that the driver knows, such as `sslmode`. */
  readonly url: string;
  /** The same where its password may change. Default: it stays. */
  readonly renewable?: RenewableUrl;
  /** Default `auto`. */
  readonly driver?: Driver;
  /** Default: none is filled. */
  readonly seams?: ConnectionSeams;
  /** Called with the reason, when the choice was left to us and the plain driver is used. */
  readonly onFallback?: (reason: Error) => void;
  /** Most connections open at once; at least 3: one for reads, one for streams, one for transactions. Default 10. */
  readonly poolMax?: number;
  /** Connections that reads share by pipelining as long as the database answers fast. Default 2. */
  readonly readConnections?: number;
  /** Time that a request waits for a connection before it is unavailable. Default 2000. */
  readonly poolTimeoutMs?: number;
  /** Time that a statement may run; 0 for as long as it takes. Default 30000. */
  readonly statementTimeoutMs?: number;
  /** Time that a statement of callers without a token may run; 0 for as long as every other. Default 10000. */
  readonly publicStatementTimeoutMs?: number;
  /** Time that making a connection may take. Default 10000. */
  readonly connectTimeoutMs?: number;
  /** Statements prepared per connection before the least recently used is closed. Default 1000. */
  readonly preparedLimit?: number;
  /** Name by which the server knows them. Default `platform`. */
  readonly applicationName?: string;
  /** Choice among several servers, which `renewable` leads to. Default: there is one. */
  readonly failover?: Failover;
  /** Takes the position in the log of changes after each COMMIT; null where it is not told. Default: nothing asks for it. */
  readonly notePosition?: (position: string | null) => void;
  /** Statement that asks for that position, where the driver's own does not. */
  readonly positionSql?: () => string | undefined;
  /** True if callers are passed on to policies, which a pool by statements would mix up. Default: false. */
  readonly passesCallers?: boolean;
  /** Hears of requests that waited for a connection. Default: no one does. */
  readonly poolObserver?: PoolObserver;
}

/** The part of the instance of an embedded database that is used here. */
export interface EmbeddedDatabase {
  /** Runs a function with exclusive use of the database. */
  runExclusive<T>(run: () => Promise<T>): Promise<T>;
  execProtocolRaw(message: Uint8Array, options?: { syncToFs?: boolean }): Promise<Uint8Array>;
  /** Runs statements without parameters. */
  exec(sql: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface Listener {
  /** True while every notice arrives: there is a connection, and no pooler that keeps notices to itself. */
  readonly isHeard: boolean;
  /** Resolves when nothing is heard any more. */
  close(): Promise<void>;
}

export interface ListenOptions extends Pick<ConnectOptions, 'url' | 'renewable'> {
  readonly channel: string;
  /** Called for every notice, with its sender as far as it names one, and whenever notices may have been missed. */
  readonly heard: (sender?: string) => void;
  /** Database of requests: another one has none of its notices, and is refused. */
  readonly requests?: Pick<Database, 'query'>;
  /** Called after each attempt: with the reason why nothing is heard, or null. */
  readonly attempted?: (problem: Error | null) => void;
}

/** Expressions of which the settings of a caller are made. */
interface RowSettingParts {
  /** Name of the setting that holds the claims. */
  readonly setting: string;
  readonly claims: string;
  /** Absent where the role of the connection stays. */
  readonly role?: string;
  /** Claims that the database reads. The name of a nested one is its path, as an array. */
  readonly extra: readonly { readonly name: string; readonly value: string; readonly isNested: boolean }[];
}

export interface RowSettings {
  /** Applies them to the transaction, without a row, and fails where the claims are too large. */
  readonly apply: (parts: RowSettingParts) => string;
  /** Takes them back; `setting` is that of the claims. */
  readonly undo: (setting: string) => string;
}

/** Differences between servers beside the SQL of requests. */
export interface ServerDialect {
  /** Connects to a server. Rejects with SERVICE_UNAVAILABLE when the first connection cannot be made. */
  readonly connect: (options: ConnectOptions) => Promise<Database>;
  /** Limits by which callers without a token share it with others: `places` is a third of the connections, two at least. */
  readonly publicReads: (
    places: number,
    poolMax: number,
  ) => Pick<TurnLimits, 'places' | 'maxCount' | 'beside' | 'quickOfClient'>;
  /** Receives notifications of other processes; absent where the server sends none. */
  readonly listen?: (options: ListenOptions) => Listener;
  /** Makes and undoes the platform's own tables; `schema` is null where none is configured. */
  readonly migrator: (connection: MigrationConnection, schema: string | null) => Migrator;
  /** Checksum of a migration, as its ledger keeps it. */
  readonly checksumOf: (migration: Migration) => string;
  /** Names of the tables that a migration makes. */
  readonly tablesOf: (migration: Migration) => readonly string[];
  readonly ownTables: (location: SystemPlace) => OwnTables;
  /** Changes the model; rejects as `ChangeModel` does. */
  readonly changeModel: (options: ModelChangerOptions, requested: Parameters<ChangeModel>) => Promise<ModelChanged>;
  readonly askHost: AskHost;
  /** Prints the statements that pass a caller on to policies; absent where servers have none. */
  readonly rowSettings?: RowSettings;
  /** Examines roles and rights of callers; absent where servers have no policies. */
  readonly examineRoles?: (
    database: Pick<Database, 'query'>,
    examined: ExaminedRoles,
  ) => Promise<readonly RoleFinding[]>;
  /** Reads how row-level security binds the connection; absent where servers have none. */
  readonly readTableSecurity?: (
    database: Pick<Database, 'query'>,
    tables: readonly NamedTable[],
  ) => Promise<readonly TableSecurity[]>;
  /** Asks one of several servers again and again. */
  readonly createProbe: CreateProbe;
  /** Compares positions in the log of changes. */
  readonly hasReached: HasReached;
  /** Asks a replica for its position. */
  readonly positionSql: string;
  /** Reads tables and views by one query. Missing objects are missing from the list. */
  readonly readLive: (
    database: Pick<Database, 'query'>,
    expected: { readonly objects: readonly NamedTable[] },
  ) => Promise<readonly LiveObject[]>;
}
