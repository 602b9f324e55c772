import { expect, it } from 'vitest';
import { splitStatements } from './mysql/migrations.ts';

it('splits at semicolons that are no part of anything', () => {
  const sql = `-- first; second
    INSERT INTO a VALUES ('x;y', "it''s; \\"z", \`b;c\`); # more; of it
    /* nothing; here */ UPDATE a SET b = '--', c = 1 --1;
    ;; /*!80000 SET x = 1 */;
    SELECT 1`;
  expect(splitStatements(sql)).toEqual([
    `INSERT INTO a VALUES ('x;y', "it''s; \\"z", \`b;c\`)`,
    "UPDATE a SET b = '--', c = 1 --1",
    '/*!80000 SET x = 1 */',
    'SELECT 1',
  ]);
});
