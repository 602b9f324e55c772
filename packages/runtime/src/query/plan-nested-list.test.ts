import { describe, expect, test } from 'vitest';
import type { CompiledApi } from '../contract/index.ts';
import { createPlanner } from './planner.ts';
import { magazine } from './testing/magazine.ts';

/** The statement of a list for everybody's eyes, in the SQL of a server. */
function sqlOf(dialect: CompiledApi['dialect'], query: string): string {
  const planner = createPlanner({ ...magazine, dialect });
  const caller = { accessClass: 'admin', user: null, role: 'admin' };
  return planner.list(caller, { name: 'articles' }, query).plan.statement.text;
}

describe('a page within a row', () => {
  const deep = 'deep[comments][_sort]=-id&deep[comments][_limit]=5';
  const comments = `fields=comments.body&${deep}`;

  test('is ordered on MySQL by what leads to its rows first, in one direction with what follows', () => {
    expect(sqlOf('mysql', comments)).toContain(
      'WHERE t2."article_id" = t1."id" ORDER BY t2."article_id" DESC, t2."id" DESC LIMIT 5) t3',
    );
  });

  test('is ordered on MySQL by the junction, which has the same keys', () => {
    expect(sqlOf('mysql', 'fields=tags.name')).toContain(
      'ORDER BY t3."article_id", t3."sort", t3."tag_id" LIMIT 100) t4',
    );
  });

  test('is ordered elsewhere as it was asked for', () => {
    expect(sqlOf('mariadb', comments)).not.toContain('ORDER BY t2."article_id"');
    expect(sqlOf('postgres', `fields=comments.article_id.title&${deep}`)).toContain(
      'WHERE t2."article_id" = t1."id" ORDER BY t2."id" DESC LIMIT',
    );
  });
});
