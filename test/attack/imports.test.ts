/** Files that a server is told to fetch. Source: API specification, section 11.2; security, cases H08 and H10. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { networkInterfaces } from 'node:os';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminToken } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

/** An address of this machine that the server may ask, beside those that it may not. */
const allowed = '127.0.0.2';

let project: ServedProject;
/** Where nobody may ever be sent, on every address of this machine but the allowed one. */
let trap: Server;
let source: Server;
let port = 0;
let trapped = 0;
const asked: string[] = [];

const answers: Record<string, RequestListener> = {
  '/a%20file.txt': (_, response) => response.end('content'),
  '/moved': (_, response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end(),
  '/missing': (_, response) => response.writeHead(404).end('none'),
  '/endless': (_, response) => {
    const write = (): void => {
      while (response.write('x'.repeat(10_000)));
      response.once('drain', write);
    };
    write();
  },
  '/declared': (_, response) => response.writeHead(200, { 'content-length': '10737418240' }).write('x'),
  '/slow': (_, response) => {
    const timer = setInterval(() => response.write('x'), 100);
    response.on('close', () => clearInterval(timer));
  },
  '/silent': () => undefined,
  '/bomb': (_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('0'.repeat(2_000_000))),
};

beforeAll(async () => {
  source = createServer((request, response) => {
    asked.push(
      `${request.method} ${request.url} ${request.headers.authorization ?? ''}${request.headers.cookie ?? ''}`,
    );
    answers[request.url ?? '']?.(request, response);
  });
  source.listen(0, allowed);
  await once(source, 'listening');
  const address = source.address();
  port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  trap = createServer().on('connection', (socket) => {
    trapped++;
    socket.destroy();
  });
  trap.listen(port, '127.0.0.1');
  await once(trap, 'listening');
  project = await serveProject({
    system: true,
    sql: 'CREATE TABLE plain (id integer PRIMARY KEY);',
    permissions: `roles: { fetcher: {} }
permissions:
  fetcher:
    platform_files: { create: { fields: [title] }, read: { fields: [id, title], filter: { title: { _eq: Shown } } } }`,
    environment: {
      IMPORT_IP_ALLOW_LIST: allowed,
      IMPORT_PORTS: `80,443,${port}`,
      // Those that come at once have come by then, also on a busy machine.
      IMPORT_TIMEOUT: '3s',
      IMPORT_MAX_FILE_SIZE: '1mb',
    },
  });
});
afterAll(async () => {
  await project?.close();
  for (const server of [source, trap]) {
    server?.closeAllConnections();
    server?.close();
  }
});

const fetchFile = (url: string, data?: unknown) =>
  project.admin('/files/import', { method: 'POST', body: { url, ...(data !== undefined && { data }) } });

describe('an import', () => {
  it('is a file like any other', async () => {
    const { status, json } = await fetchFile(`http://${allowed}:${port}/a%20file.txt`, { description: 'fetched' });
    expect(status).toBe(200);
    expect(json.data).toMatchObject({
      filename_download: 'a file.txt',
      title: 'A File',
      type: 'text/plain',
      description: 'fetched',
    });
    expect((await project.admin(`/assets/${json.data.id}`)).text).toBe('content');
    expect(asked).toEqual(['GET /a%20file.txt ']);
  });

  it('is done once under a key, also where the address answers no more', async () => {
    const body = { url: `http://${allowed}:${port}/once`, data: { description: 'once' } };
    const query = `mutation { import_file(url: "${body.url}", data: { description: "once" }) { id description } }`;
    const ways = [
      () => project.admin('/files/import?fields=id', { method: 'POST', body, headers: { 'idempotency-key': 'rest' } }),
      () =>
        project.admin('/graphql/system', { method: 'POST', body: { query }, headers: { 'idempotency-key': 'gql' } }),
    ];
    for (const bring of ways) {
      answers['/once'] = (_, response) => response.end('content');
      const first = await bring();
      answers['/once'] = (_, response) => response.writeHead(404).end();
      const again = await bring();
      expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
    }
    const { json } = await project.admin('/files?filter[description]=once&fields=id');
    expect(json.data).toHaveLength(2);
    expect(asked.splice(0).filter((request) => request.includes('/once'))).toHaveLength(2);
    await project.rows("DELETE FROM platform.platform_files WHERE description = 'once'");
  });

  it('is asked for by documents, too, and answered as they select it', async () => {
    const ask = (query: string, variables: unknown, token?: string) =>
      project.ask('/graphql/system', { method: 'POST', body: { query, variables }, ...(token && { token }) });
    const query = `mutation ($url: String!, $folder: ID) {
      file: import_file(url: $url, data: { title: "Fetched", folder: { id: $folder } }) { title type folder { name } uploaded_by { id } }
    }`;
    const made = await project.admin('/folders', { method: 'POST', body: { name: 'Imports' } });
    const url = `http://${allowed}:${port}/a%20file.txt`;
    const answer = await ask(query, { url, folder: made.json.data.id }, adminToken);
    expect(answer.json).toEqual({
      data: { file: { title: 'Fetched', type: 'text/plain', folder: { name: 'Imports' }, uploaded_by: null } },
    });
    const refused = await ask(query, { url: 'http://127.0.0.1/', folder: null }, adminToken);
    expect(refused.json).toMatchObject({ data: null, errors: [{ extensions: { code: 'INVALID_PAYLOAD' } }] });
    const nobody = await ask('mutation { import_file(url: "http://127.0.0.1/") }', {});
    expect(failure(nobody)).toBe('400 INVALID_QUERY');
    await project.admin(`/files`, { method: 'DELETE', body: { query: { filter: { title: { _eq: 'Fetched' } } } } });
  });

  it('is null in a document whose caller may not read the file', async () => {
    const role = '00000000-0000-4000-8000-0000000000ed';
    const token = 'token-of-the-fetcher';
    await project.rows(`INSERT INTO platform.platform_roles (id, name) VALUES ('${role}', 'fetcher');
      INSERT INTO platform.platform_users (email, role, token) VALUES ('fetcher@example.com', '${role}', '${token}')`);
    const query =
      'mutation ($url: String!, $title: String) { import_file(url: $url, data: { title: $title }) { title } }';
    const ask = (title: string) => {
      const body = { query, variables: { url: `http://${allowed}:${port}/a%20file.txt`, title } };
      return project.ask('/graphql/system', { method: 'POST', token, body });
    };
    expect((await ask('Shown')).json).toEqual({ data: { import_file: { title: 'Shown' } } });
    expect((await ask('Hidden')).json).toEqual({ data: { import_file: null } });
    const made = { filter: { title: { _in: ['Shown', 'Hidden'] } } };
    await project.admin('/files', { method: 'DELETE', body: { query: made } });
  });

  it('keeps what was sent, without unpacking it', async () => {
    const { json } = await fetchFile(`http://${allowed}:${port}/bomb`);
    expect(json.data).toMatchObject({ type: 'application/gzip' });
    expect(Number(json.data.filesize)).toBeLessThan(10_000);
  });

  it.each([
    ['/moved', '503 SERVICE_UNAVAILABLE'],
    ['/missing', '503 SERVICE_UNAVAILABLE'],
    ['/slow', '503 SERVICE_UNAVAILABLE'],
    ['/silent', '503 SERVICE_UNAVAILABLE'],
    ['/endless', '400 INVALID_PAYLOAD'],
    ['/declared', '400 INVALID_PAYLOAD'],
  ])('of %s leaves nothing', async (path, told) => {
    expect(failure(await fetchFile(`http://${allowed}:${port}${path}`))).toBe(told);
    const others = "SELECT id FROM platform.platform_files WHERE title <> 'A File' AND title <> 'Bomb'";
    expect(await project.rows(others)).toEqual([]);
  });

  it('is for those who may create files', async () => {
    const before = asked.length;
    const body = { url: `http://${allowed}:${port}/a%20file.txt` };
    expect(failure(await project.ask('/files/import', { method: 'POST', body }))).toBe('403 FORBIDDEN');
    expect(asked).toHaveLength(before);
    expect(failure(await fetchFile(body.url, { storage: 'x' }))).toBe('403 FORBIDDEN');
    expect(failure(await fetchFile(body.url, { folder: { name: 'x' } }))).toBe('400 INVALID_PAYLOAD');
    expect(failure(await fetchFile(body.url, []))).toBe('400 INVALID_PAYLOAD');
  });
});

describe('an address', () => {
  const hosts = [
    '127.0.0.1',
    '127.0.0.3',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '0177.1',
    '127.1',
    'localhost',
    'localhost.',
    '169.254.169.254',
    '[fe80::1]',
    '[fd00::1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
  ];
  it.each(hosts)('%s is asked by nobody', async (host) => {
    expect(failure(await fetchFile(`http://${host}:${port}/`))).toBe('400 INVALID_PAYLOAD');
    expect(trapped).toBe(0);
  });

  it('of this machine is asked by nobody', async () => {
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    expect(own.length).toBeGreaterThan(0);
    for (const { address, family } of own) {
      const host = family === 'IPv6' ? `[${address.split('%')[0]}]` : address;
      expect(failure(await fetchFile(`http://${host}:${port}/`))).toBe('400 INVALID_PAYLOAD');
    }
    expect(trapped).toBe(0);
  });

  it.each([
    `http://${allowed}:22/`,
    `http://${allowed}:5432/`,
    `http://user@${allowed}/`,
    `http://user:password@${allowed}/`,
    'file:///etc/passwd',
    'ftp://example.com/',
    'data:text/plain,x',
    'gopher://example.com/',
    'http://[fe80::1%25lo]/',
    'nonsense',
    '',
  ])('%j is none that may be asked, and the refusal names the variables', async (url) => {
    const answer = await fetchFile(url);
    expect(failure(answer)).toBe('400 INVALID_PAYLOAD');
    expect(answer.json.errors[0].message).toMatch(/IMPORT_PORTS, and outside .* IMPORT_IP_ALLOW_LIST/);
  });

  it('that has none is not reached', async () => {
    expect(failure(await fetchFile(`http://nothing.invalid:${port}/`))).toBe('503 SERVICE_UNAVAILABLE');
  });
});

it('looks up a name at a time, so that those of others without an answer leave the server its own look-ups', async () => {
  const lookups = `import dns from 'node:dns/promises';
    import { syncBuiltinESMExports } from 'node:module';
    let running = 0;
    dns.lookup = async () => {
      const isAlone = ++running === 1;
      await new Promise((resolve) => setTimeout(resolve, 200));
      running--;
      return [{ address: isAlone ? '${allowed}' : '127.0.0.1', family: 4 }];
    };
    syncBuiltinESMExports();`;
  const other = await serveProject({
    system: true,
    alone: true,
    sql: '',
    environment: {
      IMPORT_IP_ALLOW_LIST: allowed,
      IMPORT_PORTS: String(port),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(lookups)}`,
    },
  });
  try {
    const urls = ['one', 'two', 'three'].map((name) => `http://${name}.example:${port}/a%20file.txt`);
    const made = urls.map((url) => other.admin('/files/import', { method: 'POST', body: { url } }));
    expect((await Promise.all(made)).map(({ status }) => status)).toEqual([200, 200, 200]);
  } finally {
    await other.close();
  }
});
