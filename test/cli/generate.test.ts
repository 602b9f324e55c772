import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, watch, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { createMagazineDatabase } from '../support/magazine.ts';
import { type CommandResult, createProject, runPlatform, spawnPlatform } from '../support/platform.ts';
import { typeCheck } from '../support/type-check.ts';
import { runWarm } from '../support/warm-command.ts';

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  database = await createMagazineDatabase();
  project = await createProject('fixtures/magazine');
  const { code, stderr } = await generate();
  expect(stderr).toContain('Compiled ');
  expect(code).toBe(0);
});
afterAll(() => Promise.all([database?.drop(), project?.remove()]));

function generate(...args: readonly string[]): Promise<CommandResult> {
  return runWarm(['generate', '--project', project.folder, ...args], { DATABASE_URL: database.url });
}

/** Path and contents of every generated file. */
async function generated(): Promise<Map<string, string>> {
  const folder = join(project.folder, 'generated');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.sort().map(async (path) => [path, await readFile(path, 'utf8')] as const)));
}

describe('platform generate', () => {
  it('writes code that tsc accepts', async () => {
    expect(await typeCheck(project.folder)).toBe('');
  }, 60_000);

  it('types keys of several fields in lists as path form', async () => {
    const text = await readFile(join(project.folder, 'generated', 'collections', 'orders.d.ts'), 'utf8');
    expect(text).toContain('order_lines: readonly (string | OrderLinesItem)[];');
  });

  it('writes the same bytes again, and no file twice', async () => {
    const before = await generated();
    const path = join(project.folder, 'generated', 'server.js');
    const { mtimeMs } = await stat(path);
    expect((await generate()).code).toBe(0);
    expect(await generated()).toEqual(before);
    expect((await stat(path)).mtimeMs).toBe(mtimeMs);
  });

  it('keeps the documents of roles, and says which of them nobody could ask', async () => {
    const folder = join(project.folder, 'documents', 'public');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'new.graphql'), 'query New { articles(limit: 3) { title } }');
    expect((await generate()).code).toBe(0);
    const kept = await readFile(join(project.folder, 'generated/graphql/documents.json'), 'utf8');
    expect(Object.values(JSON.parse(kept))).toEqual(['query New {\n  articles(limit: 3) {\n    title\n  }\n}']);
    await writeFile(join(folder, 'old.graphql'), 'query Old {\n  articles { nothing }\n}');
    const refused = await generate();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('documents/public/old.graphql:2:14');
    await rm(join(project.folder, 'documents'), { recursive: true });
    expect((await generate()).code).toBe(0);
  });

  it('types sums and averages of integers as numbers, and those of floats as what they may be', async () => {
    const folder = join(project.folder, 'documents', 'admin');
    await mkdir(folder, { recursive: true });
    const sums = '{ articles_aggregated { sum { views } avg { views } } measurements_aggregated { avg { value } } }';
    await writeFile(join(folder, 'sums.graphql'), `query Sums ${sums}`);
    expect((await generate()).code).toBe(0);
    const types = await readFile(join(project.folder, 'generated/graphql/nodes/admin.d.ts'), 'utf8');
    expect(types).toContain('sum: { views: number | null } | null; avg: { views: number | null } | null');
    expect(types).toContain('avg: { value: FloatValue | null } | null');
    await rm(join(project.folder, 'documents'), { recursive: true });
    expect((await generate()).code).toBe(0);
  });

  it('lists hooks of a function with a name, and warns of tools that are passed on, whose hooks it does not read', async () => {
    const folder = join(project.folder, 'extensions');
    await mkdir(folder);
    const start = "import { defineExtension } from '../generated/extension.js';\n";
    const listed = async (text: string) => {
      await writeFile(join(folder, 'audit.ts'), `${start}${text}`);
      const { code, stderr } = await generate();
      const list: { readonly hooks: readonly string[] } = JSON.parse(
        await readFile(join(project.folder, 'generated', 'extensions.json'), 'utf8'),
      );
      return [code, list.hooks, /extensions.audit\.ts:\d+:\d+/.exec(stderr)?.[0]];
    };
    const named =
      "function register(on) { on.before('tags.create', () => {}); }\nexport default defineExtension(register);\n";
    expect(await listed(named)).toEqual([0, ['before tags.create'], undefined]);
    const helper = "const audit = (after) => after('tags.update', () => {});\n";
    const passed =
      "export default defineExtension(({ before, after }) => {\n  before('tags.create', () => {});\n  audit(after);\n});\n";
    expect(await listed(`${helper}${passed}`)).toEqual([0, ['before tags.create'], 'extensions/audit.ts:5:9']);
    await rm(folder, { recursive: true });
    expect((await generate()).code).toBe(0);
  });

  it('compiles offline from platform.schema.json', async () => {
    const before = await generated();
    await rm(join(project.folder, 'generated'), { recursive: true });
    const result = await runPlatform(['generate', '--offline', '--project', project.folder], {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere',
    });
    expect(result.code).toBe(0);
    expect(await generated()).toEqual(before);
  });

  it('leaves nothing beside the output where Ctrl-C stops it', async () => {
    const output = join(project.folder, 'generated');
    await rename(output, `${output}-before`);
    let exit: unknown;
    try {
      // The command may be quicker than the signal.
      for (let tries = 0; tries < 5 && exit === undefined; tries++) {
        await rm(output, { recursive: true, force: true });
        exit = await stopStaging(project.folder);
      }
      expect(exit).toEqual([null, 'SIGINT']);
      expect((await readdir(project.folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    } finally {
      await rm(output, { recursive: true, force: true });
      await rename(`${output}-before`, output);
    }
  });

  it('removes stale files and leaves others alone', async () => {
    const own = join(project.folder, 'generated', 'collections', 'mine.ts');
    await writeFile(own, 'export const mine = 1;\n');
    const config = join(project.folder, 'platform.config.ts');
    const text = await readFile(config, 'utf8');
    await writeFile(
      config,
      text.replace("languages: { sort: 'sort' },", "languages: { sort: 'sort' },\n    order_lines: { hidden: true },"),
    );
    expect((await generate()).code).toBe(0);
    const names = [...(await generated()).keys()].map((path) => path.replace(/^.*generated./, ''));
    expect(names).toContain(join('collections', 'mine.ts'));
    expect(names.some((name) => name.includes('order_lines'))).toBe(false);
    await writeFile(config, text);
    await rm(own);
    expect((await generate()).code).toBe(0);
  });

  it('reports mistakes in permissions.yaml by line and writes nothing', async () => {
    const before = await generated();
    const path = join(project.folder, 'permissions.yaml');
    const text = await readFile(path, 'utf8');
    await writeFile(
      path,
      'permissions:\n  public:\n    artikles:\n      read: true\n    articles:\n      read: { fields: [titel] }\n',
    );
    const { code, stderr } = await generate();
    expect(code).toBe(1);
    expect(stderr).toMatch(/permissions\.yaml:3:\d+/);
    expect(stderr).toMatch(/permissions\.yaml:6:\d+/);
    expect(stderr).toContain('"articles"');
    expect(stderr).toContain('"title"');
    expect(await generated()).toEqual(before);
    await writeFile(path, text);
  });

  it('takes no rule whose lines a comment has taken away, as it would mean other rows', async () => {
    const path = join(project.folder, 'permissions.yaml');
    const text = await readFile(path, 'utf8');
    const rule = 'fields: [id]\n        filter:\n          author_id:\n            # _eq: $CURRENT_USER\n';
    await writeFile(path, `permissions:\n  public:\n    articles:\n      read:\n        ${rule}`);
    const { code, stderr } = await generate();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/permissions\.yaml:7:21.*\n?.*"filter" has no value/)]);
    await writeFile(path, text);
  });

  it('takes no rule with an object that every row meets, and warns of a text that looks like a dynamic value', async () => {
    const path = join(project.folder, 'permissions.yaml');
    const text = await readFile(path, 'utf8');
    const write = (filter: string) =>
      writeFile(path, `permissions:\n  public:\n    articles:\n      read: { fields: [id], filter: ${filter} }\n`);
    await write('{ _or: [{ status: draft }, {}] }');
    const refused = await generate();
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/yaml:4:64.*\n?.*has no condition/)]);
    await write('{ published_at: { _gte: $NOW - 1 day } }');
    expect((await generate()).stderr).toContain('Did you mean "$NOW(-1 day)"?');
    await write('{ title: { _neq: $USER_ID }, comments: {} }');
    const warned = await generate();
    expect([warned.code, warned.stderr]).toEqual([0, expect.stringContaining('"$USER_ID" is no dynamic value')]);
    await writeFile(path, text);
    expect((await generate()).code).toBe(0);
  });

  it('goes on without no file that is there and cannot be read, as its rules and hooks would be missing', async () => {
    const before = await generated();
    for (const [name, ...args] of [
      ['extensions'],
      ['documents'],
      ['openapi-examples.json'],
      ['permissions.yaml'],
      ['platform.config.ts'],
      ['platform.schema.json', '--offline'],
    ] as const) {
      const path = join(project.folder, name);
      const aside = `${path}.aside`;
      await rename(path, aside).catch(() => undefined);
      for (const target of [path, join(project.folder, 'nothing')]) {
        await symlink(target, path);
        const { code, stderr } = await generate(...args);
        expect([name, code === 1 || code === 2, stderr]).toEqual([name, true, expect.stringContaining(name)]);
        await rm(path);
      }
      await rename(aside, path).catch(() => undefined);
    }
    expect(await generated()).toEqual(before);
  });

  it('prints events with --json', async () => {
    const { stdout } = await generate('--json');
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const told = events.filter(({ event }) => event === 'diagnostic').map(({ severity }) => severity);
    expect(events.at(-1)).toMatchObject({
      event: 'summary',
      collections: 18,
      roles: 5,
      warnings: told.filter((severity) => severity === 'warning').length,
      notes: told.filter((severity) => severity === 'info').length,
    });
    expect(told).toContain('info');
    expect(events.filter(({ event }) => event === 'phase-end').map(({ phase }) => phase)).toEqual(
      expect.arrayContaining(['connect', 'introspect', 'resolve', 'compile', 'write']),
    );
  });
});

