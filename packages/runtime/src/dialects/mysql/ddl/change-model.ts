/**
 * Changes of the model on MySQL and MariaDB, which commit every statement that changes a table. The result is compiled
 * before anything is done: the statements are tried on empty copies. Then they are run in a session of their own, each
 * written down with its undo statement. The metadata of the model is committed last (`docs/decisions/model-changes.md`).
 */

import type { Database, Transaction } from '../../../database/database.ts';
import type { MigrationConnection } from '../../../database/migration-connection.ts';
import { allRows } from '../../../database/own-statements/own-rows.ts';
import { modelLock } from '../../../language/index.ts';
import type { ModelChange } from '../../../model/change.ts';
import { migrationOf } from '../../../model/migration-text.ts';
import {
  answerOf,
  type ChangeModel,
  describeModel,
  type ModelChanged,
  type ModelChangerOptions,
  type PlanChange,
  type WatchedTables,
} from '../../../model/model-changer.ts';
import type { KnownModel } from '../../../model/model-sql.ts';
import { describeCause } from '../../../operate/log.ts';
import { logPlaceOf } from '../../../system/place.ts';
import { platformVersion } from '../../../version.ts';
import { mysqlModel, mysqlProjectTables } from '../own-tables/model.ts';
import { mysqlTables, mysqlTurn } from '../own-tables/tables.ts';
import { check, execute, migrated, mysqlSqlOf, report } from './change-parts.ts';
import { dropDrafts, makeDrafts } from './drafts.ts';
import { explainMysql } from './explain.ts';
import { ticked } from './names.ts';
import { type TableStatement, tableStatements } from './statements.ts';
import { activityRow, recordMigration } from './traces.ts';
import { beginChanges, type ChangeUnderWay } from './under-way.ts';

/** A change that was written down as under way, by the name of its migration. */
interface Begun {
  readonly name: string;
  readonly planned: ModelChange;
}

