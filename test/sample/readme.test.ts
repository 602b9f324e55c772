/** The requests of README.md, on the sample as `npm start` serves it. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readText } from '../architecture/files.ts';
import { createDatabase, withClient } from '../support/database.ts';
import { blocksOf } from '../support/examples.ts';
import { asking } from '../support/platform.ts';
import { keptToken, runStart, type Sample, startSample } from '../support/sample.ts';
import { createSampleHome } from '../support/sample-home.ts';

let sample: Sample;
beforeAll(async () => {
  sample = await startSample();
});
afterAll(() => sample?.close());

/** The first block of commands below a heading. */
function commandsOf(heading: string): string {
  const [, section = ''] = readText('README.md').split(`\n## ${heading}\n`);
  const [commands = ''] = blocksOf(section, 'sh');
  return commands;
}

it('answers every request of the page', async () => {
  const commands = commandsOf('Ten minutes with the sample');
  const folder = await mkdtemp(join(tmpdir(), 'readme-'));
  try {
    await mkdir(join(folder, '.platform'));
    await writeFile(join(folder, '.platform', 'admin-token'), sample.adminToken);
    const status = `curl() { command curl -sS -o /dev/null -w '%{http_code}\\n' "$@"; }`;
    const script = `${status}\n${commands.replaceAll('http://127.0.0.1:8055', sample.url)}`;
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], { cwd: folder });
    // The fourth one asks for what the public may not see.
    expect(stdout.trim().split('\n')).toEqual(['200', '200', '200', '403', '200', '200', '200']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Lines of generated files, by folders: today's figures, which may fall only. The bound of all is 40,000. */
const mostLines = {
  access: 680,
  client: 15_120,
  collections: 2_015,
  graphql: 5_000,
  model: 420,
  openapi: 9_430,
  routes: 1_190,
};
const mostOfAll = 35_200;

it('is compiled to few lines', async () => {
  const output = join(sample.folder, 'generated');
  const lines = new Map<string, number>();
  for (const entry of await readdir(output, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = relative(output, join(entry.parentPath, entry.name));
    const [folder = ''] = path.includes(sep) ? path.split(sep) : ['.'];
    const text = await readFile(join(output, path), 'utf8');
    lines.set(folder, (lines.get(folder) ?? 0) + text.split('\n').length - 1);
  }
  for (const [folder, most] of Object.entries(mostLines)) {
    expect(lines.get(folder), folder).toBeGreaterThan(most / 2);
    expect(lines.get(folder), folder).toBeLessThanOrEqual(most);
  }
  expect([...lines.values()].reduce((sum, count) => sum + count)).toBeLessThanOrEqual(mostOfAll);
});

it('serves a database of its user’s own, and writes nothing to it', { timeout: 120_000 }, async () => {
  const [, address = ''] = /^DATABASE_URL=(\S+) npm start\n$/.exec(commandsOf('Your own database')) ?? [];
  expect(new URL(address).protocol).toBe('postgres:');
  const home = await createSampleHome();
  const database = await createDatabase('CREATE TABLE notes (id integer PRIMARY KEY); INSERT INTO notes VALUES (1)');
  try {
    const server = await runStart(home.root, { DATABASE_URL: database.url });
    const token = await keptToken(server, home.root);
    const { ask } = asking(server.url);
    expect((await ask('/items/notes', { token })).json).toEqual({ data: [{ id: 1 }] });
    expect((await ask('/items/notes')).status).toBe(403);
    expect(await server.stop('SIGTERM')).toBe(0);
    const { host, pathname } = new URL(database.url);
    const folder = `${host.replace(':', '-')}-${pathname.slice(1)}`;
    expect(await readdir(join(home.state, 'databases', folder))).toContain('generated');
    const tables = "SELECT count(*)::int AS tables FROM pg_class WHERE relkind = 'r' AND relname !~ '^(pg|sql)_'";
    const { rows } = await withClient(database.url, (client) => client.query(tables));
    expect(rows).toEqual([{ tables: 1 }]);
  } finally {
    await database.drop();
    await home.remove();
  }
});
