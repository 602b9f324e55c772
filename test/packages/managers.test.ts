/**
 * Projects of other package managers and shapes, each from its manifest to Ctrl-C: `PACKAGES=all npm run test:packages`, as a
 * workflow does each night. Without PACKAGES the way of npm is tried (`npm.test.ts`).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  checkTypes,
  compile,
  create,
  install,
  manifestText,
  type Project,
  readFirst,
  serve,
  serveAndUse,
  use,
} from './journey.ts';
import { type Machine, startMachine } from './machine.ts';
import { type Manager, npm, pnpm, yarn } from './managers.ts';

const minutes = 60_000;

describe.skipIf(process.env.PACKAGES !== 'all')('every package manager', { timeout: 10 * minutes }, () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await startMachine();
  }, 4 * minutes);
  afterAll(() => machine?.close(), 3 * minutes);

  const live = async (project: Project): Promise<void> => {
    await machine.succeed(project.folder, project.manager.verify);
    await compile(project);
    await checkTypes(project);
    await serveAndUse(project);
  };

  test.each([pnpm, yarn])('$name: an empty folder, from create to Ctrl-C', async (manager) => {
    const project = await create(machine, manager, `created ${manager.name}/shop`);
    await readFirst(project);
    await live(project);
  });

  test.each([pnpm, yarn])('$name: the React app, made, checked and built', async (manager) => {
    const parent = machine.makeFolder(`react ${manager.name}`);
    await machine.succeed(parent, [...manager.create('app'), '--template', 'vite-react']);
    const folder = join(parent, 'app');
    await machine.succeed(folder, [...manager.run, 'platform', 'migrate']);
    for (const script of ['generate', 'check', 'build']) await machine.succeed(folder, manager.script(script));
    expect(existsSync(join(folder, 'dist/index.html'))).toBe(true);
  });

  test.each([npm, pnpm, yarn])('$name: a project of type "commonjs"', async (manager) => {
    await live(await install(machine, manager, `commonjs ${manager.name}`, manifestText({ type: 'commonjs' })));
  });

  test.each([npm, pnpm, yarn])('$name: a member of a workspace', async (manager) => {
    const top = `workspace ${manager.name}`;
    for (const [name, text] of Object.entries(manager.workspace(['apps/*']))) machine.write(`${top}/${name}`, text);
    const path = `${top}/apps/shop`;
    machine.write(`${path}/package.json`, manifestText());
    await machine.succeed(machine.makeFolder(top), manager.install);
    const project = { machine, manager, path, folder: machine.makeFolder(path) };
    await compile(project);
    await checkTypes(project);
    await serveAndUse(project);
  });

  test.each([pnpm, yarn])('$name: a path with blanks and umlauts', async (manager) => {
    await live(await install(machine, manager, `Größe und Maß/${manager.name}`));
  });

  test.each([npm, pnpm, yarn])('$name: without scripts of packages', async (manager: Manager) => {
    await live(await install(machine, manager, `scripts ${manager.name}`, manifestText(), manager.withoutScripts));
  });

  test('npm: the current release of Node', async () => {
    const project = await install(machine, npm, 'current node');
    const release = `node-${process.platform}-${process.arch}`;
    await machine.succeed(project.folder, ['npm', 'install', '--save-dev', `${release}@latest`]);
    // Commands of the project find it before the one of the machine.
    const version = ['npm', 'exec', '--call', 'node --print process.versions.node'];
    expect(Number.parseInt(await machine.succeed(project.folder, version), 10)).toBeGreaterThan(24);
    await live(project);
  });

  test('npm: two projects at once', async () => {
    const projects = [await install(machine, npm, 'two/first'), await install(machine, npm, 'two/second')];
    for (const project of projects) await compile(project);
    const servers = await Promise.all(projects.map((project) => serve(project)));
    await Promise.all(servers.map(({ url }, index) => use(url, `of project ${index}`)));
    expect((await Promise.all(servers.map((server) => server.stop()))).filter((code) => code === 1)).toEqual([]);
  });
});
