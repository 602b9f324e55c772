/** Migrations of a project on MySQL and MariaDB; each statement is recorded, so that an interrupted one goes on. */
import { mysqlSettings } from '@tablewright/introspect';
import { modelLock } from '@tablewright/runtime/language';
import { beginChanges, isDoneAlready, mysqlProjectTables, recordMigration } from '@tablewright/runtime/mysql';
import { ownTables, type ProjectMigration, platformVersion } from '@tablewright/runtime/tools';
import { CommandError, exitCodes, reasonOf } from '../../errors/failures.ts';
import { quotedName, runOwn, type Source } from '../source.ts';

/** Statements that commit by themselves, so that it is unknown if they were run when no answer came; dumps comment some. */
const committing = /^(?:\/\*M?!\d*\s*)?(?:CREATE|ALTER|DROP|RENAME|TRUNCATE|ANALYZE|OPTIMIZE|GRANT|REVOKE|SET|USE)\b/i;

/** Statements on which those after them in the session rely. */
const lasting = /^(?:\/\*M?!\d*\s*)?(?:SET|USE|PREPARE)\b/i;

/** Settings of a dump, such as another character set, are neither for what is written down of it nor for those after it. */
const settings = [
  mysqlSettings,
  "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'",
];

/** Completes or undoes a change of the model that a server has left half done. `schema` as `systemPlace` gives it. */
export async function waitForChanges(source: Source, schema: string): Promise<void> {
  await inTurn(source, schema, async () => {});
}

/** Applies one; false if another process has done so meanwhile. */
export async function applyOnMysql(source: Source, schema: string, migration: ProjectMigration): Promise<boolean> {
  const { name, script: text } = migration;
  const statements = splitStatements(text);
  let position = 0;
  try {
    return await inTurn(source, schema, async (systemSchema) => {
      const { migrations, underWay } = mysqlProjectTables(systemSchema);
      if ((await source.run(migrations, [])).some(([applied]) => applied === name)) return false;
      const reached = await reachedOf(source, systemSchema, migration, statements);
      for (position = 0; position < statements.length; position++) {
        const sql = statements[position] ?? '';
        const next = { name, sql, place: position, reached };
        if (position >= Math.floor(reached / 2)) await runNext(source, systemSchema, next);
        else if (lasting.test(sql)) await source.script(sql);
      }
      for (const sql of [...settings, 'START TRANSACTION']) await source.script(sql);
      await source.script(recordMigration(systemSchema, migration, platformVersion()));
      await source.run(underWay.remove, [name]);
      await source.script('COMMIT');
      return true;
    });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      exitCodes.database,
      `The migration ${name} cannot be applied: ${reasonOf(error)}. ${position} of its ${statements.length} statements were.`,
      'Correct what is in its way, and run `platform migrate` again: it goes on where it was.',
    );
  }
}

/**
 * Runs a function when no server is changing the model and no permissions are compiled. It gets the schema of the
 * platform's own tables, quoted, because statements of a file may lead into another database.
 */
async function inTurn<T>(source: Source, schema: string, work: (systemSchema: string) => Promise<T>): Promise<T> {
  const [[database] = []] = await source.run('SELECT DATABASE()', []);
  const home = quotedName(source.dialect, database ?? '');
  try {
    for (const sql of [...settings, 'START TRANSACTION']) await source.script(sql);
    await runOwn(source, ownTables({ schema, dialect: source.dialect }).turn(), [modelLock]);
    await beginChanges({ query: source.run, script: source.script, family: 'mysql' }, schema);
    return await work(schema === '' ? home : schema);
  } finally {
    const last = ['ROLLBACK', 'DO RELEASE_ALL_LOCKS()', `USE ${home}`, ...settings, 'SET SESSION sql_mode = DEFAULT'];
    for (const sql of last) {
      // The connection may be broken; the first error is the one to report.
      await source.script(sql).catch(() => undefined);
    }
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
    if (unknown && isDoneAlready(error, sql)) return;
    // A statement that the server refused was not run.
    await note(2 * position).catch(() => undefined);
    throw error;
  });
  await note(2 * position + 2);
}

/**
 * Skipped as a whole: texts, names, and comments, of which `--` needs a blank. `/*!` is none, nor is `/*M!` of MariaDB,
 * unless it is for a version that no server has. Then what nests.
 */
const skipped =
  /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`|--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?!M?!(?!999999))[\s\S]*?\*\/|;|(?<![\w$.@])(?:BEGIN(?:\s+NOT\s+ATOMIC)?|PACKAGE(?:\s+BODY)?|CASE|IF|LOOP|REPEAT|WHILE|FOR(?=\s+\S+\s+IN\b)|END(?:\s+(?:CASE|IF|LOOP|REPEAT|WHILE|FOR(?!\s+(?:UPDATE|SHARE))))?)(?![\w$])/gi;

/** The name of a role, a user, a host or a trigger. */
const anyName = String.raw`(?:'[^']*'|"[^"]*"|${'`(?:[^`]|``)*`'}|[\w$.%-]+)`;