/** Makes the function that changes; rejects as `ChangeModel` does. */
export function createMysqlModelChange(
  options: ModelChangerOptions,
): (...requested: Parameters<ChangeModel>) => Promise<ModelChanged> {
  const { database, recompiler, compiledIn, compileIn, log } = options;

  /** The tables as a session names them whose names stand in backticks. */
  function tablesIn(): WatchedTables {
    const tables = options.tables();
    return { ...tables, place: { ...tables.place, schema: ticked(tables.place.schema) } };
  }

  async function planIn(session: MigrationConnection, plan: PlanChange, discard: boolean) {
    const tables = tablesIn();
    const api = await compiledIn(session.query, tables);
    const document = await describeModel(api);
    const { schema } = recompiler;
    const model: KnownModel = {
      api,
      document,
      systemSchema: tables.place.schema,
      schema,
      discard,
      sql: mysqlSqlOf(api),
    };
    return { api, document, planned: plan(model) };
  }

  /** Compiles what the change would come to; nothing of it stays. */
  async function compileDrafts(
    session: MigrationConnection,
    statements: readonly TableStatement[],
    rows: readonly string[],
    planned: ModelChange,
  ): Promise<Awaited<ReturnType<typeof answerOf>>> {
    let location = planned.steps[0]?.place ?? { collection: 'platform_collections', field: null };
    try {
      const decoded = await makeDrafts(session, statements, (statement) => {
        location = statement.place;
      });
      location = planned.steps.find(({ kind }) => kind === 'run')?.place ?? location;
      await session.script('START TRANSACTION');
      for (const sql of rows) await session.script(sql);
      const read = (): Promise<void> => session.script('ROLLBACK');
      const made = await compileIn(session.query, { ...tablesIn(), ledger: true }, { read, drafts: decoded });
      return await answerOf(planned, made);
    } catch (error) {
      return explainMysql(error, location);
    } finally {
      // The connection may be what broke; the first error is the one to tell.
      await session.script('ROLLBACK').catch(() => undefined);
      await dropDrafts(session, statements).catch(() => undefined);
    }
  }

  async function changeIn(
    transaction: Transaction,
    session: MigrationConnection,
    [plan, discard, origin]: Parameters<ChangeModel>,
    begun: (started: Begun) => void,
  ): Promise<ModelChanged> {
    const { schema } = tablesIn().place;
    const { api, document, planned } = await planIn(session, plan, discard);
    if (planned.steps.length === 0) return { answer: planned.respond(document), made: null };
    for (const step of planned.steps) await check(session, step).catch((error) => explainMysql(error, step.place));
    const statements = await tableStatements(session, planned.steps);
    const texts = planned.steps.flatMap((step) => (step.kind === 'run' ? [step.sql] : []));
    const migration = await migrationIn(session, schema, planned, [...statements.map(migrated), ...texts]);
    const rows = [...texts, recordMigration(schema, migration, platformVersion())];
    const compiled = await compileDrafts(session, statements, rows, planned);
    const traces = logPlaceOf(api) === null ? [] : planned.activity.map((entry) => activityRow(schema, origin, entry));
    const change: ChangeUnderWay = { name: migration.name, statements, rows: [...rows, ...traces] };
    begun({ name: migration.name, planned });
    await execute(session, schema, change, statements);
    // The tables are compiled again should they be other ones than those that were tried.
    const { made } = compiled;
    const read = async (): Promise<void> => {};
    const real = await compileIn(session.query, { ...tablesIn(), ledger: true }, { read, unless: made });
    const result = await answerOf(planned, real);
    for (const sql of rows) await allRows(transaction, sql, []);
    await allRows(transaction, mysqlModel(mysqlTables(tablesIn().place), schema).announce, []);
    await report(transaction, api, planned, origin);
    await allRows(transaction, mysqlProjectTables(schema).underWay.remove, [change.name]);
    return { answer: result.answer, made: result.made };
  }

  async function migrationIn(
    { query }: MigrationConnection,
    schema: string,
    { title }: ModelChange,
    statements: readonly string[],
  ) {
    const applied = await query(mysqlProjectTables(schema).migrations, []);
    const names = applied.map(([name]) => name ?? '');
    return migrationOf(title, statements, [...names, ...(await recompiler.migrationNames())]);
  }

  /** A transaction holds the turn of everything that is compiled, and no table that a change is about. */
  async function inTurn<T>(work: (transaction: Transaction, session: MigrationConnection) => Promise<T>): Promise<T> {
    const lock = mysqlTurn(mysqlTables(options.tables().place));
    return database.transaction(async (transaction) => {
      await allRows(transaction, lock, [modelLock]);
      return { value: await sessionOf(database)((session) => work(transaction, session)) };
    });
  }

  /** Completes or undoes what is half done; this may complete the change that an earlier try of a request has begun. */
  async function complete(session: MigrationConnection, started: Begun | undefined): Promise<ModelChanged | null> {
    const completed = await beginChanges(session, tablesIn().place.schema);
    if (started === undefined || !completed.includes(started.name)) return null;
    const made = await compileIn(session.query, { ...tablesIn(), ledger: true }, { read: async () => {} });
    const response = await answerOf(started.planned, made);
    return { answer: response.answer, made: response.made };
  }

  return async (...request) => {
    let started: Begun | undefined;
    const begin = (begun: Begun): void => {
      started = begun;
    };
    try {
      return await inTurn(
        async (transaction, session) =>
          (await complete(session, started)) ?? (await changeIn(transaction, session, request, begin)),
      );
    } catch (error) {
      if (started === undefined) throw error;
      const changed = await inTurn((_, session) => complete(session, started)).catch(leave);
      if (changed === null) throw error;
      return changed;
    }
  };

  /** Leaves it to the next change of the model, or the next migration, to settle what could not be settled. */
  function leave(error: unknown): null {
    log.warn({ cause: describeCause(error) }, 'A change of the model is half done. The next one settles it.');
    return null;
  }
}

function sessionOf({ schemaSession }: Pick<Database, 'schemaSession'>) {
  if (schemaSession === undefined) throw new Error('This database has no sessions for changes of tables.');
  return schemaSession;
}
