/**
 * Changes of the model on MySQL and MariaDB, which commit every statement that changes a table. The result is compiled
 * before anything is done: the statements are tried on empty copies. Then they are run in a session of their own, each
 * written down with its undo statement. The metadata of the model is committed last (`docs/decisions/model-changes.md`).
 */
import type { Database, MigrationConnection, Transaction } from '../../../database/database.ts';
import { toDatabaseError } from '../../../database/errors.ts';
import { allRows } from '../../../database/own-statements.ts';
import { PlatformError } from '../../../errors.ts';
import { invalidPayload } from '../../../json/problems.ts';
import { type CompiledApi, modelLock } from '../../../language/index.ts';
import { dependedOn, explain, type ModelChange } from '../../../model/change.ts';
import {
  answerOf,
  type ChangeModel,
  type CompileOptions,
  describeModel,
  type ModelChanged,
  type ModelChangerOptions,
  type PlanChange,
  unlessKept,
  type WatchedTables,
} from '../../../model/model-changer.ts';
import type { KnownModel, ModelPlace, ModelSql, ModelStep } from '../../../model/model-sql.ts';
import { migrationOf } from '../../../model/recompiler.ts';
import { describeCause } from '../../../operate/log.ts';
import type { ChangeOrigin } from '../../../system/log-changes.ts';
import { logPlaceOf } from '../../../system/place.ts';
import { platformVersion } from '../../../version.ts';
import { toMysqlError } from '../driver/errors.ts';
import { errorNumber, isKeyRefused } from '../own-tables/errors.ts';
import { activityRow, mysqlLog, recordMigration } from '../own-tables/log-changes.ts';
import { mysqlModel, mysqlProjectTables } from '../own-tables/model.ts';
import { mysqlTables, mysqlTurn } from '../own-tables/tables.ts';
import { ticked } from '../texts.ts';
import { comesBack, dropDrafts, makeDrafts } from './drafts.ts';
import { mysqlModelSql } from './model-sql.ts';
import { type TableStatement, tableStatements } from './statements.ts';
import { beginChanges, type ChangeUnderWay, runUnderWay } from './under-way.ts';

/** A change that was written down as under way, by the name of its migration. */
interface Begun {
  readonly name: string;
  readonly planned: ModelChange;
}

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
      return await this.#inTurn(async (_, session) => {
        const changed = await this.#complete(session);
        // A request that changes nothing leaves no claim of its key either.
        if (changed === null) throw error;
        return changed;
      }).catch((cause) => {
        if (cause !== error) this.#leave(cause);
        throw error;
      });
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
    const idle = { answer: planned.respond(document), made: null };
    if (planned.isIdle || planned.steps.length === 0) return idle;
    for (const step of planned.steps) await check(session, step).catch((error) => explainMysql(error, step.place));
    const statements = await tableStatements(session, planned.steps);
    const texts = planned.steps.flatMap((step) => (step.kind === 'run' ? [step.sql] : []));
    if (statements.length === 0 && texts.length === 0) return idle;
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
  async #inTurn<T extends ModelChanged | null>(
    work: (transaction: Transaction, session: MigrationConnection) => Promise<T>,
  ): Promise<T | ModelChanged> {
    const lock = mysqlTurn(mysqlTables(this.#options.tables().place));
    return this.#options.database.transaction(async (transaction) => {
      const value = await unlessKept(transaction, this.#requested[3], async () => {
        await allRows(transaction, lock, [modelLock]);
        const { database } = this.#options;
        return awake(transaction, () => sessionOf(database)((session) => work(transaction, session)));
      });
      return { value };
    });
  }

  /** Completes or undoes what is half done; this may complete the change that an earlier try of a request has begun. */
  async #complete(session: MigrationConnection): Promise<ModelChanged | null> {
    const started = this.#started;
    const { schema } = this.#tablesIn().place;
    const completed = await beginChanges(session, schema, started === undefined ? waitSeconds : undefined);
    if (started === undefined || !completed.includes(started.name)) return null;
    const made = await this.#compileIn(session, { read: async () => {} });
    const response = await answerOf(started.planned, made);
    return { answer: response.answer, made: response.made };
  }

  /** Leaves it to the next change of the model, or the next migration, to settle what could not be settled. */
  #leave(error: unknown): void {
    this.#options.log.warn(
      { cause: describeCause(error) },
      'A change of the model is half done. The next one settles it.',
    );
  }
}

function sessionOf({ schemaSession }: Pick<Database, 'schemaSession'>) {
  if (schemaSession === undefined) throw new Error('This database has no sessions for changes of tables.');
  return schemaSession;
}

/** Time that a request waits for a migration, in seconds. */
const waitSeconds = 10;

/** Time between signs of life of a transaction, in milliseconds. */
const signMs = 3_000;

