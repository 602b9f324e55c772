/** Checks of the input, before anything is written. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { databaseUrlProblem, fitsTemplates, templateServer } from './database-url.ts';
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
