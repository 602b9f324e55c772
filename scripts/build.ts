/** Builds dist/ of every package by plain tsc: what `pnpm pack` publishes. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isTemplateFile, templateFolders } from '../packages/create/src/templates.ts';
import { packagedFile, packagedFiles } from '../packages/runtime/src/http/pages/docs.ts';

const root = join(import.meta.dirname, '..');
const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));

for (const path of packages) rmSync(join(path, 'dist'), { recursive: true, force: true });
const projects = packages.map((path) => join(path, 'tsconfig.build.json')).filter((path) => existsSync(path));
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-b', ...projects], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
for (const path of packages) removePrivateTypes(path);

// Templates lie at the top of the repository, where they are easy to find; each package brings those that it reads.
const printedByServer = new Set(['mail', 'pages']);
copyEntries('templates', 'packages/cli/templates', (name) => !printedByServer.has(name) && name !== 'projects');
copyEntries('templates', 'packages/runtime/templates', (name) => printedByServer.has(name));
// The documentation comes with the command, so that it fits the version that is installed.
copyEntries('docs', 'packages/cli/docs', (name) => !name.startsWith('.'));
// Browsers alone run these, so servers need not install the packages that they come from. Licences ask to be brought along.
const graphiql = join(root, 'packages/runtime/graphiql');
rmSync(graphiql, { recursive: true, force: true });
for (const name of Object.keys(packagedFiles)) cpSync(packagedFile(name), join(graphiql, name));
for (const name of new Set(Object.values(packagedFiles).map((file) => file.package))) {
  cpSync(join(root, 'packages/runtime/node_modules', name, 'LICENSE'), join(graphiql, `${name}.license`));
}
// New projects are made of templates. npm leaves `.gitignore` out of packages.
const templates = join(root, 'packages/create/templates');
rmSync(templates, { recursive: true, force: true });
for (const [name, folder] of templateFolders()) {
  const copy = join(templates, name);
  cpSync(folder, copy, { recursive: true, filter: (path) => isTemplateFile(relative(folder, path)) });
  renameSync(join(copy, '.gitignore'), join(copy, '_gitignore'));
}

/** Removes the declarations that no public entry of a package leads to: each would take a block of the disk. */
function removePrivateTypes(path: string): void {
  const dist = join(path, 'dist');
  const { publishConfig }: { publishConfig: { exports?: Readonly<Record<string, { readonly types: string }>> } } =
    JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const reached = new Set(Object.values(publishConfig.exports ?? {}).map(({ types }) => join(path, types)));
  // A set that grows while it is walked.
  for (const file of reached) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/['"](\.\.?\/[^'"]+)\.[jt]s['"]/g)) {
      const imported = join(dirname(file), `${name}.d.ts`);
      if (existsSync(imported)) reached.add(imported);
    }
  }
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).map((name) => join(dist, name));
  for (const file of files) if (file.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
}

/** Replaces a folder by a copy of another one; a function says which files and folders of its top it takes. */
function copyEntries(source: string, target: string, isWanted: (name: string) => boolean): void {
  rmSync(join(root, target), { recursive: true, force: true });
  mkdirSync(join(root, target), { recursive: true });
  for (const name of readdirSync(join(root, source)).filter(isWanted)) {
    cpSync(join(root, source, name), join(root, target, name), { recursive: true });
  }
}
