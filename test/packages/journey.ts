/** What a stranger does with an installed project, from `create` or `init` to Ctrl-C. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { Machine, Variables } from './machine.ts';
import type { Manager } from './managers.ts';
import { type ProjectServer, startServer } from './server.ts';
import { packPackages } from './tarballs.ts';

/** A project on a stranger's machine. */
export interface Project {
  readonly machine: Machine;
  readonly manager: Manager;
  /** Folder within the machine's. */
  readonly path: string;
  /** The same, absolute. */
  readonly folder: string;
}

const password = 'a password of a stranger';

/** Version of all packages. */
export function ownVersion(): string {
  return packPackages()[0]?.manifest.version ?? '';
}

/** Manifest of a project that depends on the packages; `overrides` replace its members. */
export function manifestText(overrides: Readonly<Record<string, unknown>> = {}): string {
  const version = ownVersion();
  const names = ['@tablewright/client', '@tablewright/runtime', 'tablewright'];
  return JSON.stringify({
    name: 'shop',
    private: true,
    type: 'module',
    dependencies: Object.fromEntries(names.map((name) => [name, version])),
    devDependencies: { '@types/node': '24.19.2', typescript: '5.9.3' },
    ...overrides,
  });
}

/** Makes an empty project of a package manager, and installs what its manifest names. */
export async function install(
  machine: Machine,
  manager: Manager,
  path: string,
  manifest = manifestText(),
  command = manager.install,
): Promise<Project> {
  for (const [name, text] of Object.entries({ ...manager.files, 'package.json': manifest })) {
    machine.write(`${path}/${name}`, text);
  }
  const folder = machine.makeFolder(path);
  await machine.succeed(folder, command);
  return { machine, manager, path, folder };
}

/** Has the manager make a project as a stranger does, and runs the commands that it is told, up to the one that serves. */
export async function create(machine: Machine, manager: Manager, path: string): Promise<Project> {
  const parent = machine.makeFolder(dirname(path));
  const output = await machine.succeed(parent, manager.create(basename(path)));
  const folder = join(parent, basename(path));
  const [program] = manager.install;
  const next = /^Next:\n((?: {2}.+\n)+)/m.exec(output)?.[1]?.trim().split(/\n */);
  expect(next).toEqual([`cd ${basename(path)}`, `${program} run generate`, `${program} run dev`]);
  await machine.succeed(folder, manager.script('generate'));
  return { machine, manager, path, folder };
}

/** Serves a project that was just made, and reads the rows that it begins with. */
export async function readFirst(
  { machine, manager, folder }: Project,
  command = manager.script('dev', '--json'),
): Promise<void> {
  const server = await startServer(machine, folder, command, { ADMIN_PASSWORD: password });
  try {
    const answer = await fetch(`${server.url}/items/products?fields=name,category_id.name&sort=name&limit=1`);
    const rows = [{ name: 'Desk lamp', category_id: { name: 'Lamps' } }];
    expect([answer.status, await answer.json()]).toEqual([200, { data: rows }]);
  } finally {
    await server.stop();
  }
}

/** Runs a command that the project has installed. */
export function runIn({ machine, manager, folder }: Project, ...command: string[]): Promise<string> {
  return machine.succeed(folder, [...manager.run, ...command]);
}

/** Prepares a database with a table, rules and an extension, and compiles it. */
export async function compile(project: Project): Promise<void> {
  const isModule = JSON.parse(readFileSync(join(project.folder, 'package.json'), 'utf8')).type === 'module';
  for (const [name, text] of Object.entries(files)) {
    // Elsewhere than in a project of modules, an extension says that it is one by its name.
    const path = name.startsWith('extensions/') && !isModule ? name.replace(/ts$/, 'mts') : name;
    project.machine.write(`${project.path}/${path}`, text);
  }
  await runIn(project, 'platform', 'init', '--yes');
  await runIn(project, 'platform', 'migrate');
  await runIn(project, 'platform', 'generate');
}

/** Checks the types of the project with everything that it imports. */
export async function checkTypes(project: Project): Promise<void> {
  await runIn(project, 'tsc', '--noEmit');
}

/** Starts the server that was compiled. */
export function serve({ machine, manager, folder }: Project, variables: Variables = {}): Promise<ProjectServer> {
  const command = [...manager.run, 'platform', 'start', '--json'];
  return startServer(machine, folder, command, { ADMIN_PASSWORD: password, ...variables });
}

/** Reads, signs in, writes, is refused by the project's own code, and asks by GraphQL. */
export async function use(url: string, title: string): Promise<void> {
  const send = async (path: string, body?: unknown, token?: string): Promise<{ status: number; json: unknown }> => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const answer = await fetch(`${url}${path}`, {
      headers,
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: await answer.json() };
  };
  expect(await send('/items/notes')).toEqual({ status: 200, json: { data: [] } });
  const signedIn = await send('/auth/login', { email: 'admin@example.com', password });
  expect(signedIn).toMatchObject({ status: 200, json: { data: { access_token: expect.any(String) } } });
  const [, token = ''] = /"access_token":"(.*?)"/.exec(JSON.stringify(signedIn.json)) ?? [];
  expect((await send('/items/notes', { title }, token)).status).toBe(200);
  expect(await send('/items/notes', { title: 'refused' }, token)).toMatchObject({
    status: 422,
    json: { errors: [{ message: 'No note is called that.' }] },
  });
  expect(await send('/items/notes', { title: 'of a stranger' })).toMatchObject({ status: 403 });
  expect(await send('/graphql', { query: '{ notes { title } }' })).toEqual({
    status: 200,
    json: { data: { notes: [{ title }] } },
  });
}

/** Serves the project, uses it, and ends the server as a person does. */
export async function serveAndUse(project: Project): Promise<void> {
  const server = await serve(project);
  try {
    await use(server.url, 'Umlaute: äöü');
  } finally {
    // Package managers report Ctrl-C in ways of their own; the server itself ends with 0.
    expect([0, 130, null]).toContain(await server.stop());
  }
  await expect(fetch(server.url)).rejects.toThrow();
}

/** Files that a stranger writes. */
const files = {
  'migrations/0002-notes.sql':
    'CREATE TABLE notes (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, title text NOT NULL);\n',
  'permissions.yaml': 'permissions:\n  public:\n    notes:\n      read: { fields: [id, title] }\n',
  'extensions/notes.ts': `import { PlatformError } from '@tablewright/runtime';
import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ before }) => {
  before('notes.create', ({ payload }) => {
    if (payload.title === 'refused') throw new PlatformError('UNPROCESSABLE_ENTITY', 'No note is called that.');
  });
});
`,
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'es2024',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      allowImportingTsExtensions: true,
      types: ['node'],
    },
    include: ['*.ts', '*.mts', 'extensions', 'generated'],
  }),
};
