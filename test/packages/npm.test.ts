/** The way of most people, from an empty folder: npm, as an ordinary user with an empty cache. Then frontends of its client. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readText } from '../architecture/files.ts';
import { bundleClient } from '../support/client-bundle.ts';
import { startCollector } from '../support/otlp-collector.ts';
import { budgets, sizeOf, sizeOnDisk } from './budgets.ts';
import { frontends, useChangedClient, useClient } from './clients.ts';
import { checkTypes, compile, create, manifestText, type Project, readFirst, serve, serveAndUse } from './journey.ts';
import { type Machine, startMachine } from './machine.ts';
import { npm, pnpm, yarn } from './managers.ts';
import { packPackages } from './tarballs.ts';

const minutes = 60_000;
let machine: Machine;
let project: Project;

beforeAll(async () => {
  machine = await startMachine();
}, 4 * minutes);
afterAll(() => machine?.close(), 3 * minutes);

test('npm: an empty folder, from create to the first answer', { timeout: 5 * minutes }, async () => {
  project = await create(machine, npm, 'Mein schöner Laden/shop');
  await readFirst(project);
});

test('npm: no package is unmet or extraneous', { timeout: minutes }, async () => {
  await machine.succeed(project.folder, npm.verify);
});

test('npm: tables, rules and code are compiled', { timeout: 2 * minutes }, () => compile(project));

test('npm: types fit, with those of all packages', { timeout: 2 * minutes }, () => checkTypes(project));

test('npm: reads, writes, GraphQL, sign-in, Ctrl-C', { timeout: 2 * minutes }, () => serveAndUse(project));

test('npx: an empty folder, nothing installed', { timeout: 3 * minutes }, async () => {
  const folder = machine.makeFolder('nothing installed');
  const output = await machine.succeed(folder, ['npx', '--yes', 'tablewright', 'init', '--yes']);
  expect(output).toContain('npx tablewright generate');
  const command = ['npx', '--yes', 'tablewright', 'dev', '--json'];
  await readFirst({ machine, manager: npm, path: 'nothing installed', folder }, command);
});

test.each([pnpm, yarn])('$name: create makes a project', { timeout: minutes }, async (manager) => {
  const folder = machine.makeFolder(`created by ${manager.name}`);
  const output = await machine.succeed(folder, [...manager.create('shop'), '--no-install']);
  expect(output).toContain(`Next:\n  cd shop\n  ${manager.install.join(' ')}\n`);
  expect(existsSync(join(folder, 'shop/migrations/0001-shop.sql'))).toBe(true);
});

const uses = [npm, pnpm, yarn].flatMap((manager) =>
  frontends.map((frontend) => ({ manager, frontend, title: `${manager.name}: ${frontend.way}` })),
);
test.each(uses)('$title', { timeout: minutes }, async ({ manager, frontend }) => {
  expect(await useClient(project, manager, frontend)).toBe('readByQuery,readAll,aggregate,readOne,readMany');
});

test.each(uses.filter(({ frontend }) => frontend.top === 'web'))(
  '$title, made again',
  async ({ manager, frontend }) => {
    expect(await useChangedClient(project, manager, frontend)).toContain('// changed');
  },
);

test('npm: spans arrive at a collector', { timeout: 2 * minutes }, async () => {
  const collector = await startCollector(project.folder);
  try {
    const [install = ''] = /^npm install .+$/m.exec(readText('docs/traces.md')) ?? [];
    await machine.succeed(project.folder, install.split(' '));
    const server = await serve(project, collector.variables);
    const { status } = await fetch(`${server.url}/items/notes?limit=1`);
    await server.stop();
    const [request, ...below] = collector.spans
      .toSorted((one, other) => one.kind.localeCompare(other.kind))
      .toReversed();
    expect(status).toBe(200);
    expect(request).toMatchObject({
      name: 'GET /items/:collection',
      attributes: { 'tablewright.collection': 'notes' },
    });
    expect(below.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['plan', request?.spanId],
      ['SELECT notes', request?.spanId],
    ]);
  } finally {
    await collector.close();
  }
});

test('Yarn 4, PnP: the client alone', { timeout: 2 * minutes }, async () => {
  const files = {
    'yarn.lock': '',
    'index.mjs': "import { createClient } from '@tablewright/client';\nconsole.log(typeof createClient);\n",
    'package.json': manifestText({ dependencies: { '@tablewright/client': '*' }, devDependencies: {} }),
  };
  for (const [name, text] of Object.entries(files)) machine.write(`pnp client/${name}`, text);
  const folder = machine.makeFolder('pnp client');
  await machine.succeed(folder, ['yarn', 'install']);
  expect(await machine.succeed(folder, ['yarn', 'node', 'index.mjs'])).toBe('function\n');
});

test('Yarn 4, PnP: the command is refused in a sentence', { timeout: 2 * minutes }, async () => {
  machine.write('pnp server/yarn.lock', '');
  machine.write('pnp server/package.json', manifestText());
  const folder = machine.makeFolder('pnp server');
  await machine.succeed(folder, ['yarn', 'install']);
  const { code, output } = await machine.run(folder, ['yarn', 'platform', 'start']);
  expect({ code, output }).toEqual({
    code: 2,
    output: expect.stringContaining('tablewright needs packages in node_modules; Plug and Play keeps them elsewhere.'),
  });
  expect(output).not.toContain(join('dist', 'command-line.js:'));
});

test('budgets hold', { timeout: 3 * minutes }, async () => {
  const only = async (name: string, ...options: string[]): Promise<Measured> => {
    const folder = machine.makeFolder(`only ${name.replace('/', ' ')}`);
    await machine.succeed(folder, ['npm', 'install', name, ...options]);
    return { bytes: sizeOf(folder), onDisk: sizeOnDisk(folder) };
  };
  const measured: Readonly<Record<keyof typeof budgets, Measured>> = {
    command: await only('tablewright'),
    runtime: await only('@tablewright/runtime', '--omit=optional'),
    packed: { bytes: packPackages().reduce((sum, { size }) => sum + size, 0) },
    client: { bytes: gzipSync(await bundleClient({ minify: true })).length },
  };
  console.table(keys.map((key) => ({ ...budgets[key], ...measured[key] })));
  expect(keys.filter((key) => measured[key].bytes > budgets[key].limit)).toEqual([]);
});

interface Measured {
  readonly bytes: number;
  readonly onDisk?: number;
}

const keys = ['command', 'runtime', 'packed', 'client'] as const;