/** Statements with a program in them, in whose blocks lie semicolons. MariaDB has packages, and blocks alone. */
const programs = new RegExp(
  String.raw`^(?:(?:${anyName}\s*:\s*)?(?:BEGIN\s+NOT\s+ATOMIC|CASE|IF|LOOP|REPEAT|WHILE|FOR)|(?:/\*M?!\d*\s*)?(?:CREATE|ALTER)(?:\s|\*/|/\*M?!\d*|OR\s+REPLACE\b|AGGREGATE\b|DEFINER\s*=\s*(?:CURRENT_(?:USER|ROLE)\b(?:\s*\(\s*\))?|${anyName}(?:\s*@\s*${anyName})?))*(?:TRIGGER|PROCEDURE|FUNCTION|EVENT|PACKAGE))\b`,
  'i',
);

/** Before the first statement of a routine: its parameters, type and characteristics. */
const routine = String.raw`(?:PROCEDURE|FUNCTION)\b[^(]*\((?:[^()]|\([^()]*\))*\)(?:\s*RETURNS(?:\s+(?!(?:RETURN|BEGIN|IF|CASE|WHILE)\b)\w+|\s*\([^()]*\))+)?(?:\s*(?:'(?:[^'\\]|\\.|'')*'|\b(?:LANGUAGE|NOT|DETERMINISTIC|CONTAINS|NO|READS|MODIFIES|SQL|DATA|SECURITY|DEFINER|INVOKER|COMMENT)\b))*`;

/** Conditions of a handler. */
const condition = String.raw`(?:NOT\s+FOUND|SQLSTATE\s+(?:VALUE\s+)?'\w+'|\w+)`;

/** Text before a statement of a program, without DO. Routines of Oracle, which MariaDB takes as well, have AS there. */
const beginnings = String.raw`(?:^|[;:]|\b(?:BEGIN(?:\s+NOT\s+ATOMIC)?|THEN|ELSE|LOOP|REPEAT|EACH\s+ROW(?:\s+(?:FOLLOWS|PRECEDES)\s+${anyName})?|HANDLER\s+FOR\s+${condition}(?:\s*,\s*${condition})*|${routine}|(?:PROCEDURE|FUNCTION)\s+${anyName}(?:\s*\((?:[^()]|\([^()]*\))*\))?(?:\s*RETURN\s+\w+(?:\s*\([^()]*\))?)?\s*\b[AI]S))`;

/**
 * The same with the DO of a loop or an event. Elsewhere BEGIN and END are names of columns, IF and REPEAT functions; so are
 * these behind a DO that is a statement itself.
 */
const starts = new RegExp(String.raw`(?:${beginnings}|\bDO(?<!(?:${beginnings}|\bDO)\s*DO))$`, 'i');

/** Text before a column in a CASE. */
const operands = /(?:[-+/<>=(,]|\b(?:CASE|WHEN|THEN|ELSE|AND|OR))$/i;

/** Opens or closes a block with a word after the text of its program. A CASE may also be an expression, without statements. */
function nest(blocks: ('statements' | 'expression')[], word: string, text: string): void {
  const isExpression = blocks.at(-1) === 'expression';
  if (/^END/i.test(word)) {
    const isEnd = /\s/.test(word) || (isExpression ? !operands.test(text) : /(?:;|\bBEGIN|\bATOMIC)$/i.test(text));
    if (isEnd) blocks.pop();
  } else if (/^PACKAGE/i.test(word)) {
    if (blocks.length === 0 && !programs.test(text)) blocks.push('statements');
  } else if (!isExpression && starts.test(text)) blocks.push('statements');
  else if (/^CASE/i.test(word)) blocks.push('expression');
}

/** Statements of a file without the text between them, and without the locks of a dump, under which nothing else is written. */
export function splitStatements(sqlText: string): readonly string[] {
  const statements: string[] = [];
  const blocks: Parameters<typeof nest>[0] = [];
  let text = '';
  let end = 0;
  let isProgram: boolean | null = null;
  for (const { 0: found, index } of sqlText.matchAll(skipped)) {
    text += sqlText.slice(end, index);
    end = index + found.length;
    if (/^\w/.test(found)) {
      isProgram ??= programs.test(`${text}${found}`.trim());
      // In a block the end tells all, and programs may be long.
      if (isProgram) nest(blocks, found, (blocks.length === 0 ? text : text.slice(-400)).trim());
    }
    if (found === ';' && blocks.length === 0) {
      statements.push(text.trim());
      text = '';
      isProgram = null;
    } else if (!/^(?:--|#|\/\*)/.test(found)) text += found;
  }
  statements.push((text + sqlText.slice(end)).trim());
  return statements.filter((statement) => statement !== '' && !/^(?:UN)?LOCK TABLES?\b/i.test(statement));
}
