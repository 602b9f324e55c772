/** Frontends that use the client of a compiled project, in the three ways of docs/client-packages.md. */
import { join } from 'node:path';
import { manifestText, ownVersion, type Project } from './journey.ts';
import type { Manager } from './managers.ts';

/** A frontend beside `api/generated/client`. */
interface Frontend {
  readonly way: string;
  /** Name or path by which `web/main.mjs` imports the client. */
  readonly specifier: string;
  /** Folder in which packages are installed. */
  readonly top: string;
  files(manager: Manager): Readonly<Record<string, string>>;
}

const client = 'shop-client-public';

export const frontends: readonly Frontend[] = [
  {
    way: 'a client by a relative import',
    specifier: '../api/generated/client/public/index.js',
    top: '.',
    files: (manager) => ({ ...manager.files, 'package.json': manifest({ '@tablewright/client': ownVersion() }) }),
  },
  {
    way: 'a client as a workspace member',
    specifier: client,
    top: '.',
    files: (manager) => ({
      ...manager.workspace(['api/generated/client/*', 'web']),
      'web/package.json': manifest({ [client]: manager.memberVersion }),
    }),
  },
  {
    way: 'a client as a copy',
    specifier: client,
    top: 'web',
    files: ({ copyFiles }) => ({
      ...Object.fromEntries(Object.entries(copyFiles).map(([name, text]) => [`web/${name}`, text])),
      'web/package.json': manifest({ [client]: 'file:../api/generated/client/public' }),
    }),
  },
];

function manifest(dependencies: Readonly<Record<string, string>>): string {
  return manifestText({ name: 'web', dependencies, devDependencies: {} });
}

/** Makes a frontend of the clients of a project, and gives the methods of the collection `notes` that it finds in one. */
export async function useClient(project: Project, manager: Manager, frontend: Frontend): Promise<string> {
  const { machine } = project;
  const path = folderOf(manager, frontend);
  const files = { ...frontend.files(manager), 'web/main.mjs': program(frontend.specifier) };
  for (const [name, text] of Object.entries(files)) machine.write(`${path}/${name}`, text);
  const folder = machine.makeFolder(path);
  const generated = machine.makeFolder(`${path}/api/generated`);
  await machine.succeed(project.folder, ['cp', '-r', 'generated/client', generated]);
  await machine.succeed(join(folder, frontend.top), manager.install);
  return (await machine.succeed(folder, ['node', 'web/main.mjs'])).trim();
}

/** Changes the generated client of a frontend, installs again, and gives the script that the frontend has then. */
export async function useChangedClient({ machine }: Project, manager: Manager, frontend: Frontend): Promise<string> {
  const folder = machine.makeFolder(folderOf(manager, frontend));
  await machine.succeed(folder, ['sh', '-c', 'echo "// changed" >> api/generated/client/public/index.js']);
  await machine.succeed(join(folder, frontend.top), manager.reinstall);
  return machine.succeed(folder, ['cat', `web/node_modules/${client}/index.js`]);
}

const folderOf = (manager: Manager, { way }: Frontend): string => `frontends/${manager.name}/${way}`;

const program = (specifier: string): string => `import { createClient } from '${specifier}';
console.log(Object.keys(createClient('http://127.0.0.1:1').items('notes')).join());
`;
