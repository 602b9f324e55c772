/** Folders of the templates, whose names are those of the templates. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Rules of a template for a database that it knows nothing about. */
export const emptyRules = 'permissions.empty.yaml';

const packageRoot = join(import.meta.dirname, '..');

/** Folders by the names of templates. In the published package they are copies, which `scripts/build.ts` makes. */
export function templateFolders(): ReadonlyMap<string, string> {
  if (!import.meta.url.endsWith('.ts')) return foldersIn(join(packageRoot, 'templates'));
  const repository = join(packageRoot, '../..');
  // A project of the tests is a template as well.
  const app = join(repository, 'fixtures/projects/vite-react');
  const tested: readonly (readonly [string, string])[] = existsSync(app) ? [['vite-react', app]] : [];
  return new Map([...foldersIn(join(repository, 'templates/projects')), ...tested]);
}

function foldersIn(folder: string): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(folder)
      .sort()
      .map((name) => [name, join(folder, name)]),
  );
}

/** Version of this package, which all packages of Tablewright share. */
export function ownVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  return manifest.version;
}

/** True if a template holds the file; files that its commands leave in its folder are not part of it. */
export function isTemplateFile(path: string): boolean {
  return !/^(?:node_modules|generated|dist|\.platform|\.env|platform\.schema\.json)(?:\/|$)/.test(path);
}
