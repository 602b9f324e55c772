/** `doctor`, `can` and `explain` on MariaDB, and on MySQL where there is one. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Connection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import type { CommandResult } from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import { runWarm } from '../support/warm-command.ts';

const sql = `
CREATE TABLE authors (id int PRIMARY KEY, name text NOT NULL, email text);
CREATE TABLE articles (id int PRIMARY KEY, title varchar(50) NOT NULL, status varchar(20), author_id int, seen timestamp(6) NULL,
  FOREIGN KEY (author_id) REFERENCES authors (id));
CREATE TABLE comments (id int PRIMARY KEY, article_id int, body text);
CREATE TABLE loans (book_id int, since date) ENGINE = MyISAM;
CREATE TABLE codes (code varchar(9) NOT NULL UNIQUE, note text);
CREATE TABLE closed (id int PRIMARY KEY, code int);
CREATE VIEW broken AS SELECT id FROM closed;
INSERT INTO authors VALUES (7, 'Ann', 'ann@example.com');
INSERT INTO articles VALUES (1, 'One', 'published', 7, NOW(6)), (2, 'Two', 'draft', 7, NULL), (3, 'Three', 'draft', NULL, NULL);
`;
const permissions = `roles:
  writer: { description: Writes }
permissions:
  public:
    articles: { read: { fields: [id, title], filter: { status: published } } }
  writer:
    articles:
      read: true
      update:
        - { fields: [title], filter: { author_id: { _eq: $CURRENT_USER }, status: draft, "year(seen)": { _null: true } } }
        - { fields: [title], filter: { status: broken } }
    comments: { read: { filter: { body: { _neq: hidden } } } }
    authors: { read: { fields: [id, name] } }
`;

describe.each(servers)('$name', ({ name, dialect, missing, start }) => {
  if (missing) return void it.skip('is not there');

  let server: MysqlServer;
  let url: string;
  let limited: string;
  let folder: string;
  beforeAll(async () => {
    server = await start();
    url = await createMysqlDatabase(server, sql);
    folder = await mkdtemp(join(tmpdir(), 'platform-tools-'));
    await writeFile(join(folder, 'permissions.yaml'), permissions);
    const config = "export default { database: { url: process.env.DATABASE_URL }, graphql: { enums: 'types' } };\n";
    await writeFile(join(folder, 'platform.config.mjs'), config);
    const other = new URL(url);
    const database = other.pathname.slice(1);
    other.username = `reader_${database.slice(-8)}`;
    other.password = 'reads';
    limited = other.href;
    await withMysql(url, (connection) =>
      connection.query(`
        CREATE USER ${other.username}@'%' IDENTIFIED BY 'reads';
        GRANT SELECT ON ${database}.authors TO ${other.username}@'%'; GRANT SELECT ON ${database}.articles TO ${other.username}@'%';
        GRANT INSERT ON ${database}.closed TO ${other.username}@'%'; GRANT SELECT ON ${database}.comments TO ${other.username}@'%'`),
    );
  }, 120_000);
  afterAll(async () => {
    const user = new URL(limited).username;
    await withMysql(url, (connection) => connection.query(`DROP USER ${user}@'%'`));
    await Promise.all([server?.stop(), rm(folder, { recursive: true, force: true })]);
  });

  const platform = (...args: readonly string[]): Promise<CommandResult> =>
    runWarm([...args, '--project', folder], { DATABASE_URL: url });

  async function findings(of: string): Promise<readonly string[]> {
    const { stdout } = await runWarm(['doctor', '--json', '--project', folder], { DATABASE_URL: of });
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const found = events.filter(({ event }) => event === 'finding');
    return found.map(({ check, severity, message, advice }) => `${severity} ${check}: ${message} ${advice}`);
  }

  it('doctor names what may too much, tables without transactions or keys, and rules without an index', async () => {
    expect(await findings(url)).toEqual([
      expect.stringMatching(/^note no-schema-file/),
      expect.stringMatching(/^warning superuser: The user of DATABASE_URL may do everything on the server\./),
      expect.stringMatching(/^warning no-transactions: loans is a table of MyISAM, .*ALTER TABLE `loans` ENGINE/),
      expect.stringMatching(/^note rule-index: .* asks for status, .*ALTER TABLE `articles` ADD INDEX \(`status`\);/),
      expect.stringMatching(/^note no-key: "broken" has no key/),
      expect.stringMatching(/^warning no-key: "codes" .* Add a primary key, or name the unique one as "key" in/),
      expect.stringMatching(/^warning no-key: "loans" has no key: .* Add a primary key\.$/),
    ]);
  });

  it('doctor says what a column needs before it can have the index of its shapes', async () => {
    const place = name === 'MySQL' ? 'point NOT NULL SRID 4326' : 'point NOT NULL';
    const advised = async () => {
      const found = await findings(url);
      return found.filter((text) => text.includes('geo-index-missing')).map((text) => text.split('". ')[1]);
    };
    await withMysql(url, (connection) =>
      connection.query(`CREATE TABLE venues (id int PRIMARY KEY, spot point, place ${place})`),
    );
    const index = 'ALTER TABLE `venues` ADD SPATIAL INDEX (`place`);';
    const needs = name === 'MySQL' ? 'NOT NULL and an SRID' : 'NOT NULL';
    expect(await advised()).toEqual([
      `Give \`spot\` ${needs}, then: ALTER TABLE \`venues\` ADD SPATIAL INDEX (\`spot\`);`,
      index,
    ]);
    await withMysql(url, (connection) => connection.query(index));
    expect(await advised()).toHaveLength(1);
    await withMysql(url, (connection) => connection.query('DROP TABLE venues'));
  });

  it('doctor names what the user may not read', async () => {
    await withMysql(url, (connection) => connection.query('DROP VIEW broken'));
    const found = await findings(limited);
    expect(found.filter((text) => text.startsWith('problem'))).toEqual([
      expect.stringMatching(/^problem no-right: The user of DATABASE_URL may not read closed\. GRANT SELECT/),
    ]);
    expect(found.join('\n')).not.toContain('superuser');
    expect(found.filter((text) => text.startsWith('warning no-right'))).toEqual([
      'warning no-right: The user of DATABASE_URL lacks UPDATE on articles: writes that are allowed are SERVICE_UNAVAILABLE. GRANT it UPDATE on each of them, or leave out the rules that need it.',
    ]);
    const right = `UPDATE (title) ON ${new URL(url).pathname.slice(1)}.articles TO ${new URL(limited).username}@'%'`;
    await withMysql(url, (connection) => connection.query(`GRANT ${right}`));
    expect((await findings(limited)).join('\n')).not.toContain('lacks');
  });

  it('doctor tells of a server that is read-only, and asks it no plans of writes', async () => {
    const set = (value: string) => withMysql(url, (connection) => connection.query(`SET GLOBAL read_only = ${value}`));
    await set('ON');
    const found = await findings(limited).finally(() => set('OFF'));
    expect(found).toContainEqual(expect.stringMatching(/^warning standby: The server is read-only/));
    expect(found.join('\n')).not.toContain('unanswered');
  });

  it.runIf(dialect === 'mysql')(
    'triggers that are hidden from the user count as being there, and are no difference',
    async () => {
      const project = await mkdtemp(join(tmpdir(), 'platform-triggers-'));
      const database = new URL(url).pathname.slice(1);
      const user = `writer_${database.slice(-8)}`;
      const writer = Object.assign(new URL(url), { username: user, password: 'writes' }).href;
      const grant = (rights: string) =>
        withMysql(url, (connection) => connection.query(`GRANT ${rights} ON ${database}.* TO ${user}@'%'`));
      const run = async (command: string, from: string) =>
        runWarm([command, '--project', project], { DATABASE_URL: from });
      try {
        await withMysql(url, (connection) =>
          connection.query(`CREATE USER ${user}@'%' IDENTIFIED BY 'writes';
          CREATE TRIGGER counted BEFORE INSERT ON comments FOR EACH ROW SET NEW.body = CONCAT(NEW.body, '!')`),
        );
        await grant('SELECT, INSERT, UPDATE, DELETE, REFERENCES');
        expect(await run('generate', url)).toMatchObject({
          code: 0,
          stderr: expect.not.stringContaining('triggers-hidden'),
        });
        const facts = join(project, 'platform.schema.json');
        expect((await readFile(facts, 'utf8')).match(/"amended": .*/g)).toEqual(['"amended": true,']);
        expect(await run('check', writer)).toMatchObject({ code: 0 });
        const { stderr } = await run('generate', writer);
        expect(stderr).toMatch(/triggers-hidden[\s\S]*GRANT the user of DATABASE_URL the right TRIGGER/);
        expect(new Set((await readFile(facts, 'utf8')).match(/"amended": .*/g))).toEqual(
          new Set(['"amended": "hidden",']),
        );
        await grant('TRIGGER');
        expect(await run('generate', writer)).toMatchObject({
          code: 0,
          stderr: expect.not.stringContaining('triggers-hidden'),
        });
        expect((await readFile(facts, 'utf8')).match(/"amended": .*/g)).toEqual(['"amended": true,']);
      } finally {
        await withMysql(url, (connection) => connection.query(`DROP USER ${user}@'%'; DROP TRIGGER counted`));
        await rm(project, { recursive: true, force: true });
      }
    },
  );

  it('can judges one item, part by part', async () => {
    const own = await platform('can', 'writer', 'update', 'articles', '2', '--user', '7');
    expect(own.stderr).toContain('rule 1: it allows this item');
    expect(own.stderr).toContain('rule 2: it does not reach this item');
    const foreign = await platform('can', 'writer', 'update', 'articles', '3', '--user', '7');
    expect(foreign.stderr).toContain('does not hold: author_id _eq $CURRENT_USER');
    expect(foreign.stderr).not.toContain('does not hold: status _eq "draft"');
    const item = await platform('can', 'writer', 'read', 'articles', '99');
    expect(item.stderr).toContain('There is no item "99" in articles.');
    expect([own.code, foreign.code, item.code]).toEqual([0, 1, 2]);
  });

  it('explain tells statement, parameters, plan and the index that is missing, and measures', async () => {
    const request = 'GET /items/articles?fields=title,author_id.name&filter[status][_eq]=draft&limit=7';
    const { code, stderr } = await platform('explain', request, '--as', 'writer');
    expect([code, stderr]).toEqual([0, expect.stringContaining('= "draft"')]);
    expect(stderr).toMatch(/plan {5}of the database server at/);
    expect(stderr).toMatch(/ articles: .*; consider one on \(status\)/);
    const measured = await platform('explain', request, '--as', 'writer', '--analyze');
    expect(measured.stderr).toMatch(/r_rows|actual time/);
    const byKey = await platform('explain', 'GET /items/articles/1', '--as', 'writer');
    expect(byKey.stderr).toContain('every condition can use one');
  });

  it('explain rehearses a write and takes it back', async () => {
    const asked = ['--as', 'writer', '--user', '7', '--data', '{"title":"Zwei"}', '--rehearse'];
    const { code, stderr } = await platform('explain', 'PATCH /items/articles/2?fields=title', ...asked);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/answer {3}\{"data":\{"title":"Zwei"\}\}/)]);
    expect(stderr).toMatch(/UPDATE .*articles/);
    expect(stderr.match(/^plan {5}of/gm)?.length).toBe(stderr.match(/^SQL {6}/gm)?.length);
    const refused = await platform('explain', 'PATCH /items/articles/3', ...asked);
    expect(refused.stderr).toContain('Rule 1 for changing articles would grant it, but does not reach the rows.');
    const title = (connection: Connection) => connection.query('SELECT title FROM articles WHERE id = 2');
    expect((await withMysql(url, title))[0]).toEqual([{ title: 'Two' }]);
  });

  it('check, diff and schema pull name tables as the server does, which has no schema', async () => {
    expect((await platform('generate')).code).toBe(0);
    const change = `ALTER TABLE articles MODIFY title varchar(60) NOT NULL, ADD COLUMN more int,
      ADD COLUMN kind enum('a b') NULL, ADD FOREIGN KEY (more) REFERENCES authors (id);
      DROP TABLE loans; CREATE VIEW readers AS SELECT id FROM authors; CREATE TABLE platform_mine (id int PRIMARY KEY)`;
    await withMysql(url, (connection) => connection.query(change));
    const told = [
      await platform('check'),
      await platform('check', '--json'),
      await platform('diff', 'work', 'database'),
      await platform('diff', 'work', 'database', '--json'),
      await platform('generate', '--check', '--notes'),
      await platform('schema', 'pull', '--json'),
    ].map(({ stdout, stderr }) => stdout + stderr);
    expect(told[0]).toContain('column articles.title: Its type was varchar(50) and is varchar(60).');
    expect(told[0]).toContain('column articles.title: It is varchar(60), compiled as varchar(50).');
    expect(told[2]).toContain('The collection "loans" is gone.');
    expect(told[2]).toContain('There is a foreign key (more) to authors (id); all its columns are new.');
    expect(told[4]).toContain('reserved-name at table platform_mine');
    expect(told[4]).toContain('enum-as-string at enum articles.kind\n');
    expect(told[5]).toContain('"object":"table loans"');
    for (const text of told) expect(text.replaceAll('public.js', '')).not.toMatch(/public\.(?!json|graphql)\w/);
  });

  it('migrate keeps to its database and its settings, wherever a file leads', async () => {
    const other = `${new URL(url).pathname.slice(1)}_other`;
    const migrations = join(folder, 'migrations');
    const write = (name: string, text: string) => writeFile(join(migrations, `${name}.sql`), text);
    await mkdir(migrations, { recursive: true });
    await withMysql(url, (connection) => connection.query(`CREATE DATABASE ${other}`));
    const dump = `/*M!999999\\- enable the sandbox mode */
      /*M!100101 CREATE TABLE noted (id int PRIMARY KEY) */; /*!40101 SET @old = @@character_set_client */; SET NAMES latin1; SET foreign_key_checks = 0;
      LOCK TABLES authors WRITE; UNLOCK TABLES; /*!40101 SET character_set_client = @old */;`;
    const led = `USE ${other}; CREATE TABLE led (id int PRIMARY KEY); INSERT INTO led VALUES (1);`;
    await write('0000-lampe-für', `${dump}\n${led}\nINSERT INTO led VALUES (2), (1);`);
    expect(await platform('migrate')).toMatchObject({ code: 3, stderr: expect.stringContaining('Duplicate entry') });
    await write('0000-lampe-für', `${dump}\n${led}\nINSERT INTO led VALUES (2);`);
    const settings = 'SELECT 1 AS id, @@foreign_key_checks AS checks, @@character_set_client AS characters';
    const trigger = `CREATE TRIGGER led_bi BEFORE INSERT ON led FOR EACH ROW BEGIN
      IF NEW.id > 1 THEN SET NEW.checks = 7; END IF; -- of the rows; not of the first
      SET NEW.characters = CASE NEW.id WHEN 2 THEN 'two;' ELSE 'more' END;
    END;
    CREATE DEFINER = CURRENT_USER() TRIGGER led_bu BEFORE UPDATE ON led FOR EACH ROW
      IF NEW.id > 1 THEN SET NEW.checks = 8; SET NEW.characters = IF(NEW.id > 2, '', CONCAT(NEW.characters, '2')); END IF;`;
    const again = 'DELETE FROM led WHERE id = 3; INSERT INTO led (id) VALUES (3);';
    const procedure = `CREATE PROCEDURE led_do () BEGIN DO IF(1, 2, 3); ${again} END; CALL led_do ();`;
    const ofMariadb = `BEGIN NOT ATOMIC IF 1 THEN ${again} END IF; SET @x = 1; END; SET sql_mode = ORACLE;
      CREATE PACKAGE led_p AS PROCEDURE again; FUNCTION one RETURN int; END;
      CREATE PACKAGE BODY led_p AS
        PROCEDURE again AS BEGIN ${again} END;
        FUNCTION one RETURN int AS BEGIN IF 1 THEN RETURN 1; END IF; RETURN 2; END;
      END; CALL led_p.again (); DROP PACKAGE led_p; SET sql_mode = DEFAULT;`;
    await write(
      '0000-settings',
      `CREATE TABLE led (id int PRIMARY KEY) AS ${settings};\n${trigger}\nINSERT INTO led (id) VALUES (2);\nUPDATE led SET checks = 0 WHERE id = 2;\n${procedure}\n${dialect === 'mariadb' ? ofMariadb : ''}`,
    );
    expect(await platform('migrate')).toMatchObject({ code: 0 });
    expect((await platform('migrate')).stderr).toContain('up to date');
    const rows = async (table: string) =>
      (await withMysql(url, (connection) => connection.query(`SELECT * FROM ${table}`)))[0];
    expect(await rows(`${other}.led`)).toEqual([{ id: 1 }, { id: 2 }]);
    // Only MariaDB runs what stands in its comments.
    const noted = await withMysql(url, (connection) => connection.query("SHOW TABLES LIKE 'noted'"));
    expect(noted[0]).toHaveLength(dialect === 'mariadb' ? 1 : 0);
    expect(await rows('led')).toEqual([
      { id: 1, checks: 1, characters: 'utf8mb4' },
      { id: 2, checks: 8, characters: 'two;2' },
      { id: 3, checks: 7, characters: 'more' },
    ]);
    await rm(migrations, { recursive: true });
    expect((await platform('migrate')).stderr).toContain('Wrote migrations/0000-lampe-für.sql');
    expect(await readFile(join(migrations, '0000-lampe-für.sql'), 'utf8')).toContain('INSERT INTO led VALUES (2);');
    await rm(migrations, { recursive: true });
    await withMysql(url, (connection) =>
      connection.query(
        `DROP DATABASE ${other}; DROP TABLE led; DROP PROCEDURE led_do; DROP TABLE IF EXISTS noted; DELETE FROM platform_project_migrations`,
      ),
    );
  });

  it('migrate tells of a migration that was applied in part, also where its file is gone', async () => {
    const file = join(folder, 'migrations/0001-halves.sql');
    await mkdir(dirname(file));
    await writeFile(file, 'CREATE TABLE halves (id int PRIMARY KEY);\nINSERT INTO nowhere VALUES (1);\n');
    expect(await platform('migrate')).toMatchObject({ code: 3 });
    const begun = await platform('migrate', '--status');
    expect([begun.code, begun.stderr]).toEqual([
      1,
      expect.stringMatching(/0001-halves {2}applied in part: 1 of 2 statements$/m),
    ]);
    expect(begun.stderr).not.toContain('pending');
    await rm(file);
    const gone = await platform('migrate', '--status');
    expect([gone.code, gone.stderr]).toEqual([
      1,
      expect.stringContaining('in part: 1 of 2 statements; its file is missing'),
    ]);
    for (const command of ['migrate', 'generate']) {
      const { code, stderr } = await platform(command);
      expect([code, stderr]).toEqual([
        0,
        expect.stringMatching(/had 0001-halves in part[\s\S]*Restore migrations\/0001-halves\.sql/),
      ]);
    }
    await writeFile(file, 'CREATE TABLE halves (id int PRIMARY KEY);\n');
    expect(await platform('migrate')).toMatchObject({ code: 0 });
    expect(await platform('migrate', '--status')).toMatchObject({ code: 0 });
    await withMysql(url, (connection) => connection.query('DROP TABLE halves'));
    // A role that may not read which migrations are under way is told of none.
    const { username, pathname } = new URL(limited);
    const table = (right: string, name: string) =>
      `GRANT ${right} ON ${pathname.slice(1)}.platform_${name} TO ${username}@'%'`;
    const readable = ['migrations', 'collections', 'fields', 'relations', 'project_migrations'];
    const grants = [...readable.map((name) => table('SELECT', name)), table('INSERT', 'project_changes')];
    await withMysql(url, (connection) => connection.query(grants.join('; ')));
    const generated = await runWarm(['generate', '--project', folder], { DATABASE_URL: limited });
    expect([generated.code, generated.stderr]).toEqual([0, expect.not.stringContaining('lacks')]);
  });
});
