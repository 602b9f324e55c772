/** Checks of the input, before anything is written. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, resolve } from 'node:path';
import { InputError } from './input-error.ts';
import { templateFolders } from './templates.ts';

/** Name of the package of a project in a folder. Throws where npm takes no such name. */
export function checkFolder(folder: string): string {
  const path = resolve(folder);
  const name = basename(path);
  if (!isPackageName(name)) {
    const hint = 'Use lower-case letters, digits and dashes, such as "my-shop".';
    throw new InputError(`npm takes no package called "${name}".`, hint);
  }
  if (!existsSync(path)) return name;
  if (!statSync(path).isDirectory())
    throw new InputError(`"${folder}" is a file.`, 'Name a folder that is new or empty.');
  const others = readdirSync(path).filter((entry) => entry !== '.git');
  if (others.length === 0) return name;
  const hint = 'Name a folder that is new or empty, or run `npx tablewright init` in this one.';
  throw new InputError(`The folder "${folder}" is not empty.`, hint);
}

/** The rules of npm for new packages. */
function isPackageName(name: string): boolean {
  const isTaken = builtinModules.includes(name) || ['node_modules', 'favicon.ico'].includes(name);
  return /^[a-z0-9~-][a-z0-9._~-]*$/.test(name) && name.length <= 214 && !isTaken;
}

const schemes: ReadonlySet<string> = new Set(['postgres:', 'postgresql:', 'mysql:', 'mariadb:']);

/** Throws where a URL is not that of a database that Tablewright works with. It may hold a password, so it is not repeated. */
export function checkDatabase(url: string): void {
  const scheme = /^([a-z][a-z0-9+.-]*:)\/\//i.exec(url)?.[1]?.toLowerCase();
  const hint = 'Write it as postgres://user:password@host:5432/database, or with mysql: or mariadb: in front.';
  if (scheme === undefined) throw new InputError('The database is not given as a URL.', hint);
  if (!schemes.has(scheme)) throw new InputError(`"${scheme}" is no kind of database that Tablewright reads.`, hint);
  if (!URL.canParse(url) || /\s/.test(url)) {
    throw new InputError(
      'The URL of the database cannot be read.',
      `${hint} In a password # is %23, / is %2F and @ is %40.`,
    );
  }
}

/** Throws where there is no such template. */
export function checkTemplate(name: string): void {
  const names = [...templateFolders().keys()];
  if (names.includes(name)) return;
  throw new InputError(`There is no template "${name}".`, `Templates are ${names.join(', ')}.`);
}
