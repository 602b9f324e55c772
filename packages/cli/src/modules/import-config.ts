import { existsSync, lstatSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError, exitCodes } from '../errors/failures.ts';

/** Possible names of the file; the first that exists counts. */
export const configNames = ['platform.config.ts', 'platform.config.mts', 'platform.config.mjs', 'platform.config.js'];

/** Name of the configuration file in a folder; undefined where there is none. */
export function configName(folder: string): string | undefined {
  return configNames.find((candidate) => existsSync(join(folder, candidate)));
}

/** True if there is a file or a folder. Throws for a link that leads to none, so that no rule or hook counts as absent. */
export function isPresent(path: string): boolean {
  if (existsSync(path)) return true;
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  throw new CommandError(exitCodes.invalid, `${path} is a link that leads to no file.`, 'Correct or remove it.');
}

/** The project's configuration, empty when there is no file; a change of another number loads it again. */
export async function importConfig(folder: string, change = 0): Promise<unknown> {
  const name = configNames.find((candidate) => isPresent(join(folder, candidate)));
  if (name === undefined) return {};
  const path = join(folder, name);
  let module: { readonly default?: unknown };
  try {
    module = await import(change === 0 ? pathToFileURL(path).href : freshUrl(path, change));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      exitCodes.invalid,
      `${name}${lineOf(error, path)} could not be loaded: ${reason}`,
      hint(error),
    );
  }
  if (module.default !== undefined) return module.default;
  throw new CommandError(
    exitCodes.invalid,
    `${name} has no default export.`,
    'Write `export default defineConfig({ … })`.',
  );
}

/** `:3` when the stack leads to the third line of the file. */
function lineOf(error: unknown, path: string): string {
  const stack = (error instanceof Error ? (error.stack ?? '') : '').replaceAll(/\?changed=\d+/g, '');
  const places = [path, pathToFileURL(path).href].map((file) => stack.split(`${file}:`)[1]?.match(/^\d+/)?.[0]);
  const line = places.find((line) => line !== undefined);
  return line === undefined ? '' : `:${line}`;
}

function hint(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return 'Node runs the file itself: types only, no enums.';
  if (isCommonJs(error)) return 'Call it platform.config.mts: package.json says that .ts files are CommonJS modules.';
  if (code === 'ERR_MODULE_NOT_FOUND') return 'Correct the import, or install the package in the project.';
  return null;
}

/** True if Node took a file with `import` or `export` in it for a CommonJS module. */
function isCommonJs(error: unknown): boolean {
  const message = error instanceof SyntaxError ? error.message : '';
  return /^Cannot use import statement outside a module|^Unexpected token 'export'/.test(message);
}

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
