/** Builds dist/ of every package by plain tsc: what `pnpm pack` publishes. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packagedFile, packagedFiles } from '../packages/runtime/src/http/packaged-files.ts';

const root = join(import.meta.dirname, '..');
const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));

for (const path of packages) rmSync(join(path, 'dist'), { recursive: true, force: true });
const projects = packages.map((path) => join(path, 'tsconfig.build.json'));
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-b', ...projects], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

// The templates lie at the top of the repository, where they are easy to find; the published command brings a copy.
const templates = join(root, 'packages/cli/templates');
rmSync(templates, { recursive: true, force: true });
if (existsSync(join(root, 'templates'))) cpSync(join(root, 'templates'), templates, { recursive: true });
// Those of mails and pages are printed by the server.
for (const kind of ['mail', 'pages']) {
  const printed = join(root, 'packages/runtime/templates', kind);
  rmSync(printed, { recursive: true, force: true });
  if (existsSync(join(root, 'templates', kind))) cpSync(join(root, 'templates', kind), printed, { recursive: true });
}
// What only browsers run comes along as it is, so that servers need not install it.
const graphiql = join(root, 'packages/runtime/graphiql');
rmSync(graphiql, { recursive: true, force: true });
for (const name of Object.keys(packagedFiles)) cpSync(packagedFile(name), join(graphiql, name));
