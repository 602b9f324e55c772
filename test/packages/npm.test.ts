/** The way of most people, from an empty folder: npm, as an ordinary user with an empty cache. */
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleClient } from '../support/client-bundle.ts';
import { budgets, sizeOf } from './budgets.ts';
import { checkTypes, compile, create, type Project, readFirst, serveAndUse } from './journey.ts';
import { type Machine, startMachine } from './machine.ts';
import { npm } from './managers.ts';
import { packPackages } from './tarballs.ts';

const minutes = 60_000;
let machine: Machine;
let project: Project;

beforeAll(async () => {
  machine = await startMachine();
}, 4 * minutes);
afterAll(() => machine?.close(), minutes);

test('npm create makes a project, whose first answer has rows', { timeout: 5 * minutes }, async () => {
  project = await create(machine, npm, 'Mein schöner Laden/shop');
  await readFirst(project);
});

test('npm finds no package unmet or extraneous', { timeout: minutes }, async () => {
  await machine.succeed(project.folder, npm.verify);
});

test('it is compiled with tables, rules and code of its own', { timeout: 2 * minutes }, () => compile(project));

test('its types fit, with those of all packages', { timeout: 2 * minutes }, () => checkTypes(project));

test('it serves reads, writes, GraphQL and sign-in', { timeout: 2 * minutes }, () => serveAndUse(project));

test('budgets hold', { timeout: 3 * minutes }, async () => {
  const packed = packPackages().reduce((sum, { size }) => sum + size, 0);
  const only = async (name: string, ...options: string[]): Promise<number> => {
    const folder = machine.makeFolder(`only ${name.replace('/', ' ')}`);
    await machine.succeed(folder, ['npm', 'install', name, ...options]);
    return sizeOf(join(folder, 'node_modules'));
  };
  const measured = {
    command: await only('tablewright'),
    runtime: await only('@tablewright/runtime', '--omit=optional'),
    packed,
    client: gzipSync(await bundleClient({ minify: true })).length,
  };
  console.table(keys.map((key) => ({ ...budgets[key], bytes: measured[key] })));
  expect(keys.filter((key) => measured[key] > budgets[key].limit)).toEqual([]);
});

const keys = ['command', 'runtime', 'packed', 'client'] as const;
