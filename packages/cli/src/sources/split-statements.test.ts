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

it.each([
  'CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM a WHERE begin < NOW()',
  'CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO INSERT INTO a (begin, end) SELECT CASE WHEN end < begin THEN IF(end, 1, 2) END, end FROM a',
  'CREATE TRIGGER b BEFORE INSERT ON begin FOR EACH ROW SET NEW.begin = NOW()',
  'CREATE PROCEDURE p (begin int) BEGIN SELECT end INTO begin FROM a; SELECT begin, end; END',
  'CREATE PROCEDURE p (n int) SELECT REPEAT("a", n) AS begin FROM a WHERE id IN (n) FOR UPDATE',
  'CREATE PROCEDURE p () BEGIN SELECT CASE id WHEN 1 THEN REPEAT("a", 2) ELSE end END FOR UPDATE; SELECT 1; END',
  'CREATE PROCEDURE p () BEGIN FOR i IN 1..3 DO SET @x = i; END FOR; FOR a IN (SELECT 1) DO SET @x = 1; END FOR; END',
  'CREATE DEFINER=`user`@`%` TRIGGER b BEFORE INSERT ON a FOR EACH ROW BEGIN SET @x = 1; SET @y = 1; END',
  "CREATE DEFINER = 'role' TRIGGER b BEFORE INSERT ON a FOR EACH ROW FOLLOWS `b c` BEGIN SET @x = 1; SET @y = 1; END",
  'CREATE DEFINER=index@localhost EVENT e ON SCHEDULE EVERY 1 DAY DO view: BEGIN SET @x = 1; SET @y = 1; END view',
  'CREATE DEFINER=CURRENT_USER() PROCEDURE p () BEGIN SET @x = 1; SET @y = 1; END',
  '/*!50003 CREATE*/ /*!50020 DEFINER=`view`@`10.0.0.%`*/ /*!50003 PROCEDURE p (n enum("a", "b")) BEGIN SET @x = 1; SET @y = 1; END */',
  'CREATE TRIGGER b BEFORE INSERT ON a FOR EACH ROW IF NEW.x < 0 THEN SET NEW.x = 0; ELSE IF (1) THEN SET @x = IF(1, 2, 3); END IF; END IF',
  'CREATE TRIGGER b BEFORE INSERT ON a FOR EACH ROW PRECEDES c WHILE @x < 3 DO SET @x = 1; END WHILE',
  "CREATE PROCEDURE IF NOT EXISTS p (n decimal(9, 2)) NO SQL COMMENT 'it''s; begin' LOOP SET @x = 1; END LOOP",
  'CREATE FUNCTION f (n int) RETURNS varchar(9) CHARSET utf8mb4 DETERMINISTIC REPEAT SET n = 1; UNTIL n END REPEAT',
  "CREATE FUNCTION f () RETURNS int COMMENT 'begin' READS SQL DATA CASE 1 WHEN 1 THEN RETURN 1; ELSE RETURN 2; END CASE",
  'CREATE FUNCTION f () RETURNS int BEGIN DECLARE begin int; IF begin < 1 THEN RETURN 1; END IF; RETURN begin; END',
  'ALTER EVENT e DO BEGIN DECLARE EXIT HANDLER FOR NOT FOUND, 1062 BEGIN SET @x = 1; END; SET @y = 1; END',
  "CREATE PROCEDURE p () BEGIN DECLARE EXIT HANDLER FOR SQLSTATE '23000' SET @begin = 1; SELECT begin FROM a; END",
  'CREATE PROCEDURE p () SELECT end FROM a WHERE begin < end OR begin FOR UPDATE',
  'CREATE PROCEDURE p () DROP TABLE IF EXISTS a',
  'CREATE EVENT IF NOT EXISTS e ON SCHEDULE EVERY 1 DAY DO CALL p ()',
  'CREATE PROCEDURE p () BEGIN DO IF(1, 2, 3); WHILE 0 DO DO REPEAT("a", 2), CASE 1 WHEN 1 THEN 2 END; END WHILE; SELECT 1; END',
  'CREATE PROCEDURE p () DO IF(1, 2, 3)',
  'CREATE TRIGGER b BEFORE INSERT ON a FOR EACH ROW DO IF(1, 2, 3)',
  'CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO IF 1 THEN SET @x = 1; END IF',
  'CREATE PROCEDURE p () BEGIN FOR i IN 1..3 DO IF (i) THEN SET @x = 1; END IF; END FOR; SET @package = 1; END',
  'BEGIN NOT ATOMIC IF 1 THEN SET @x = 1; END IF; SET @y = 1; BEGIN NOT ATOMIC END; END',
  'a: BEGIN NOT ATOMIC SET @x = 1; LEAVE a; END a',
  'IF 1 THEN SET @x = IF(1, 2, 3); ELSE SET @x = 1; END IF',
  'FOR i IN 1..3 DO SET @x = 1; SET @y = 1; END FOR',
  'CREATE OR REPLACE PACKAGE p AS FUNCTION f RETURN int; PROCEDURE q (n varchar(9)); END',
  `CREATE PACKAGE BODY p AS FUNCTION f RETURN varchar(9) AS BEGIN IF 1 THEN RETURN 1; END IF; RETURN 2; END;
    PROCEDURE q (n varchar(9)) AS x int; BEGIN FOR i IN 1..3 LOOP x := i; END LOOP; SELECT 1 AS begin FROM a; END; END`,
  'CREATE PACKAGE BODY p FUNCTION f () RETURNS int BEGIN RETURN 1; END; PROCEDURE q () SELECT 1; END',
])('takes a program as one statement, and only it: %s', (program) => {
  expect(splitStatements(`${program};\nSELECT 1; SELECT 2`)).toEqual([program, 'SELECT 1', 'SELECT 2']);
});
