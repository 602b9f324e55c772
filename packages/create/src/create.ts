/** `create-tablewright`: makes a project, and says what comes next. */

import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { bringsTables, databaseTitles, embeddedTitle, InputError } from './check-input.ts';
import { type Options, readOptions } from './options.ts';
import { installPackages, managerFiles, runPlatform } from './package-manager.ts';
import { type ProjectFile, projectFiles, writeProjectFile } from './project-files.ts';
import { ownVersion } from './templates.ts';

const help = `Usage: create-tablewright [folder] [options]

Makes a project of Tablewright, which compiles a SQL database into a typed API server.

Options:
  -y, --yes                       take the defaults instead of asking
  --database <url>                a ${databaseTitles} (default: an ${embeddedTitle})
  --template <name>               api or vite-react (default: api)
  --package-manager <name>        npm, pnpm or yarn (default: the one that runs this command)
  --no-install                    install nothing
  -h, --help, -V, --version

Exit codes:
  0   the project is there
  2   an argument is wrong, or a file cannot be written
  3   the packages could not be installed; the files stay
  130 stopped by Ctrl-C at a question; nothing was written
`;

/** Does what the arguments say. Resolves to the exit code. */
export async function create(args: readonly string[]): Promise<number> {
  try {
    const request = await readOptions(args);
    if (request === 'help') process.stdout.write(help);
    else if (request === 'version') process.stdout.write(`${ownVersion()}\n`);
    else return await makeProject(request);
    return 0;
  } catch (error) {
    if (error instanceof InputError) return refuse(error.message, error.hint);
    if (isAborted(error)) {
      print('\nStopped: nothing was written.');
      return 130;
    }
    // The file system: no room, no right, no such device.
    if (error instanceof Error && 'syscall' in error) return refuse(`The file system refuses: ${error.message}.`, null);
    throw error;
  }
}

/** Ctrl-C or Ctrl-D in place of an answer. */
function isAborted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ABORT_ERR';
}

function refuse(message: string, hint: string | null): number {
  process.stderr.write(`${message}\n${hint === null ? '' : `  ${hint}\n`}`);
  return 2;
}

async function makeProject(options: Options): Promise<number> {
  const { folder, manager, isInstalled, template, database } = options;
  const path = resolve(folder);
  const files = [...(await filesOf(options, basename(path))), ...managerFiles(manager)];
  await mkdir(path, { recursive: true });
  for (const file of files) await writeProjectFile(path, file, file.name === '.env' ? 0o600 : 0o666);
  print(`${files.length} files written to ${path}.`);
  if (isInstalled && !(await installPackages(path, manager))) {
    const install = [...enter(path), `${manager} install`].join(' && ');
    print(
      `The packages could not be installed, see above. The files stay: run \`${install}\` when a registry can be reached.`,
    );
    return 3;
  }
  const install = isInstalled ? [] : [`${manager} install`];
  // An embedded database begins with the tables of the template; into any other one they come when people say so.
  const migrate = database !== null && bringsTables(template) ? [runPlatform(manager, 'migrate')] : [];
  const isApp = files.some(({ name, text }) => name === 'package.json' && text.includes('"web":'));
  const scripts = isApp ? ['dev', 'web'] : ['generate', 'dev'];
  const commands = [...enter(path), ...install, ...migrate, ...scripts.map((source) => `${manager} run ${source}`)];
  print(`Next:\n${commands.map((command) => `  ${command}`).join('\n')}`);
  if (isApp) print('The server (dev) and the app (web) run at the same time, each in a terminal of its own.');
  return 0;
}

/** The files of the template; the URL of a database stands in `.env` and nowhere else. */
async function filesOf({ template, database }: Options, name: string): Promise<readonly ProjectFile[]> {
  const files = await projectFiles({ template, name, hasTables: database === null });
  if (database === null) return files;
  const variables = [`DATABASE_URL=${quoted(database)}`, `SECRET=${randomBytes(32).toString('base64url')}`];
  return [...files, { name: '.env', text: `${variables.join('\n')}\n` }];
}

/** The value of a variable, quoted for any characters. */
function quoted(value: string): string {
  return value.includes("'") ? `"${value}"` : `'${value}'`;
}

function enter(path: string): readonly string[] {
  const shown =
    path === process.cwd() ? null : path.startsWith(`${process.cwd()}/`) ? path.slice(process.cwd().length + 1) : path;
  if (shown === null) return [];
  return [`cd ${/^[\w./@:+-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`}`];
}

function print(text: string): void {
  process.stderr.write(`${text}\n`);
}