describe('exit codes', () => {
  it('2 for a wrong command line', async () => {
    expect((await runPlatform(['generat'])).code).toBe(2);
    expect((await runPlatform(['generate', '--nonsense'])).code).toBe(2);
  });

  it('3 when the database cannot be reached', async () => {
    const { code, stderr } = await runPlatform(['generate', '--project', project.folder], {
      DATABASE_URL: 'postgres://someone:secret@127.0.0.1:1/nowhere',
    });
    expect(code).toBe(3);
    expect(stderr).toContain('127.0.0.1:1/nowhere');
    expect(stderr).not.toContain('secret');
  });

  it('0 for help, which names them', async () => {
    const { code, stdout } = await runPlatform(['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Exit codes');
  });
});

/** Stops a command once it has files beside the output. Gives how it ended; undefined where it had ended before. */
async function stopStaging(folder: string): Promise<unknown> {
  const ended = new AbortController();
  const child = spawnPlatform(['generate', '--offline', '--project', folder], {});
  const exit = once(child, 'exit').finally(() => ended.abort());
  let isStopped = false;
  try {
    for await (const { filename } of watch(folder, { signal: ended.signal })) {
      if (!/^generated\..*\.tmp$/.test(filename ?? '')) continue;
      isStopped = child.kill('SIGINT');
      break;
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
  const [code, signal] = await exit;
  return isStopped && code !== 0 ? [code, signal] : undefined;
}
