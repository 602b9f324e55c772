import type { Dialect } from '@platform/runtime/contract';
import type { CatalogMarks } from './marks.ts';
import { marksQuestion } from './mysql/marks-sql.ts';
import { marksSql } from './postgres/sql/marks.ts';
import type { ReadOptions, RunStatement } from './read.ts';

/**
 * Looks whether the tables of a database may have changed, for much less than reading them: marks are other ones whenever
 * somebody changed a table, a column, a key, a trigger, a type, a comment or a right, and may be for nothing. Rejects with
 * whatever `run` rejects with.
 */
export async function readMarks(
  dialect: Dialect,
  run: RunStatement,
  options: Pick<ReadOptions, 'schemas'> = {},
): Promise<CatalogMarks> {
  if (dialect !== 'postgres') {
    const rows = await run(...marksQuestion(dialect, options.schemas));
    return { whole: rows.map((row) => row.join(' ')).join('\n'), relations: new Map() };
  }
  const marks = new Map((await run(marksSql, [])).map(([relation, mark]) => [relation ?? '', mark ?? '']));
  const whole = marks.get(noRelation) ?? '';
  marks.delete(noRelation);
  return { whole, relations: marks };
}

/** The oid by which the statement marks what is no relation's own. */
const noRelation = '0';
