/** Values that are longer than a packet of MariaDB and MySQL may be: they are refused, and no fault of the server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase, withMysql } from '../support/mariadb.ts';
import { createProject, type Platform } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { servers } from '../support/servers.ts';

const sql = `CREATE TABLE notes (id int AUTO_INCREMENT PRIMARY KEY, title varchar(40), body longtext);
INSERT INTO notes VALUES (1, 'kept', 'short');`;

/** Bytes of a packet, of which others that use the server meanwhile may have more. */
const maxBytes = 262_144;

describe.each(servers)('on $name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  let before: number;
  let setMax: (bytes: number) => Promise<void>;
  beforeAll(async () => {
    const server = await start();
    const url = await createMysqlDatabase(server, sql);
    setMax = (bytes) =>
      withMysql(
        server.url,
        async (connection) => void (await connection.query(`SET GLOBAL max_allowed_packet=${bytes}`)),
      );
    before = await withMysql(server.url, async (connection) => {
      const [rows] = await connection.query('SELECT @@global.max_allowed_packet AS bytes');
      return Number(Array.isArray(rows) && 'bytes' in (rows[0] ?? {}) ? Reflect.get(rows[0] ?? {}, 'bytes') : 0);
    });
    await setMax(maxBytes);
    project = await createProject();
    platform = await startHosted(project.folder, url, { MAX_PAYLOAD_SIZE: '10mb' });
  });
  afterAll(async () => {
    await setMax(before);
    await platform?.stop();
    await project?.remove();
  });

  const long = 'x'.repeat(2 * maxBytes);
  const fitting = 'y'.repeat(maxBytes / 2);

  it.each([
    ['a new item', '/items/notes', 'POST', { title: 'new', body: long }, '400 FAILED_VALIDATION'],
    ['a change', '/items/notes/1', 'PATCH', { body: long }, '400 FAILED_VALIDATION'],
    ['items', '/items/notes', 'POST', [{ body: 'z' }, { body: long }], '400 FAILED_VALIDATION'],
    ['a filter', '/items/notes', 'SEARCH', { query: { filter: { body: { _eq: long } } } }, '400 INVALID_QUERY'],
  ])('%s: it is refused each time, and nothing is written', async (_, path, method, body, expected) => {
    for (let round = 0; round < 4; round++)
      expect(failure(await platform.admin(path, { method, body }))).toBe(expected);
    const { json } = await platform.admin('/items/notes');
    expect(json.data.map(({ id }: { readonly id: number }) => id)).toEqual([1]);
  });

  it('what fits is written', async () => {
    const { status, json } = await platform.admin('/items/notes', { method: 'POST', body: { body: fitting } });
    expect([status, json.data.body]).toEqual([200, fitting]);
    expect((await platform.admin(`/items/notes/${json.data.id}`, { method: 'DELETE' })).status).toBe(204);
  });
});
