/**
 * Projects of other package managers and shapes, each from its manifest to Ctrl-C. `npm run test:packages` runs them;
 * other runs try the way of npm alone (`npm.test.ts`).
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkTypes, compile, install, manifestText, type Project, serve, serveAndUse, use } from './journey.ts';
import { type Machine, startMachine } from './machine.ts';
import { type Manager, npm, pnpm, yarn } from './managers.ts';

const minutes = 60_000;

describe.skipIf(process.env.PACKAGES !== 'all')('every package manager', { timeout: 10 * minutes }, () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await startMachine();
  }, 4 * minutes);
  afterAll(() => machine?.close(), minutes);

  const live = async (project: Project): Promise<void> => {
    await machine.succeed(project.folder, project.manager.verify);
    await compile(project);
    await checkTypes(project);
    await serveAndUse(project);
  };

  test.each([pnpm, yarn])('$name: a project of modules', async (manager) => {
    await live(await install(machine, manager, `modules ${manager.name}`));
  });

  test.each([npm, pnpm, yarn])('$name: a project of type "commonjs"', async (manager) => {
    await live(await install(machine, manager, `commonjs ${manager.name}`, manifestText({ type: 'commonjs' })));
  });

  test.each([npm, pnpm, yarn])('$name: a member of a workspace', async (manager) => {
    const top = `workspace ${manager.name}`;
    for (const [name, text] of Object.entries(manager.workspace)) machine.write(`${top}/${name}`, text);
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

  test('npm: two projects at once', async () => {
    const projects = [await install(machine, npm, 'two/first'), await install(machine, npm, 'two/second')];
    for (const project of projects) await compile(project);
    const servers = await Promise.all(projects.map(serve));
    await Promise.all(servers.map(({ url }, index) => use(url, `of project ${index}`)));
    expect((await Promise.all(servers.map((server) => server.stop()))).filter((code) => code === 1)).toEqual([]);
  });

  test('Yarn 4, PnP: the client alone', async () => {
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

  test('Yarn 4, PnP: the command is refused in a sentence', async () => {
    machine.write('pnp server/yarn.lock', '');
    machine.write('pnp server/package.json', manifestText());
    const folder = machine.makeFolder('pnp server');
    await machine.succeed(folder, ['yarn', 'install']);
    const { code, output } = await machine.run(folder, ['yarn', 'platform', 'start']);
    expect({ code, output }).toEqual({
      code: 2,
      output: expect.stringContaining(
        'tablewright needs packages in node_modules; Plug and Play keeps them elsewhere.',
      ),
    });
    expect(output).not.toContain(join('dist', 'command-line.js:'));
  });
});
