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
import {
  answerOf,
  type ChangeModel,
  type CompileOptions,
  describeModel,
  type ModelChanged,
  type ModelChangerOptions,
  type PlanChange,
  type WatchedTables,
} from '../../../model/model-changer.ts';
import type { KnownModel } from '../../../model/model-sql.ts';
import { migrationOf } from '../../../model/recompiler.ts';
import { describeCause } from '../../../operate/log.ts';
import { logPlaceOf } from '../../../system/place.ts';
import { platformVersion } from '../../../version.ts';
import { mysqlModel, mysqlProjectTables } from '../own-tables/model.ts';
import { mysqlTables, mysqlTurn } from '../own-tables/tables.ts';
import { ticked } from '../texts.ts';
import { check, execute, explainMysql, migrated, mysqlSqlOf, report } from './change-parts.ts';
import { dropDrafts, makeDrafts } from './drafts.ts';
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
  return (...requested) => new RequestedChange(options, requested).run();
}

/** One change; a second try of it completes or undoes what the first one has begun. */
class RequestedChange {
  readonly #options: ModelChangerOptions;
  readonly #requested: Parameters<ChangeModel>;
  #started: Begun | undefined;

  constructor(options: ModelChangerOptions, requested: Parameters<ChangeModel>) {
    this.#options = options;
    this.#requested = requested;
  }

  async run(): Promise<ModelChanged> {
    try {
      return await this.#inTurn(
        async (transaction, session) => (await this.#complete(session)) ?? (await this.#changeIn(transaction, session)),
      );
    } catch (error) {
      if (this.#started === undefined) throw error;
      const changed = await this.#inTurn((_, session) => this.#complete(session)).catch((cause) => this.#leave(cause));
      if (changed === null) throw error;
      return changed;
    }
  }

  /** The tables as a session names them whose names stand in backticks. */
  #tablesIn(): WatchedTables {
    const tables = this.#options.tables();
    return { ...tables, place: { ...tables.place, schema: ticked(tables.place.schema) } };
  }

  async #planIn(session: MigrationConnection, plan: PlanChange, discard: boolean) {
    const tables = this.#tablesIn();
    const api = await this.#options.compiledIn(session.query, tables);
    const document = await describeModel(api);
    const { schema } = this.#options.recompiler;
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
  async #compileDrafts(
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
      const made = await this.#compileIn(session, { read, drafts: decoded });
      return await answerOf(planned, made);
    } catch (error) {
      return explainMysql(error, location);
    } finally {
      // The connection may be what broke; the first error is the one to tell.
      await session.script('ROLLBACK').catch(() => undefined);
      await dropDrafts(session, statements).catch(() => undefined);
    }
  }

  async #changeIn(transaction: Transaction, session: MigrationConnection): Promise<ModelChanged> {
    const [plan, discard, origin] = this.#requested;
    const { schema } = this.#tablesIn().place;
    const { api, document, planned } = await this.#planIn(session, plan, discard);
    if (planned.steps.length === 0) return { answer: planned.respond(document), made: null };
    for (const step of planned.steps) await check(session, step).catch((error) => explainMysql(error, step.place));
    const statements = await tableStatements(session, planned.steps);
    const texts = planned.steps.flatMap((step) => (step.kind === 'run' ? [step.sql] : []));
    const migration = await this.#migrationIn(session, schema, planned, [...statements.map(migrated), ...texts]);
    const rows = [...texts, recordMigration(schema, migration, platformVersion())];
    const compiled = await this.#compileDrafts(session, statements, rows, planned);
    const traces = logPlaceOf(api) === null ? [] : planned.activity.map((entry) => activityRow(schema, origin, entry));
    const change: ChangeUnderWay = { name: migration.name, statements, rows: [...rows, ...traces] };
    this.#started = { name: migration.name, planned };
    await execute(session, schema, change, statements);
    // The tables are compiled again should they be other ones than those that were tried.
    const { made } = compiled;
    const read = async (): Promise<void> => {};
    const real = await this.#compileIn(session, { read, unless: made });
    const result = await answerOf(planned, real);
    for (const sql of rows) await allRows(transaction, sql, []);
    await allRows(transaction, mysqlModel(mysqlTables(this.#tablesIn().place), schema).announce, []);
    await report(transaction, api, planned, origin);
    await allRows(transaction, mysqlProjectTables(schema).underWay.remove, [change.name]);
    return { answer: result.answer, made: result.made };
  }

  async #migrationIn(
    { query }: MigrationConnection,
    schema: string,
    { title }: ModelChange,
    statements: readonly string[],
  ) {
    const applied = await query(mysqlProjectTables(schema).migrations, []);
    const names = applied.map(([name]) => name ?? '');
    return migrationOf(title, statements, [...names, ...(await this.#options.recompiler.migrationNames())]);
  }

  #compileIn({ query }: MigrationConnection, how: CompileOptions): ReturnType<ModelChangerOptions['compileIn']> {
    return this.#options.compileIn(query, { ...this.#tablesIn(), ledger: true }, how);
  }

  /** A transaction holds the turn of everything that is compiled, and no table that a change is about. */
  async #inTurn<T>(work: (transaction: Transaction, session: MigrationConnection) => Promise<T>): Promise<T> {
    const lock = mysqlTurn(mysqlTables(this.#options.tables().place));
    return this.#options.database.transaction(async (transaction) => {
      await allRows(transaction, lock, [modelLock]);
      return { value: await sessionOf(this.#options.database)((session) => work(transaction, session)) };
    });
  }

  /** Completes or undoes what is half done; this may complete the change that an earlier try of a request has begun. */
  async #complete(session: MigrationConnection): Promise<ModelChanged | null> {
    const completed = await beginChanges(session, this.#tablesIn().place.schema);
    const started = this.#started;
    if (started === undefined || !completed.includes(started.name)) return null;
    const made = await this.#compileIn(session, { read: async () => {} });
    const response = await answerOf(started.planned, made);
    return { answer: response.answer, made: response.made };
  }

  /** Leaves it to the next change of the model, or the next migration, to settle what could not be settled. */
  #leave(error: unknown): null {
    this.#options.log.warn(
      { cause: describeCause(error) },
      'A change of the model is half done. The next one settles it.',
    );
    return null;
  }
}

function sessionOf({ schemaSession }: Pick<Database, 'schemaSession'>) {
  if (schemaSession === undefined) throw new Error('This database has no sessions for changes of tables.');
  return schemaSession;
}
