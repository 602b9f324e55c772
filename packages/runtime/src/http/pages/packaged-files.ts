/**
 * Files that only browsers run, which are other people's and sent as they are. They lie in the packages of this
 * repository, and in the copies that the published package brings (`scripts/build.ts`), so that no server installs
 * them.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files that the page GraphiQL loads by name: the package of each, and its path there. */
export const packagedFiles: Readonly<Record<string, { readonly package: string; readonly path: string }>> = {
  'react.js': { package: 'react', path: 'umd/react.production.min.js' },
  'react-dom.js': { package: 'react-dom', path: 'umd/react-dom.production.min.js' },
  'graphiql.js': { package: 'graphiql', path: 'graphiql.min.js' },
  'graphiql.css': { package: 'graphiql', path: 'graphiql.min.css' },
};

const published = fileURLToPath(new URL('../../../graphiql/', import.meta.url));

/** Where a file lies. Throws where neither the copy nor the packages are there. */
export function findPackagedFile(name: string): string {
  const copy = join(published, name);
  return existsSync(copy) ? copy : packagedFile(name);
}

/** Where a file lies in the package that it comes from. */
export function packagedFile(name: string): string {
  const file = packagedFiles[name];
  if (file === undefined) throw new Error(`The page has no file "${name}".`);
  return join(dirname(createRequire(import.meta.url).resolve(`${file.package}/package.json`)), file.path);
}
