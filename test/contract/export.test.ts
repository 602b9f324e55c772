import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { plenty, startCells } from '../support/cells.ts';
import { withClient } from '../support/database.ts';
import type { Magazine } from '../support/magazine.ts';
import { adminToken } from '../support/platform.ts';
import { serveProject } from '../support/project.ts';

const run = promisify(execFile);

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startCells(true);
});
afterAll(() => magazine?.close());

const query = 'fields=id,title,rating,author_id.name,comments.author_name,keywords,metadata,published_at&limit=40';

/** Splits CSV as RFC 4180 says. */
function parseCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, cell = '', end = ''] of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)) {
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe('formats', () => {
  it.each([
    ['csv', 'text/csv; charset=utf-8'],
    ['json', 'application/json; charset=utf-8'],
    ['xml', 'text/xml; charset=utf-8'],
    ['yaml', 'text/yaml; charset=utf-8'],
    ['ndjson', 'application/x-ndjson; charset=utf-8'],
  ])('%s is an attachment', async (format, type) => {
    for (const method of ['GET', 'HEAD']) {
      for (const limit of [3, -1]) {
        const answer = await magazine.admin(`/items/articles?export=${format}&fields=id&limit=${limit}`, { method });
        expect(answer.status).toBe(200);
        expect(answer.headers.get('content-type')).toBe(type);
        expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="articles.${format}"`);
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
        expect(answer.text === '').toBe(method === 'HEAD');
      }
    }
  });

  it('json, ndjson and yaml hold what the list holds', async () => {
    for (const limit of ['', '&limit=-1', '&limit=2&offset=3&sort=-id', '&filter[id][_lt]=0']) {
      const { json } = await magazine.admin(`/items/articles?${query}${limit}`.replace('&limit=40', limit && ''));
      const path = `/items/articles?${query}${limit}`.replace('&limit=40', limit && '');
      expect(JSON.parse((await magazine.admin(`${path}&export=json`)).text)).toEqual(json.data);
      const lines = (await magazine.admin(`${path}&export=ndjson`)).text.split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.map((line): unknown => JSON.parse(line))).toEqual(json.data);
      expect(parseYaml((await magazine.admin(`${path}&export=yaml`)).text)).toEqual(json.data);
    }
  });

  it('csv has dotted columns, JSON text and quotes', async () => {
    const { json } = await magazine.admin(`/items/articles?${query}`);
    const [header, ...rows] = parseCsv((await magazine.admin(`/items/articles?${query}&export=csv`)).text);
    expect(header).toEqual('id,title,rating,author_id.name,comments,keywords,metadata,published_at'.split(','));
    const text = (value: unknown) => (value === null || value === undefined ? '' : String(value));
    const inner = (value: unknown) => (value === null ? null : value);
    expect(rows.length).toBe(json.data.length);
    for (const [index, item] of json.data.entries()) {
      const row = rows[index] ?? [];
      expect([row[0], row[1], row[2], row[7]]).toEqual([item.id, item.title, item.rating, item.published_at].map(text));
      expect(row[3]).toBe(text(item.author_id?.name));
      const parsed = [row[4], row[5], row[6]].map((cell): unknown => (cell ? JSON.parse(cell) : null));
      expect(parsed).toEqual([item.comments, item.keywords, item.metadata].map(inner));
    }
  });

  it('an empty csv has its header', async () => {
    const { text } = await magazine.admin('/items/articles?fields=id,author_id.name&filter[id][_lt]=0&export=csv');
    expect(text).toBe('id,author_id.name\r\n');
  });

  it('xml escapes, and tells null from the empty text', async () => {
    await withClient(magazine.database.url, (client) =>
      client.query(`INSERT INTO tags (id, name) VALUES (900001, E'a<b>&"c"\\r\\nd\\x01e'), (900002, '')`),
    );
    const path = '/items/tags?sort=id&filter[id][_gte]=900001';
    const xml = await magazine.admin(`${path}&export=xml`);
    expect(xml.text).toContain('<id>900001</id><name>a&lt;b&gt;&amp;"c"&#13;\nd\ufffde</name>');
    expect(xml.text).toContain('<id>900002</id><name/>');
    const csv = await magazine.admin(`${path}&export=csv&fields=id,name`);
    expect(csv.text).toBe('id,name\r\n900001,"a<b>&""c""\r\nd\u0001e"\r\n900002,""\r\n');
    const author = await magazine.admin(
      '/items/articles?fields=author_id&filter[author_id][_null]=true&limit=1&export=xml',
    );
    expect(author.text).toContain('<item><author_id xsi:nil="true"/></item>');
    await withClient(magazine.database.url, (client) => client.query('DELETE FROM tags WHERE id > 900000'));
  });

  it('exports aggregates', async () => {
    const path = '/items/articles?groupBy=status&aggregate[count]=*&aggregate[sum]=views,rating&export=csv';
    const { text } = await magazine.admin(path);
    expect(parseCsv(text)[0]).toEqual(['status', 'count', 'sum.views', 'sum.rating']);
  });

  it('SEARCH exports too', async () => {
    const body = { query: { export: 'csv', fields: ['id'], limit: 2, sort: ['id'] } };
    const { text } = await magazine.admin('/items/articles', { method: 'SEARCH', body });
    expect(text).toBe('id\r\n1\r\n2\r\n');
    const keys = await magazine.admin('/items/articles', { method: 'SEARCH', body: { ...body, keys: [2, 1] } });
    expect(keys.text).toBe('id\r\n1\r\n2\r\n');
  });

  it('meta has no place in a file', async () => {
    expect((await magazine.admin('/items/tags?meta=*&fields=id&limit=1&sort=id&export=json')).text).toBe('[{"id":1}]');
  });
});

describe('permissions', () => {
  it('secret fields are omitted by wildcards and forbidden by name', async () => {
    for (const who of ['ask', 'admin'] as const) {
      const unknown = await magazine[who]('/items/authors?export=csv&fields=nothing');
      expect(unknown.status).toBe(403);
      for (const fields of ['email', 'id,email', '*,email']) {
        const answer = await magazine[who](`/items/authors?export=csv&fields=${fields}`);
        // Administrators are told the name.
        expect([answer.status, answer.text]).toEqual([403, unknown.text.replace('nothing', 'email')]);
        expect(answer.headers.get('content-disposition')).toBeNull();
      }
      const list = await magazine[who]('/items/authors?limit=1');
      expect(Object.keys(list.json.data[0])).toContain('email');
      const exported = await magazine[who]('/items/authors?limit=1&export=json');
      expect(Object.keys(JSON.parse(exported.text)[0])).not.toContain('email');
      const nested = await magazine[who]('/items/articles?fields=author_id.*&limit=1&export=csv');
      expect(nested.text.split('\r\n')[0]).not.toContain('email');
      expect((await magazine[who]('/items/articles?fields=author_id.email&export=xml')).status).toBe(403);
    }
  });

  it('hidden rows and cells stay hidden', async () => {
    const { text } = await magazine.ask('/items/articles?fields=id,status,views&limit=-1&export=csv');
    const rows = await withClient(magazine.database.url, async (client) => {
      const result = await client.query<{
        line: string;
      }>(`SELECT concat_ws(',', id, status, CASE WHEN status = 'published'
        THEN views::text ELSE '' END) AS line FROM articles WHERE status <> 'draft' ORDER BY id`);
      return result.rows.map(({ line }) => line);
    });
    expect(text.trimEnd().split('\r\n').slice(1)).toEqual(rows);
  });

  it.each([
    ['export=pdf', 400],
    ['export=CSV', 400],
    ['export=csv&export=json', 400],
    ['export[a]=csv', 400],
    ['export=csv&filter[nothing][_eq]=1', 403],
    ['export=csv&filter[views][_gt]=x', 400],
  ])('%s is %i', async (parameters, status) => {
    const answer = await magazine.ask(`/items/articles?${parameters}`);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.json.errors[0].extensions.code).toBe(status === 400 ? 'INVALID_QUERY' : 'FORBIDDEN');
  });
});

describe('large files', () => {
  // Enough that a file is larger than what memory may grow by. ATTACK_ALL asks for a million.
  const many = process.env.ATTACK_ALL === '1' ? plenty : 300_000;

  /** Resident memory of the server in MiB. */
  async function memory(): Promise<number> {
    const status = await readFile(`/proc/${magazine.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  // Compressing costs more than all else, and is the same for every format.
  const encodingOf = (format: string): string => (format === 'ndjson' ? 'gzip' : 'identity');
  const addressOf = (format: string, rows: number): string =>
    `${magazine.url}/items/plenty?limit=-1&filter[id][_lte]=${rows}${format === 'a list' ? '' : `&export=${format}`}`;

  /** Begins to read a file. */
  async function open(format: string, rows: number): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    const encoding = encodingOf(format);
    const response = await fetch(addressOf(format, rows), {
      headers: { authorization: `Bearer ${adminToken}`, 'accept-encoding': encoding },
    });
    expect(response.headers.get('content-encoding')).toBe(encoding === 'gzip' ? encoding : null);
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    if (reader === undefined) throw new Error('no body');
    return reader;
  }

  /** Reads a whole file, in processes of their own: here it would take as much of the processor as the server does. */
  async function count(format: string, rows: number): Promise<{ readonly breaks: number; readonly size: number }> {
    const unpacked = encodingOf(format) === 'gzip' ? ' --compressed' : '';
    const line = `curl --silent --fail --globoff${unpacked} --header "$TOKEN" "$ADDRESS" | wc --lines --bytes`;
    const env = { ...process.env, TOKEN: `Authorization: Bearer ${adminToken}`, ADDRESS: addressOf(format, rows) };
    const { stdout } = await run('bash', ['-o', 'pipefail', '-c', line], { env });
    const [breaks = 0, size = 0] = stdout.trim().split(/\s+/).map(Number);
    return { breaks, size };
  }

  it.runIf(process.platform === 'linux').each([
    ['a list', many],
    ['csv', many],
    ['json', many],
    ['xml', many],
    ['yaml', many],
    ['ndjson', many],
  ] as const)(
    '%s of %i rows keeps memory flat, also for a reader that never reads',
    async (format, rows) => {
      const before = await memory();
      const idle = await open(format, rows);
      let most = 0;
      const watching = setInterval(async () => {
        most = Math.max(most, await memory());
      }, 50);
      const { breaks, size } = await count(format, rows).finally(() => clearInterval(watching));
      await sleep(100);
      most = Math.max(most, await memory());
      // The server has cut it if all this took longer than STREAM_STALL_TIMEOUT.
      await idle.cancel().catch(() => {});
      expect(size).toBeGreaterThan(rows * 250);
      expect(size).toBeGreaterThan(64 * 2 ** 20);
      if (format === 'csv' || format === 'ndjson') expect(breaks).toBe(rows + (format === 'csv' ? 1 : 0));
      expect(most - before).toBeLessThan(64);
    },
    300_000,
  );
});

it('one that breaks off is reset for a client of HTTP/1.0, to which any other end is that of the answer', async () => {
  // More than the server, the client and the system between them hold.
  const sql = `CREATE TABLE numbers (id integer PRIMARY KEY, text text);
    INSERT INTO numbers SELECT i, repeat('number ', 30) FROM generate_series(1, 150000) i;`;
  const project = await serveProject({ sql, disturbed: true });
  const broken = `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
    WHERE datname = pg_catalog.current_database() AND pid <> pg_catalog.pg_backend_pid() AND query LIKE '%"numbers"%'`;
  try {
    const { hostname, port } = new URL(project.url);
    const errors: Error[] = [];
    const socket = connect(Number(port), hostname).on('error', (error) => errors.push(error));
    const head = `Host: x\r\nAuthorization: Bearer ${adminToken}`;
    socket.write(`GET /items/numbers?limit=-1&export=csv HTTP/1.0\r\n${head}\r\n\r\n`);
    const [first] = await once(socket, 'data');
    socket.pause();
    expect(String(first)).toMatch(/^HTTP\/1\.1 200 /);
    await withClient(project.database.url, (client) => client.query(broken));
    socket.resume();
    await expect.poll(() => socket.closed, { timeout: 30_000 }).toBe(true);
    expect(errors).toMatchObject([{ code: 'ECONNRESET' }]);
  } finally {
    await project.close();
  }
});
