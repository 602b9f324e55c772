import type { Dialect } from '@tablewright/runtime/language';
import type { CatalogMarks } from './marks.ts';
import { markedName, marksQuestion } from './mysql/marks-sql.ts';
import { marksSql } from './postgres/sql/marks.ts';
import type { ReadOptions, RunStatement } from './read.ts';

/**
 * Looks whether the tables of a database may have changed, for much less than reading them: marks change with every
 * change of a table, a column, a key, a trigger, a type, a comment or a right, and sometimes without one. Rejects with
 * the error of `run`.
 */
export async function readMarks(
  dialect: Dialect,
  run: RunStatement,
  options: Pick<ReadOptions, 'schemas'> = {},
): Promise<CatalogMarks> {
  if (dialect !== 'postgres') return gather(await run(...marksQuestion(dialect, options.schemas)));
  const marks = new Map((await run(marksSql, [])).map(([relation, mark]) => [relation ?? '', mark ?? '']));
  const whole = marks.get(noRelation) ?? '';
  marks.delete(noRelation);
  return { whole, relations: marks };
}

/** The oid by which the statement marks what is no relation's own. */
const noRelation = '0';

function gather(rows: readonly (readonly (string | null)[])[]): CatalogMarks {
  const relations = new Map<string, string>();
  let whole = '';
  for (const [schema, table, ...marks] of rows) {
    const mark = ` ${marks.join(' ')}`;
    if (schema == null || table == null) whole += mark;
    else {
      const name = markedName({ table_schema: schema, table_name: table });
      relations.set(name, (relations.get(name) ?? '') + mark);
    }
  }
  return { whole, relations };
}
