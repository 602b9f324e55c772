/** Functions and procedures of MariaDB and MySQL: kinds, arguments, results and errors. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase, withMysql } from '../support/mariadb.ts';
import { type Answer, createProject, type Platform } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { servers } from '../support/servers.ts';
import { typeCheck } from '../support/type-check.ts';

const statements = [
  `CREATE TABLE shops (id int PRIMARY KEY, name varchar(40) NOT NULL, stars int NOT NULL, secret varchar(40))`,
  "INSERT INTO shops (id, name, stars, secret) VALUES (1, 'Harbour', 3, 'x'), (2, 'Market', 5, 'y')",
  'CREATE TABLE logs (id int AUTO_INCREMENT PRIMARY KEY, line varchar(200))',
  `CREATE TRIGGER check_line BEFORE INSERT ON logs FOR EACH ROW BEGIN
    IF NEW.line = 'TW422' THEN SIGNAL SQLSTATE 'TW422' SET MESSAGE_TEXT = 'No lines on Sundays.'; END IF;
    IF NEW.line = 'TW403' THEN SIGNAL SQLSTATE 'TW403' SET MESSAGE_TEXT = 'secret'; END IF;
    IF NEW.line = '45000' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret'; END IF;
    IF NEW.line = 'BK001' THEN SIGNAL SQLSTATE 'BK001' SET MESSAGE_TEXT = 'secret'; END IF; END`,
  `CREATE FUNCTION shop_count(least int) RETURNS bigint READS SQL DATA
    RETURN (SELECT COUNT(*) FROM shops WHERE stars >= least)`,
  `CREATE FUNCTION price(amount decimal(10,2), since datetime, is_net boolean) RETURNS decimal(12,2) NO SQL
    RETURN IF(is_net, amount, amount * 2) + YEAR(since)`,
  `CREATE FUNCTION greet(name varchar(60)) RETURNS varchar(80) NO SQL RETURN CONCAT('Hello, ', name)`,
  `CREATE FUNCTION moment() RETURNS datetime(6) NO SQL RETURN '2024-05-06 07:08:09.120000'`,
  `CREATE FUNCTION refuse(code varchar(5)) RETURNS int NO SQL BEGIN
    IF code = 'TW400' THEN SIGNAL SQLSTATE 'TW400' SET MESSAGE_TEXT = 'Send another code.'; END IF;
    IF code = 'TW403' THEN SIGNAL SQLSTATE 'TW403' SET MESSAGE_TEXT = 'secret'; END IF;
    IF code = 'TW422' THEN SIGNAL SQLSTATE 'TW422' SET MESSAGE_TEXT = 'Not on Sundays.'; END IF;
    IF code = '45000' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret'; END IF;
    RETURN 1; END`,
  `CREATE FUNCTION log_line(text varchar(100)) RETURNS int DETERMINISTIC MODIFIES SQL DATA BEGIN
    INSERT INTO logs (line) VALUES (text); RETURN LAST_INSERT_ID(); END`,
  `CREATE FUNCTION plain(n int) RETURNS int DETERMINISTIC RETURN n + 1`,
  `CREATE FUNCTION sly() RETURNS int READS SQL DATA BEGIN INSERT INTO logs (line) VALUES ('sly'); RETURN 1; END`,
  `CREATE PROCEDURE raise_stars(shop int, INOUT stars int, OUT was int, OUT title varchar(40), OUT day date) BEGIN
    SELECT s.stars, s.name, DATE('2024-02-03') INTO was, title, day FROM shops s WHERE s.id = shop;
    UPDATE shops s SET s.stars = COALESCE(stars, 0) WHERE s.id = shop;
    SET stars = stars * 10; SELECT 'dropped'; END`,
  `CREATE PROCEDURE ranking(least int) BEGIN
    SELECT s.id, s.name, s.stars > 4 AS good, CAST(s.stars AS DECIMAL(4,1)) AS points, NULL AS nothing,
      CAST('2024-01-02 03:04:05' AS DATETIME) AS at, 9007199254740993 AS large, 1.5e0 AS ratio
      FROM shops s WHERE s.stars >= least ORDER BY s.stars DESC;
    SELECT 'second'; END`,
  `CREATE FUNCTION same_place(place point) RETURNS point NO SQL RETURN place`,
  `CREATE PROCEDURE clear_logs() BEGIN DELETE FROM logs; END`,
  `CREATE PROCEDURE order_shop(buyer varchar(40), amount int) BEGIN
    INSERT INTO logs (line) VALUES (CONCAT(buyer, ' ', amount));
    IF amount > 3 THEN SIGNAL SQLSTATE 'TW422' SET MESSAGE_TEXT = 'Too many.'; END IF; END`,
];

const config = `export default { functions: {
  shop_count: {}, price: {}, greet: { name: 'welcome' }, moment: {}, refuse: {}, log_line: {}, plain: {}, sly: {},
  raise_stars: {}, ranking: {}, clear_logs: {}, order_shop: {}, same_place: {},
} };\n`;

const permissions = `
permissions:
  public: { shops: { read: { fields: [id, name] } } }
functions:
  public: { shop_count: true, price: true, refuse: true, moment: true, ranking: true, order_shop: { args: { buyer: guest } } }
`;

const code = `
import { createClient } from '../generated/client/admin/index.js';

export async function use(url: string): Promise<void> {
  const client = createClient(url);
  const count: string | null = await client.call('shop_count', { least: 1 });
  const { was, day } = await client.call('raise_stars', { shop: 1, stars: 4 });
  const parts: [number | null, string | null] = [was, day];
  const nothing: undefined = await client.call('clear_logs');
  const rows: readonly unknown[] = await client.call('ranking', { least: 1 });
  void [count, parts, nothing, rows];
  // @ts-expect-error: an argument is missing
  void client.call('shop_count', {});
}
`;

async function askMysql(url: string, statement: string): Promise<unknown> {
  return withMysql(url, async (connection) => (await connection.query({ sql: statement, rowsAsArray: true }))[0]);
}

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  let url: string;
  beforeAll(async () => {
    url = await createMysqlDatabase(await start(), 'SELECT 1');
    for (const statement of statements) await askMysql(url, statement);
    project = await createProject();
    await writeFile(join(project.folder, 'platform.config.ts'), config);
    await writeFile(join(project.folder, 'permissions.yaml'), permissions);
    platform = await startHosted(project.folder, url);
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
  });

  const dataOf = ({ status, json, text }: Answer): unknown =>
    status === 200 ? json.data : json?.errors ? failure({ status, json, text } as Answer) : status;
  const get = async (path: string, ask = platform.ask): Promise<unknown> => dataOf(await ask(`/functions/${path}`));
  const post = async (path: string, body?: unknown, ask = platform.ask): Promise<unknown> =>
    dataOf(await ask(`/functions/${path}`, { method: 'POST', ...(body !== undefined && { body }) }));
  const graphql = async (query: string): Promise<unknown> => {
    const { json } = await platform.admin('/graphql', { method: 'POST', body: { query } });
    return json.data ?? json.errors[0].message;
  };

  it('triggers refuse writes with the same states', async () => {
    const refuse = async (line: string): Promise<readonly unknown[]> => {
      const { json } = await platform.admin('/items/logs', { method: 'POST', body: { line } });
      return [json.errors[0].extensions.code, json.errors[0].message];
    };
    const refused = ['FAILED_VALIDATION', 'The item is refused by the database.'];
    expect(await refuse('TW422')).toEqual(['UNPROCESSABLE_ENTITY', 'No lines on Sundays.']);
    expect(await refuse('TW403')).toEqual(['FORBIDDEN', 'Not found, or you do not have permission.']);
    expect([await refuse('45000'), await refuse('BK001')]).toEqual([refused, refused]);
  });

  it('those that only read answer GET and SEARCH, with typed arguments', async () => {
    expect(await get('shop_count?least=4')).toBe('1');
    expect(await get('price?amount=1.5&since=2024-01-01T00:00:00&is_net=false')).toBe('2027.00');
    const place = { type: 'Point', coordinates: [4.35, 50.85] };
    expect(await get(`same_place?place=${encodeURIComponent(JSON.stringify(place))}`, platform.admin)).toEqual(place);
    expect(await get('moment')).toBe('2024-05-06T07:08:09.12');
    expect(await get("welcome?name='); DROP TABLE shops; --", platform.admin)).toBe("Hello, '); DROP TABLE shops; --");
    const body = { args: { least: null } };
    expect((await platform.ask('/functions/shop_count', { method: 'SEARCH', body })).json).toEqual({ data: '0' });
    expect(await get('shop_count')).toBe('400 INVALID_QUERY');
    expect(await get('shop_count?least=much')).toBe('400 INVALID_QUERY');
    expect(await post('shop_count', { least: 1 })).toBe('404 ROUTE_NOT_FOUND');
    expect(await get('welcome?name=x')).toBe('404 ROUTE_NOT_FOUND');
  });

  it('others answer POST, in a transaction', async () => {
    expect(await get('plain?n=1', platform.admin)).toBe('404 ROUTE_NOT_FOUND');
    expect(await post('plain', { n: 1 }, platform.admin)).toBe(2);
    expect(await post('log_line', { text: 'one' }, platform.admin)).toEqual(expect.any(Number));
    expect(await askMysql(url, 'SELECT line FROM logs')).toEqual([['one']]);
    expect(await post('clear_logs', undefined, platform.admin)).toBe(204);
    expect(await askMysql(url, 'SELECT line FROM logs')).toEqual([]);
    expect(await post('order_shop', { amount: 4 })).toBe('422 UNPROCESSABLE_ENTITY');
    expect(await askMysql(url, 'SELECT line FROM logs')).toEqual([]);
    expect(await post('order_shop', { amount: 2 })).toBe(204);
    expect(await askMysql(url, 'SELECT line FROM logs')).toEqual([['guest 2']]);
    expect(await post('order_shop', { amount: 2, buyer: 'me' })).toBe('400 INVALID_PAYLOAD');
  });

  it('one that says that it only reads cannot write', async () => {
    const refused = await platform.admin('/functions/sly');
    expect([failure(refused), refused.json.errors[0].message]).toEqual([
      ...['422 UNPROCESSABLE_ENTITY', 'The function changes something although it is declared to read only.'],
    ]);
    expect(await askMysql(url, "SELECT line FROM logs WHERE line = 'sly'")).toEqual([]);
  });

  it('values that a procedure gives are members, also those that it takes', async () => {
    expect(await post('raise_stars', { shop: 1, stars: 4 }, platform.admin)).toEqual({
      ...{ stars: 40, was: 3, title: 'Harbour', day: '2024-02-03' },
    });
    expect(await post('raise_stars', { shop: 9, stars: null }, platform.admin)).toEqual({
      ...{ stars: null, was: null, title: null, day: null },
    });
    expect(await askMysql(url, 'SELECT stars FROM shops WHERE id = 1')).toEqual([[4]]);
    await askMysql(url, 'UPDATE shops SET stars = 3 WHERE id = 1');
  });

  it('the first rows that a procedure answers are a list of objects', async () => {
    const market = { id: 2, name: 'Market', points: '5.0', nothing: null };
    const rows = await post('ranking', { least: 4 });
    expect(rows).toMatchObject([{ ...market, at: '2024-01-02T03:04:05', large: '9007199254740993', ratio: 1.5 }]);
    expect(await post('ranking', { least: 9 })).toEqual([]);
    expect(await post('ranking', { least: 1 })).toMatchObject([{ id: 2 }, { id: 1 }]);
  });

  it('errors raised on purpose have the same meaning', async () => {
    const answers = await Promise.all(
      ['TW400', 'TW403', 'TW422', '45000'].map((code) => platform.ask(`/functions/refuse?code=${code}`)),
    );
    expect(answers.map((answer) => [failure(answer), answer.json.errors[0].message])).toEqual([
      ['400 INVALID_PAYLOAD', 'Send another code.'],
      ['403 FORBIDDEN', expect.not.stringContaining('secret')],
      ['422 UNPROCESSABLE_ENTITY', 'Not on Sundays.'],
      ['422 UNPROCESSABLE_ENTITY', 'The function refuses this.'],
    ]);
    expect(await get('refuse?code=none')).toBe(1);
  });

  it('stand in GraphQL, documents and clients', async () => {
    expect(await graphql('{ shop_count(least: 1) moment }')).toEqual({
      shop_count: '2',
      moment: '2024-05-06T07:08:09.12',
    });
    expect(
      await graphql('mutation { ranking(least: 4) raise_stars(shop: 2, stars: 5) { was stars } clear_logs }'),
    ).toEqual({
      ranking: [expect.objectContaining({ name: 'Market' })],
      raise_stars: { was: 5, stars: 50 },
      clear_logs: true,
    });
    const { json } = await platform.ask('/server/specs/oas');
    expect(
      Object.keys(json.paths)
        .filter((path) => path.startsWith('/functions/'))
        .toSorted(),
    ).toEqual(['moment', 'order_shop', 'price', 'ranking', 'refuse', 'shop_count'].map((name) => `/functions/${name}`));
    await mkdir(join(project.folder, 'extensions'), { recursive: true });
    await writeFile(join(project.folder, 'extensions', 'use.ts'), code);
    expect(await typeCheck(project.folder)).toBe('');
  });
});
