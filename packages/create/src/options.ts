/** Options of the command line, and answers to questions where it leaves them out. */

import { createInterface, type Interface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import {
  checkDatabase,
  checkFolder,
  checkTables,
  checkTemplate,
  databaseTitles,
  embeddedTitle,
  InputError,
} from './check-input.ts';
import { managerCalled, type PackageManager, runningManager } from './package-manager.ts';
import { templateFolders } from './templates.ts';

/** A project that is to be made. */
export interface Options {
  readonly folder: string;
  /** URL of the database; null for an embedded one. */
  readonly database: string | null;
  readonly template: string;
  readonly manager: PackageManager;
  readonly isInstalled: boolean;
}

/** Output to print instead of making a project. */
type Request = 'help' | 'version' | Options;

const defaults = { folder: 'my-api', template: 'api' };

/** Reads the arguments, and asks for what they do not say where there is a terminal. Throws what is wrong with them. */
export async function readOptions(args: readonly string[]): Promise<Request> {
  const { values, positionals } = parse(args);
  if (values.help === true) return 'help';
  if (values.version === true) return 'version';
  if (positionals.length > 1) throw new InputError(`One folder is made, not ${positionals.length}.`, usage);
  const manager = managerFor(values['package-manager']);
  const stated = { folder: positionals[0], database: values.database, template: values.template };
  const isAsking = values.yes !== true && process.stdin.isTTY === true;
  const { folder, database, template } = check(isAsking ? await promptOptions(stated) : stated);
  return { folder, database, template, manager, isInstalled: values['no-install'] !== true };
}

const usage = 'Run create-tablewright --help for what it takes.';

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        yes: { type: 'boolean', short: 'y' },
        database: { type: 'string' },
        template: { type: 'string' },
        'no-install': { type: 'boolean' },
        'package-manager': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'V' },
      },
    });
  } catch (error) {
    throw new InputError(error instanceof Error ? error.message.replace(/\. .*$/s, '.') : String(error), usage);
  }
}

function managerFor(name: string | undefined): PackageManager {
  const manager = name === undefined ? runningManager() : managerCalled(name);
  if (manager === null) throw new InputError(`There is no package manager "${name}" here.`, 'Write npm, pnpm or yarn.');
  return manager;
}

interface Arguments {
  readonly folder: string | undefined;
  readonly database: string | undefined;
  readonly template: string | undefined;
}

function check({ folder = defaults.folder, database, template = defaults.template }: Arguments) {
  checkTemplate(template);
  if (database !== undefined) {
    checkDatabase(database);
    checkTables(template, database);
  }
  checkFolder(folder);
  return { folder, database: database ?? null, template };
}

/** Asks until an answer is right. */
async function promptOptions({ folder, database, template }: Arguments): Promise<Arguments> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const names = [...templateFolders().keys()].join(' or ');
  try {
    return {
      folder: folder ?? (await ask(terminal, `Folder (${defaults.folder}) `, defaults.folder, checkFolder)),
      database: database ?? (await askDatabase(terminal)),
      template:
        template ??
        (await ask(terminal, `Template, ${names} (${defaults.template}) `, defaults.template, checkTemplate)),
    };
  } finally {
    terminal.close();
  }
}

async function askDatabase(terminal: Interface): Promise<string | undefined> {
  const question = `URL of a ${databaseTitles} (empty: an ${embeddedTitle}) `;
  const url = await ask(terminal, question, '', (text) => (text === '' ? undefined : checkDatabase(text)));
  return url === '' ? undefined : url;
}

async function ask(
  terminal: Interface,
  question: string,
  standard: string,
  validate: (text: string) => unknown,
): Promise<string> {
  for (;;) {
    const text = (await terminal.question(question)).trim() || standard;
    try {
      validate(text);
      return text;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      process.stderr.write(`  ${error.message} ${error.hint ?? ''}\n`);
    }
  }
}