/** Waits for the work of another session. Servers end a transaction that is silent for as long as a large table takes. */
async function awake<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void allRows(transaction, "SELECT '1'", []).catch(() => undefined), signMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Runs what is to be done to tables. */
async function execute(
  session: MigrationConnection,
  schema: string,
  change: ChangeUnderWay,
  statements: readonly TableStatement[],
): Promise<void> {
  let location = statements[0]?.place;
  try {
    await runUnderWay(session, schema, change, (number) => {
      location = statements[number]?.place;
    });
  } catch (error) {
    explainMysql(error, location ?? { collection: 'platform_collections', field: null });
  }
}

/** Refuses a change where the rows that are there are in its way. */
async function check(session: MigrationConnection, step: ModelStep): Promise<void> {
  if (step.kind === 'check') {
    const [[fits] = []] = await session.query(`SELECT CAST((${step.sql}) AS CHAR)`, []);
    if (fits !== '1') throw step.refusal;
  }
  if (step.kind === 'fit' && !(await comesBack(session, step))) throw step.refusal;
}

/** A statement as a migration has it: texts are cut only where a session is not strict. */
function migrated({ sql, loose }: TableStatement): string {
  return loose
    ? `SET @platform_mode = @@SESSION.sql_mode, SESSION sql_mode = '';\n${sql};\nSET SESSION sql_mode = @platform_mode`
    : sql;
}

/** Tells of a change in the activity. */
async function report(
  transaction: Transaction,
  api: CompiledApi,
  { activity: entries }: ModelChange,
  origin: ChangeOrigin,
): Promise<void> {
  const location = logPlaceOf(api);
  if (location === null) return;
  const log = mysqlLog(mysqlTables(location));
  await log(
    transaction,
    origin,
    entries.map((entry) => ({ ...entry, revision: null, parent: null })),
  );
}

function mysqlSqlOf({ dialect, collections }: CompiledApi): ModelSql {
  const users = collections.find(({ name }) => name === 'platform_users');
  const hasUuid = users?.fields.some(({ name, native }) => name === 'id' && native === 'uuid') === true;
  return mysqlModelSql({ isMariadb: dialect === 'mariadb', hasUuid });
}

/** Errors for a name that is taken by something: a table, column, index or key. */
const exists: ReadonlySet<unknown> = new Set([1050, 1060, 1061, 1826]);

/** Columns and keys that cannot be made: their type, length, default or target does not fit. */
const misfits: ReadonlySet<unknown> = new Set([
  ...[1005, 1063, 1067, 1069, 1071, 1074, 1075, 1101, 1117, 1118, 1170, 1215, 1239, 1291, 1294, 1425, 1426, 1439],
  ...[1503, 1506, 1709, 1822, 1830, 1901, 1905, 3104, 3152, 3734, 3750, 3780, 3823, 4161],
]);

/** Something else needs it: a key, an index, an expression. */
const depended: ReadonlySet<unknown> = new Set([
  ...[1054, 1072, 1451, 1217, 1553, 1828, 1829, 1832, 1833, 1834, 1846, 3108, 3730, 3837, 3959, 3855],
]);

/** Comments of a table or a column that are too long. */
const longComments: ReadonlySet<unknown> = new Set([1628, 1629]);

/** MariaDB changes no table whose history it keeps (ER_VERS_ALTER_NOT_ALLOWED). */
const keepsHistory = 4119;

/** Throws it; errors that say nothing about the change become errors of the API. */
function explainMysql(error: unknown, location: ModelPlace): never {
  if (error instanceof PlatformError) throw error;
  const number = errorNumber(error);
  const name = location.field ?? location.collection;
  if (exists.has(number) || isKeyRefused(error, 121)) {
    throw invalidPayload(`"${name}" has the name of something that the database has already.`);
  }
  if (number === 3780 || isKeyRefused(error, 150)) {
    const needs = 'needs the "schema.data_type" of the key there, with its sign, and texts its collation';
    throw invalidPayload(`"${name}" cannot lead there: it ${needs}.`);
  }
  if (longComments.has(number)) throw invalidPayload(`The comment of "${name}" is too long for the database.`);
  if (misfits.has(number)) throw invalidPayload(`"${name}" cannot be made so: types or keys do not fit.`);
  if (number === keepsHistory) {
    const message = `MariaDB keeps the history of "${location.collection}", so its columns stay as they are.`;
    throw new PlatformError('UNPROCESSABLE_ENTITY', message, {}, { cause: error });
  }
  if (depended.has(number)) {
    const message = dependedOn(name);
    throw new PlatformError('UNPROCESSABLE_ENTITY', message, {}, { cause: error });
  }
  return explain(toDatabaseError(toMysqlError(error)), location);
}
