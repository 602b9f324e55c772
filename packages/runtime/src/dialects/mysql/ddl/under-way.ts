/**
 * Changes that are under way on MySQL and MariaDB, which commit every statement that changes a table. A table holds
 * their statements, how to undo them, and how far they have come. So another process finds them later.
 */
import type { MigrationConnection } from '../../../database/database.ts';
import { ServerError } from '../../../database/errors.ts';
import { errorNumber, isKeyRefused } from '../own-tables/errors.ts';
import { mysqlProjectTables } from '../own-tables/model.ts';
import { dropDrafts } from './drafts.ts';
import type { TableStatement } from './statements.ts';

/** A statement of a change, and what undoes it. */
type DoneStatement = Pick<TableStatement, 'sql' | 'undo' | 'loose'>;

/** A change, as it is written down. */
export interface ChangeUnderWay {
  readonly name: string;
  readonly statements: readonly DoneStatement[];
  /** Statements that write into the platform's own tables at the end, in one transaction. */
  readonly rows: readonly string[];
}

/** Time that a change waits for another one that may be half done, in seconds. */
const turn = 60;

/**
 * Waits for every other change, completes or undoes half-done ones, and creates the tables that changes are written
 * down in. Returns the names of the completed ones. The turn lasts as long as the session. `schema` is that of the
 * platform's own tables, quoted; empty for the database of the connection.
 */
export async function beginChanges(
  session: MigrationConnection,
  schema: string,
  waitSeconds = turn,
): Promise<readonly string[]> {
  const lock = "CONCAT('platform model ', LEFT(SHA2(DATABASE(), 256), 40))";
  const [[taken] = []] = await session.query(`SELECT CAST(GET_LOCK(${lock}, ${waitSeconds}) AS CHAR)`, []);
  if (taken !== '1') {
    const message = 'Another change of the model did not come to an end.';
    throw new ServerError(new Map(Object.entries({ C: '55P03', M: message })));
  }
  const { create, underWay } = mysqlProjectTables(schema);
  for (const text of create) await session.script(text);
  await dropDrafts(session);
  const completed: string[] = [];
  for (const [name, sql, begun] of await session.query(underWay.read, [])) {
    const written: { readonly change?: Omit<ChangeUnderWay, 'name'> } = JSON.parse(sql ?? '{}');
    // Others are files that `platform migrate` applies, and goes on with.
    if (written.change === undefined) continue;
    const change = { name: name ?? '', ...written.change };
    if (await finishChange(session, schema, change, Number(begun))) completed.push(change.name);
  }
  return completed;
}

/** Runs the statements of a change, each written down before. Rejects with the error of the one that failed. */
export async function runUnderWay(
  session: MigrationConnection,
  schema: string,
  change: ChangeUnderWay,
  about: (index: number) => void = () => {},
): Promise<void> {
  const { underWay } = mysqlProjectTables(schema);
  const { name, statements, rows } = change;
  await session.query(underWay.add, [name, JSON.stringify({ change: { statements, rows } })]);
  for (const [index, statement] of statements.entries()) {
    about(index);
    await session.query(underWay.note, [String(index + 1), name]);
    await runStatement(session, statement).catch(async (error: unknown) => {
      // A statement that the server has refused is not done; after a lost connection that is unknown.
      if (errorNumber(error) !== undefined) await session.query(underWay.note, [String(index), name]);
      throw error;
    });
  }
}

async function runStatement({ script: source }: MigrationConnection, { sql, loose }: DoneStatement): Promise<void> {
  if (!loose) return source(sql);
  await source("SET @platform_mode = @@SESSION.sql_mode, SESSION sql_mode = ''");
  await source(sql).finally(() => source('SET SESSION sql_mode = @platform_mode'));
}

/** Undoes a change that came so far, or completes it, and is true, where something is lost already. */
async function finishChange(
  session: MigrationConnection,
  schema: string,
  change: ChangeUnderWay,
  begun: number,
): Promise<boolean> {
  const { underWay } = mysqlProjectTables(schema);
  const { name, statements, rows } = change;
  const reached = statements.slice(0, begun);
  const isLost = reached.some(({ undo }) => undo === null);
  if (isLost && (await complete(session, statements.slice(begun - 1)))) {
    await session.script('START TRANSACTION');
    for (const sql of rows) await session.script(sql);
    await session.query(underWay.remove, [name]);
    await session.script('COMMIT');
    return true;
  }
  for (const { undo } of reached.toReversed()) {
    if (undo === null) continue;
    await session.script(undo).catch((error: unknown) => {
      if (!isDoneAlready(error, undo)) throw error;
    });
  }
  await session.query(underWay.remove, [name]);
  return false;
}

/** Runs the statement whose outcome is unknown, and those after it; false where it is refused. */
async function complete(session: MigrationConnection, statements: readonly DoneStatement[]): Promise<boolean> {
  for (const [index, statement] of statements.entries()) {
    try {
      await runStatement(session, statement);
    } catch (error) {
      if (errorNumber(error) === undefined) throw error;
      if (index === 0 && isDoneAlready(error, statement.sql)) continue;
      if (index === 0) return false;
      throw error;
    }
  }
  return true;
}

/** Errors about dropping what is not there, and making what is. Source: the servers' manuals, "Error Codes". */
const made: ReadonlySet<unknown> = new Set([1022, 1050, 1051, 1060, 1061, 1091, 1304, 1359, 1360, 1826]);

/** Errors about what is not there: a new view or a setting may read that, and were not run then. */
const missing: ReadonlySet<unknown> = new Set([1146, 1305]);

/** True if the refusal of a statement that may have been run before tells that it was. */
export function isDoneAlready(error: unknown, sql: string): boolean {
  const number = errorNumber(error);
  return (
    made.has(number) ||
    isKeyRefused(error, 121) ||
    (missing.has(number) && /^(?:\/\*M?!\d*\s*)?(?:DROP|RENAME|ALTER)\b/i.test(sql))
  );
}
