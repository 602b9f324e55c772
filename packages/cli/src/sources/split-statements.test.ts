import { expect, it } from 'vitest';
import { splitStatements } from './mysql/migrations.ts';

it('splits at semicolons that are no part of anything', () => {
  const sql = `-- first; second
    INSERT INTO a VALUES ('x;y', "it''s; \\"z", \`b;c\`); # more; of it
    /* nothing; here */ UPDATE a SET b = '--', c = 1 --1;
    ;; /*!80000 SET x = 1 */; /*M!100616 SET y = 1 */;
    /*M!999999\\- enable the sandbox mode */
    SELECT 1`;
  expect(splitStatements(sql)).toEqual([
    `INSERT INTO a VALUES ('x;y', "it''s; \\"z", \`b;c\`)`,
    "UPDATE a SET b = '--', c = 1 --1",
    '/*!80000 SET x = 1 */',
    '/*M!100616 SET y = 1 */',
    'SELECT 1',
  ]);
});

it('splits at no semicolon of a program', () => {
  const programs = [
    `CREATE TRIGGER a_ai AFTER INSERT ON a FOR EACH ROW BEGIN
      IF NEW.begin = 1 THEN BEGIN SET @x = IF(1, CASE 1 WHEN 1 THEN ';' END, 2); END; END IF;
      CASE NEW.kind WHEN 1 THEN SET @y = 1; ELSE BEGIN END; END CASE;
      again: LOOP LEAVE again; END LOOP; WHILE 0 DO SET @z = 1; END WHILE; SELECT NEW.end INTO @z;
    END`,
    '/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`b`*/ /*!50003 TRIGGER b BEFORE INSERT ON a FOR EACH ROW begin set @a = 1; end */',
    'CREATE OR REPLACE DEFINER = CURRENT_USER FUNCTION f (n int) RETURNS int RETURN CASE n WHEN 1 THEN 2 END',
    'CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO REPLACE INTO a VALUES (1)',
    'CREATE TABLE begin (`end` int, "begin" int)',
    'CREATE TABLE event (begin datetime)',
    'CREATE OR REPLACE VIEW function AS SELECT CASE',
    'BEGIN',
    'INSERT INTO a VALUES (1)',
    'COMMIT',
  ];
  expect(splitStatements(programs.join(';\n'))).toEqual(programs);
});
