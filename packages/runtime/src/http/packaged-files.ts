/**
 * Files that only browsers run, which are other people's and sent as they are: from the packages in this repository, and
 * from the copies that the published package brings (`scripts/build.ts`), so that no server installs them.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Pages that are made of such files. */
export type PackagedPage = 'graphiql' | 'docs';

/** What the pages ask for by name: the package that has it, and where. */
export const packagedFiles: Readonly<
  Record<PackagedPage, Readonly<Record<string, { readonly package: string; readonly path: string }>>>
> = {
  graphiql: {
    'react.js': { package: 'react', path: 'umd/react.production.min.js' },
    'react-dom.js': { package: 'react-dom', path: 'umd/react-dom.production.min.js' },
    'graphiql.js': { package: 'graphiql', path: 'graphiql.min.js' },
    'graphiql.css': { package: 'graphiql', path: 'graphiql.min.css' },
  },
  docs: {
    'swagger-ui.js': { package: 'swagger-ui-dist', path: 'swagger-ui-bundle.js' },
    'swagger-ui.css': { package: 'swagger-ui-dist', path: 'swagger-ui.css' },
  },
};

const published = fileURLToPath(new URL('../../', import.meta.url));

/** Where a file of a page lies. Throws where neither the copy nor the packages are there. */
export function findPackagedFile(page: PackagedPage, name: string): string {
  const copy = join(published, page, name);
  return existsSync(copy) ? copy : packagedFile(page, name);
}

/** Where a file lies in the package that it comes from. */
export function packagedFile(page: PackagedPage, name: string): string {
  const file = packagedFiles[page][name];
  if (file === undefined) throw new Error(`The page has no file "${name}".`);
  return join(dirname(createRequire(import.meta.url).resolve(`${file.package}/package.json`)), file.path);
}
