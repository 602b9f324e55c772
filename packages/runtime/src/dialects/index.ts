/** Dialects: the only file that chooses between their folders. */
import type { Database } from '../database/database.ts';
import { type Dialect, defaultDialect, defaultSystemSchema, dialectFacts, type Family } from '../language/index.ts';
import { checksumOf, type MigrationTexts, type StepMigration } from '../system/ledger.ts';
import type { SystemPlace } from '../system/place.ts';
import type { SqlDialect } from './dialect.ts';
import type { OwnMigration } from './migrations/table.ts';
import { askMysql, executedSql, hasReachedGtids } from './mysql/host-state.ts';
import { readMysqlFingerprint } from './mysql/live-objects.ts';
import { mysqlChecksum, mysqlMigrator } from './mysql/own-tables/migrate.ts';
import { printMysqlMigration } from './mysql/own-tables/print-migration.ts';
import { mysqlOwnTables } from './mysql/own-tables/spelling.ts';
import { mariadb, mysql } from './mysql/select.ts';
import type { OwnTables } from './own-tables.ts';
import { askPostgres, hasReachedLsn, replayedSql } from './postgres/host-state.ts';
import { readFingerprint } from './postgres/live-objects.ts';
import { postgresMigrator } from './postgres/own-tables/migrate.ts';
import { printPostgresMigration } from './postgres/own-tables/print-migration.ts';
import { postgresTables } from './postgres/own-tables/spelling.ts';
import { examineRoles, readTableSecurity, rowSettings } from './postgres/row-security.ts';
import { postgres } from './postgres/select.ts';
import type { EmbeddedDatabase, Listener, ServerDialect } from './server-dialect.ts';

export type {
  CopiedFields,
  FixedValue,
  InputField,
  ListedKey,
  ListParts,
  RowLock,
  SqlDialect,
  Value,
} from './dialect.ts';
export { embeddedExtensions } from './postgres/pglite.ts';

export const sqlDialects: Readonly<Record<Dialect, SqlDialect>> = { postgres, mysql, mariadb };

export const defaultSql: SqlDialect = sqlDialects[defaultDialect];

const servers: Readonly<Record<Family, ServerDialect>> = {
  postgres: {
    connect: async (options) => (await import('./postgres/database.ts')).connectPostgres(options),
    // Quick statements go by pipelines, and reads leave a connection with a slow answer before they are slow here.
    publicReads: (places) => ({ places, maxCount: 2 * places, beside: null, quickOfClient: Number.POSITIVE_INFINITY }),
    listen(options) {
      let listener: Listener | null = null;
      const listening = import('./postgres/driver/listen.ts').then(({ listenTo }) => {
        listener = listenTo(options);
        return listener;
      });
      return {
        get isHeard() {
          return listener?.isHeard === true;
        },
        close: async () => (await listening).close(),
      };
    },
    migrator: (connection, schema) => postgresMigrator(connection, schema ?? defaultSystemSchema),
    checksumOf,
    tablesOf: ({ tables }) => tables,
    ownTables: ({ schema }) => postgresTables(schema),
    changeModel: async (options, requested) =>
      (await import('./postgres/ddl/change-model.ts')).createPostgresModelChange(options)(...requested),
    askHost: askPostgres,
    hasReached: hasReachedLsn,
    positionSql: replayedSql,
    createProbe: async (address) => (await import('./postgres/host-probe.ts')).probePostgres(address),
    readLive: readFingerprint,
    readTableSecurity,
    rowSettings,
    examineRoles,
  },
  mysql: {
    connect: async (options) => (await import('./mysql/database.ts')).connectMysql(options),
    // Statements need a connection each, of which one is left to other clients.
    publicReads: (places, poolMax) => ({
      ...{ places: 2, maxCount: 3, quickOfClient: Math.max(1, poolMax - places - 3) },
      beside: { yieldMs: 50, pauseFactor: 2, freeMs: 50, slowShare: 0.3 },
    }),
    migrator: mysqlMigrator,
    checksumOf: mysqlChecksum,
    tablesOf: ({ steps }) => steps?.tables ?? [],
    ownTables: mysqlOwnTables,
    changeModel: async (options, requested) =>
      (await import('./mysql/ddl/change-model.ts')).createMysqlModelChange(options)(...requested),
    askHost: askMysql,
    hasReached: hasReachedGtids,
    positionSql: executedSql,
    createProbe: async (address) => (await import('./mysql/host-probe.ts')).probeMysql(address),
    readLive: readMysqlFingerprint,
  },
};

export function serverOf(dialect: Dialect): ServerDialect {
  return serverOfFamily(dialectFacts[dialect].family);
}

/** The same before the server has told its name. */
export function serverOfFamily(family: Family): ServerDialect {
  return servers[family];
}

/** The platform's own tables in a place. */
export function ownTables(location: SystemPlace): OwnTables {
  return serverOf(location.dialect).ownTables(location);
}

/** The texts of a migration of the platform's own tables, for all servers. */
export function printMigration(migration: OwnMigration): MigrationTexts & { readonly steps: StepMigration } {
  return { ...printPostgresMigration(migration), steps: printMysqlMigration(migration) };
}

/** Opens an embedded database: its data directory, or an instance that is running. */
export async function connectEmbedded(source: string | EmbeddedDatabase): Promise<Database> {
  return (await import('./postgres/embedded.ts')).connectPglite(source);
}
