/** What a server must not show of itself and of its folder. Source: security, case H19. */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminToken, secret } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({ sql: 'CREATE TABLE docs (id int PRIMARY KEY)', alone: true });
});
afterAll(() => project?.close());

const hidden = [
  ...[
    '/.env',
    '/.git/config',
    '/.git/HEAD',
    '/package.json',
    '/platform.config.ts',
    '/permissions.yaml',
    '/node_modules',
  ],
  ...[
    '/generated/index.ts',
    '/.platform/admin-token',
    '/.platform/cache',
    '/uploads',
    '/main.js.map',
    '/debug',
    '/env',
  ],
  ...['/..;/', '/..;/package.json', '/items/..;/server/info', '/../package.json', '/%2e%2e/package.json'],
  ...[
    '/..%2fpackage.json',
    '/assets/../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/%252e%252e%252fpackage.json',
  ],
];

it.each(hidden)('%s is not there', async (path) => {
  for (const token of [undefined, adminToken]) {
    const answer = await send(path, token);
    expect(answer).toMatch(/^HTTP\/1\.1 (?:403|404) /);
    expect(answer).toMatch(/"code":"(?:ROUTE_NOT_FOUND|FORBIDDEN)"/);
    expect(answer).not.toContain('"dependencies"');
  }
});

it('nothing secret stands in the arguments of the process', async () => {
  const words = (await readFile(`/proc/${project.pid}/cmdline`, 'utf8')).split('\0');
  expect(words.length).toBeGreaterThan(1);
  const { password } = new URL(project.database.url);
  for (const word of words) {
    expect(word).not.toContain(secret);
    expect(word).not.toContain(adminToken);
    expect(word).not.toMatch(/^postgres/);
    if (password !== '') expect(word).not.toContain(password);
  }
});

/** Sends a path as it stands: clients of HTTP would put it in order. */
function send(path: string, token: string | undefined): Promise<string> {
  const { hostname, port, host } = new URL(project.url);
  const sent = [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close'];
  if (token !== undefined) sent.push(`Authorization: Bearer ${token}`);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(`${sent.join('\r\n')}\r\n\r\n`));
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}
