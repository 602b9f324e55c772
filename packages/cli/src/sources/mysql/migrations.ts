/** Migrations of a project on MySQL and MariaDB; each statement is recorded, so that an interrupted one goes on. */
import { modelLock } from '@tablewright/runtime/language';
import { beginChanges, isDoneAlready, mysqlProjectTables, recordMigration } from '@tablewright/runtime/mysql';
import { ownTables, type ProjectMigration, platformVersion } from '@tablewright/runtime/tools';
import { CommandError, exitCodes, reasonOf } from '../../errors/failures.ts';
import { runOwn, type Source } from '../source.ts';

const settings = "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'";

/** Statements that commit by themselves, so that it is unknown if they were run when no answer came. */
const committing = /^(?:CREATE|ALTER|DROP|RENAME|TRUNCATE|ANALYZE|OPTIMIZE|GRANT|REVOKE|SET|USE)\b/i;

/** Completes or undoes a change of the model that a server has left half done. `schema` as `systemPlace` gives it. */
export async function waitForChanges(source: Source, schema: string): Promise<void> {
  await source.script(settings);
  try {
    await takeTurn(source, schema);
    await beginChanges({ query: source.run, script: source.script, family: 'mysql' }, schema);
  } finally {
    await letGo(source);
  }
}

/** Applies one; false if another process has done so meanwhile. */
export async function applyOnMysql(source: Source, schema: string, migration: ProjectMigration): Promise<boolean> {
  const { name, script: text } = migration;
  const { migrations, underWay } = mysqlProjectTables(schema);
  const statements = splitStatements(text);
  await source.script(settings);
  let position = 0;
  try {
    await takeTurn(source, schema);
    await beginChanges({ query: source.run, script: source.script, family: 'mysql' }, schema);
    if ((await source.run(migrations, [])).some(([applied]) => applied === name)) return false;
    const reached = await reachedOf(source, schema, migration, statements);
    for (position = 0; position < statements.length; position++) {
      const sql = statements[position] ?? '';
      // Settings hold for the session of those that follow.
      if (position >= Math.floor(reached / 2)) await runNext(source, schema, { name, sql, place: position, reached });
      else if (/^SET\b/i.test(sql)) await source.script(sql);
    }
    await source.script('START TRANSACTION');
    await source.script(recordMigration(schema, migration, platformVersion()));
    await source.run(underWay.remove, [name]);
    await source.script('COMMIT');
    return true;
  } catch (error) {
    await source.script('ROLLBACK').catch(() => undefined);
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      exitCodes.database,
      `The migration ${name} cannot be applied: ${reasonOf(error)}. ${position} of its ${statements.length} statements were.`,
      'Correct what is in its way, and run `platform migrate` again: it goes on where it was.',
    );
  } finally {
    await letGo(source);
  }
}

/** Waits for servers that are changing the model, and for permissions that are compiled. */
async function takeTurn(source: Source, schema: string): Promise<void> {
  await source.script('START TRANSACTION');
  await runOwn(source, ownTables({ schema, dialect: source.dialect }).turn(), [modelLock]);
}

/** Releases the lock that `beginChanges` has taken, and resets the settings of the session. */
async function letGo(source: Source): Promise<void> {
  for (const sql of ['ROLLBACK', 'DO RELEASE_ALL_LOCKS()', 'SET SESSION sql_mode = DEFAULT']) {
    // The connection may be broken; the first error is the one to report.
    await source.script(sql).catch(() => undefined);
  }
}

/** Progress of a migration: twice the number of statements run, and one more if another was begun. */
async function reachedOf(
  source: Source,
  schema: string,
  { name }: ProjectMigration,
  statements: readonly string[],
): Promise<number> {
  const { run } = source;
  const { underWay } = mysqlProjectTables(schema);
  const [, text, reached] = (await run(underWay.read, [])).find(([recorded]) => recorded === name) ?? [];
  if (text == null) {
    await run(underWay.add, [name, JSON.stringify({ file: statements })]);
    return 0;
  }
  const { file = [] }: { readonly file?: readonly string[] } = JSON.parse(text);
  const begun = file.slice(0, Math.ceil(Number(reached) / 2));
  if (begun.every((sql, index) => sql === statements[index])) {
    // The statements after it may have changed.
    await source.script('START TRANSACTION');
    await run(underWay.remove, [name]);
    await run(underWay.add, [name, JSON.stringify({ file: statements })]);
    await run(underWay.note, [String(reached), name]);
    await source.script('COMMIT');
    return Number(reached);
  }
  throw new CommandError(
    exitCodes.invalid,
    `The migration ${name} was applied in part, and its file has changed since in what was run.`,
    `Restore the first ${begun.length} of its statements; the others may change.`,
  );
}

interface Next {
  readonly name: string;
  readonly sql: string;
  readonly place: number;
  readonly reached: number;
}

async function runNext(
  { run, script: source }: Source,
  schema: string,
  { name, sql, place: position, reached }: Next,
): Promise<void> {
  const { underWay } = mysqlProjectTables(schema);
  const note = (so: number) => run(underWay.note, [String(so), name]);
  if (!committing.test(sql)) {
    await source('START TRANSACTION');
    await source(sql);
    await note(2 * position + 2);
    await source('COMMIT');
    return;
  }
  const unknown = reached === 2 * position + 1;
  await note(2 * position + 1);
  await source(sql).catch(async (error: unknown) => {
    if (unknown && isDoneAlready(error)) return;
    // A statement that the server refused was not run.
    await note(2 * position).catch(() => undefined);
    throw error;
  });
  await note(2 * position + 2);
}

/** Skipped as a whole: texts, names, and comments. `--` is a comment if a blank follows, `/*!` is none. */
const skipped =
  /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`|--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?!!)[\s\S]*?\*\/|;/g;

/** Statements of a file without the text between them. Semicolons within BEGIN … END are not recognized. */
export function splitStatements(sqlText: string): readonly string[] {
  const statements: string[] = [];
  let text = '';
  let end = 0;
  for (const { 0: found, index } of sqlText.matchAll(skipped)) {
    text += sqlText.slice(end, index);
    end = index + found.length;
    if (found === ';') {
      statements.push(text.trim());
      text = '';
    } else if (!/^(?:--|#|\/\*)/.test(found)) text += found;
  }
  statements.push((text + sqlText.slice(end)).trim());
  return statements.filter((statement) => statement !== '');
}
