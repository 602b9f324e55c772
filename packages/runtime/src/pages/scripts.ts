/** The scripts of the pages, as browsers load them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Beside the code, in the repository as in the published package. */
const folder = fileURLToPath(new URL('../../browser/', import.meta.url));

/** Other people's modules that the scripts import, each one file without imports of its own. */
const libraries: ReadonlyMap<string, string> = new Map([['uqr', import.meta.resolve('uqr')]]);

/** Texts of the scripts by their file names. */
export function readScripts(): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const scripts = names.map((name) => [name, withPaths(readFileSync(join(folder, name), 'utf8'))] as const);
  const others = [...libraries].map(
    ([name, url]) => [libraryFile(name), readFileSync(fileURLToPath(url), 'utf8')] as const,
  );
  return new Map([...scripts, ...others]);
}

/** Browsers import by path; names of packages mean nothing to them. */
function withPaths(text: string): string {
  return [...libraries.keys()].reduce(
    (result, name) => result.replaceAll(`from '${name}'`, `from './${libraryFile(name)}'`),
    text,
  );
}

function libraryFile(name: string): string {
  return `library-${name}.js`;
}
