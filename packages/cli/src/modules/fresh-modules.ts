import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Suffix of the address of a project's module, so that Node takes a changed file for another module. */
const queryName = 'changed';

/**
 * Lets the modules of a project be loaded again after they have changed. The project's modules that a module with a
 * number imports have that number, too. Modules that were loaded before stay in memory until the process ends.
 */
export function refreshModules(folder: string): void {
  const root = `${pathToFileURL(folder).href}/`;
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const number = context.parentURL === undefined ? null : numberOf(context.parentURL);
      const isOwn = resolved.url.startsWith(root) && !resolved.url.includes('/node_modules/');
      return number !== null && isOwn ? { ...resolved, url: numbered(resolved.url, number) } : resolved;
    },
  });
}

/** The address of a module of the project as it is after the change of that number. */
export function freshUrl(path: string, number: number): string {
  return numbered(pathToFileURL(path).href, String(number));
}

function numberOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).searchParams.get(queryName) : null;
}

function numbered(address: string, number: string): string {
  const url = new URL(address);
  url.searchParams.set(queryName, number);
  return url.href;
}
