/** Checks of the input, before anything is written. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { emptyRules, templateFolders } from './templates.ts';

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

/** Throws where a URL is not that of a database that Tablewright works with. */
export function checkDatabase(url: string): void {
  const problem = databaseUrlProblem(url, 'The URL of the database');
  if (problem !== null) throw new InputError(problem.message, problem.hint);
}

/** Throws where there is no such template. */
export function checkTemplate(name: string): void {
  const names = [...templateFolders().keys()];
  if (names.includes(name)) return;
  throw new InputError(`There is no template "${name}".`, `Templates are ${names.join(', ')}.`);
}

/** Throws where a template brings tables that the database does not take. */
export function checkTables(template: string, database: string): void {
  if (!bringsTables(template) || fitsTemplates(database)) return;
  const hint = `Leave the database out, or name one of ${templateServer}.`;
  throw new InputError(`The tables of the template "${template}" are written for ${templateServer}.`, hint);
}

/** True if a template has tables of its own; any other template fits the tables of any database. */
export function bringsTables(template: string): boolean {
  return !existsSync(join(templateFolders().get(template) ?? '', emptyRules));
}

/** A mistake of the person who calls: one sentence, and perhaps the cure as another one. */
export class InputError extends Error {
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.name = 'InputError';
    this.hint = hint;
  }
}

/** One sentence, and the cure as another one. */
interface UrlProblem {
  readonly message: string;
  readonly hint: string;
}

/** Databases that projects can have, and the one that they have by themselves. */
export const databaseTitles = 'PostgreSQL, MySQL or MariaDB database';
export const embeddedTitle = 'embedded PostgreSQL';

/** Server that the tables of templates are written for. */
const templateServer = 'PostgreSQL';

/** True if the tables of templates fit the server of a URL. */
function fitsTemplates(url: string): boolean {
  return url.startsWith('postgres');
}

const form = 'postgres://user:password@host:5432/database, or with mysql: or mariadb: in front';
const schemes: ReadonlySet<string> = new Set(['postgres:', 'postgresql:', 'mysql:', 'mariadb:']);

/**
 * The fault of a URL that `subject` (`DATABASE_URL`) holds; null where a database of that address may exist.
 * @example const problem = databaseUrlProblem(process.env.DATABASE_URL ?? '', 'DATABASE_URL');
 */
export function databaseUrlProblem(list: string, subject: string): UrlProblem | null {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*:)\/\//.exec(list)?.[1];
  if (scheme === undefined)
    return { message: `${subject} does not begin as a URL does.`, hint: `Write it as ${form}.` };
  if (!schemes.has(scheme)) {
    const message = `${subject} begins with "${scheme}", which is no kind of database that Tablewright reads.`;
    return { message, hint: `Write ${likelyScheme(scheme) ?? `it as ${form}`}.` };
  }
  // The host may be among the parameters, as a folder of a socket: `postgres://me@/shop?host=/run/postgresql`.
  const url = firstHost(list).replace(/^(\w+:\/\/[^/?#]*@)(?=\/[^?#]*\?(?:[^#]*&)?host=)/, '$1localhost');
  // Text after a # belongs to no database: it is the rest of a password.
  if (!URL.canParse(url) || new URL(url).hash !== '') {
    const hint = `Write it as ${form}; in a password # is %23, / is %2F and @ is %40.`;
    return { message: `${subject} cannot be read as a URL.`, hint };
  }
  if (!scheme.startsWith('postgres') && new URL(url).pathname.length < 2) {
    return {
      message: `${subject} names no database.`,
      hint: `Write it as ${scheme}//user:password@host:3306/database.`,
    };
  }
  return null;
}

/** The address with the first of its hosts alone: `postgres://a:5432,b:5432/c` has two. */
function firstHost(list: string): string {
  return list.replace(/^([^/]*\/\/(?:[^/?#]*@)?[^/?#,]*),[^/?#]*/, '$1');
}

/** The scheme that a misspelt one was to be; null where nothing speaks for one. */
function likelyScheme(scheme: string): string | null {
  if (/^p/i.test(scheme)) return 'postgres:// in front';
  if (/maria/i.test(scheme)) return 'mariadb:// in front';
  return /^my/i.test(scheme) ? 'mysql:// in front' : null;
}
