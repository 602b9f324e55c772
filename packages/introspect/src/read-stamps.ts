import type { Dialect } from '@tablewright/runtime/language';
import { markedName, stampsQuery } from './mysql/stamps-sql.ts';
import { stampsSql } from './postgres/sql/stamps.ts';
import type { ReadOptions, RunStatement } from './read.ts';
import type { CatalogStamps } from './stamps.ts';

/**
 * Looks whether the tables of a database may have changed, for much less than reading them: marks change with every
 * change of a table, a column, a key, a trigger, a type, a comment or a right, and sometimes without one. Rejects with
 * the error of `run`.
 */
export async function readStamps(
  dialect: Dialect,
  run: RunStatement,
  options: Pick<ReadOptions, 'schemas'> = {},
): Promise<CatalogStamps> {
  if (dialect !== 'postgres') return gather(await run(...stampsQuery(dialect, options.schemas)));
  const marks = new Map((await run(stampsSql, [])).map(([relation, stamp]) => [relation ?? '', stamp ?? '']));
  const whole = marks.get(noRelation) ?? '';
  marks.delete(noRelation);
  return { whole, relations: marks };
}

/** The oid by which the statement marks what is no relation's own. */
const noRelation = '0';

function gather(rows: readonly (readonly (string | null)[])[]): CatalogStamps {
  const relations = new Map<string, string>();
  let whole = '';
  for (const [schema, table, ...marks] of rows) {
    const stamp = ` ${marks.join(' ')}`;
    if (schema == null || table == null) whole += stamp;
    else {
      const name = markedName({ table_schema: schema, table_name: table });
      relations.set(name, (relations.get(name) ?? '') + stamp);
    }
  }
  return { whole, relations };
}
