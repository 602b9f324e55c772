import { Command, CommanderError } from 'commander';
import type { GlobalOptions } from './commands/options.ts';
import { CommandError, exitCodes, knownFailure } from './errors/failures.ts';
import { findOwnModules, lendPackages } from './modules/own-packages.ts';
import { environmentName, readEnvironment } from './project/environment-file.ts';
import { embeddedTitle, exampleUrl } from './sources/dialects.ts';
import { commandFormatter, commandVersion } from './terminal/own-command.ts';
import { eventLine } from './terminal/progress.ts';

/** Exit codes as help prints them, and docs/reference/commands.md. */
export const exitCodeHelp = `
Exit codes:
  0   done; also after Ctrl-C or SIGTERM, when running requests have finished
  1   the configuration, the permissions or the database cannot be compiled; diagnostics say why;
      also when the platform's tables do not fit this version, and after \`migrate --status\` when they are behind;
      of \`generate --check\`, \`check\` and \`diff\`: something differs; of \`ready\`: the server wants no requests
  2   the command line or DATABASE_URL is wrong, or a file cannot be read or written;
      of these commands: anything that keeps them from judging
  3   the database cannot be reached, refuses what is asked, or the embedded one is in use by another process
  4   the server cannot start
  70  a bug of Tablewright
  130 stopped by Ctrl-C at a question; nothing was written
`;

const environmentHelp = `
Environment:
  DATABASE_URL  ${exampleUrl}; without it an embedded ${embeddedTitle} under .platform/
  HOST, PORT    where the server listens (127.0.0.1, 8055)
  ADMIN_TOKEN   static token of the role admin; without it one is made and kept under .platform/
  SECRET        at least 32 bytes, needed where there are users; with the embedded database one is kept under .platform/
  ADMIN_EMAIL, ADMIN_PASSWORD  the first administrator, made when there is no user
`;

/** A reader that has gone, such as `head` or a terminal that was closed, ends neither a server nor a command. */
function ignoreClosed(this: { readonly isTTY?: boolean }, error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && !(error.code === 'EIO' && this.isTTY === true)) throw error;
}

/** Runs the command of the process's arguments, and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosed);
  lendPackages();
  findOwnModules();
  let folder = '.';
  const root = program().hook('preAction', (_, action) => {
    const { project }: GlobalOptions = action.opts();
    folder = project;
    for (const name of readEnvironment(folder))
      process.stderr.write(`  warning: ${name} is empty, which hides its line in ${environmentName}.\n`);
  });
  // Node ends in silence, and with 0, where all that is left is a promise that nothing settles.
  const endUnfinished = (): void => {
    process.exitCode = printError(unfinished, commandFormatter(folder));
  };
  process.once('beforeExit', endUnfinished);
  try {
    await root.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = printError(knownFailure(error), commandFormatter(folder));
  } finally {
    process.off('beforeExit', endUnfinished);
  }
}

const unfinished = new CommandError(
  exitCodes.usage,
  'The command ended unfinished: it waits for something that never happens.',
  'Look for an `await` without an answer in platform.config.ts or in an extension.',
);

/** Every command with its options, for parsing, for help, and for docs/reference/commands.md. */
export function program(): Command {
  const root = new Command('platform')
    .description('Tablewright compiles a SQL database and its permissions into a typed API server.')
    .version(commandVersion(), '-V, --version')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `${environmentHelp}${exitCodeHelp}`);
  addProjectCommands(root);
  addCheckCommands(root);
  addSchemaCommands(root);
  addPermissionCommands(root);
  addRequestCommands(root);
  addServerCommands(root);
  addUserCommands(root);
  command(root, 'roles', 'list the roles of users and what they may')
    .option('--sync', 'make the roles of permissions.yaml that users cannot have yet')
    .action(lazy(async () => (await import('./commands/users.ts')).roles));
  return root;
}

function addProjectCommands(root: Command): void {
  command(root, 'init', 'write what a project begins with: configuration, rules, tables for an embedded database')
    .option('-y, --yes', 'take the defaults instead of asking')
    .option('--system', "also install the platform's own tables (users, roles, activity …) in the database")
    .option(
      '--deploy <kind>',
      'also write the files to deploy it with: docker or systemd; or to watch it with: grafana',
    )
    .action(lazy(async () => (await import('./commands/init.ts')).init));
  command(root, 'migrate', "bring the platform's own tables to this version, and apply the migrations of the project")
    .option('--status', 'only tell what is applied and what is pending')
    .action(lazy(async () => (await import('./commands/migrate.ts')).migrate));
  command(root, 'introspect', 'read the database into platform.schema.json').action(
    lazy(async () => (await import('./commands/schema.ts')).introspect),
  );
  command(root, 'generate', 'compile the database into the output folder')
    .option('--offline', 'compile from platform.schema.json, without a database')
    .option('--check', 'write nothing; exit with 1 and the difference when files would change, 2 on errors')
    .option('--clients-only', 'write client packages and no other file')
    .option('--classes <names>', 'with --clients-only: access classes, separated by commas')
    .option('--force', 'overwrite generated files that were edited')
    .action(lazy(async () => (await import('./commands/generate.ts')).generate));
  for (const [name, described] of [
    ['openapi', 'OpenAPI document'],
    ['graphql', 'GraphQL schema'],
  ] as const)
    command(root, `${name} <class>`, `print the ${described} of an access class from the generated files`)
      .option('-o, --output <file>', 'write a file instead of stdout')
      .action(lazy(async () => (await import('./commands/document.ts'))[name]));
}

function addCheckCommands(root: Command): void {
  command(root, 'check', 'compare database, platform.schema.json, generated files and permissions with one another')
    .option('--offline', 'leave the database out')
    .action(lazy(async () => (await import('./commands/check.ts')).check));
  command(
    root,
    'diff [from] [to]',
    'tell what a change means to every client of every role (HEAD to the files as they are)',
  )
    .option('--format <format>', 'text, markdown, json or sarif', 'text')
    .option('-o, --output <file>', 'write a file instead of stdout')
    .option('--fail-on <severity>', 'exit with 1 from which severity on: breaking, dangerous or never', 'breaking')
    .option('--acknowledged <file>', 'changes that are agreed to, one a line: "field-removed articles.title"')
    .option('--no-guess', 'take what only looks renamed for removed and new')
    .action(lazy(async () => (await import('./commands/diff.ts')).diff));
  command(root, 'doctor', 'find what is wrong with machine, project and database, and tell the cure')
    .option('--production', 'also look at the settings of a server that is to be used')
    .option('--workers <count>', 'with --production: the number of processes that are to serve')
    .action(lazy(async () => (await import('./commands/doctor.ts')).doctor));
}

function addRequestCommands(root: Command): void {
  command(root, 'can <role> <action> <collection> [key]', 'tell which rule lets a role do something, or why none does')
    .option('-u, --user <key>', 'the user that $CURRENT_USER stands for')
    .action(lazy(async () => (await import('./commands/can.ts')).can));
  command(
    root,
    'explain <request>',
    'show what becomes of "GET /items/…" or "PATCH /items/…": rules, SQL, plan, indexes',
  )
    .requiredOption('--as <role>', 'the role that asks')
    .option('-u, --user <key>', 'the user that $CURRENT_USER stands for')
    .option('--offline', 'plan without a database')
    .option('--analyze', 'let the database run the statement of a read and measure it')
    .option('-d, --data <json>', 'the body of a write')
    .option('--rehearse', 'let the database run a write in a transaction that is taken back')
    .action(lazy(async () => (await import('./commands/explain.ts')).explain));
}

function addServerCommands(root: Command): void {
  command(root, 'dev', 'compile and serve, and do both again whenever the database or a file changes')
    .option('--no-types', 'do not check the types of what is generated and of extensions')
    .option('--notify', `have ${embeddedTitle} tell of changes, by an event trigger that goes when this ends`)
    .action(lazy(async () => (await import('./commands/dev.ts')).dev));
  command(root, 'start', 'serve what was generated')
    .option('--generate', 'introspect and compile first')
    .option('--sample', 'compile and serve the sample of this repository, or DATABASE_URL')
    .option('--workers <count>', 'serve by this many processes on one port; SIGHUP replaces them one after the other')
    .option('--frozen', 'serve what was generated and nothing else: refuse writes to roles and permissions')
    .option('--record-examples', 'keep requests and answers for the OpenAPI documents; for development')
    .option('--trusted-documents', 'answer no GraphQL documents but those that were compiled')
    .action(lazy(async () => (await import('./commands/start.ts')).start));
  command(root, 'ready', 'succeed if a server wants requests, for health checks of containers')
    .option('--url <address>', 'the server; without it the one of HOST and PORT on this machine')
    .action(lazy(async () => (await import('./commands/ready.ts')).ready));
}

function addSchemaCommands(root: Command): void {
  const schema = root.command('schema').description('take platform.schema.json from a database').exitOverride();
  command(schema, 'pull', 'read a database into platform.schema.json, and tell what is new in it')
    .option('--from <url>', "the database, in place of the project's own")
    .action(lazy(async () => (await import('./commands/schema.ts')).pullSchema));
}

function addPermissionCommands(root: Command): void {
  const permissions = root
    .command('permissions')
    .description('look at all rules, and bring the permissions file and the tables of permissions together')
    .exitOverride();
  command(permissions, 'diff', 'tell in what the tables and the file differ').action(
    lazy(async () => (await import('./commands/permissions.ts')).diffPermissions),
  );
  command(permissions, 'pull', 'write the permissions file from the tables').action(
    lazy(async () => (await import('./commands/permissions.ts')).pullPermissions),
  );
  command(permissions, 'push', 'make the tables equal to the permissions file (needs --yes)')
    .option('-y, --yes', 'write what differs')
    .action(lazy(async () => (await import('./commands/permissions.ts')).pushPermissions));
  command(permissions, 'matrix', 'print who may do what with which field, as a table')
    .option('--format <format>', 'text, markdown, csv or html; else as the ending of --output says')
    .option('-o, --output <file>', 'write a file of the project instead')
    .option('--check', 'write nothing; exit with 1 when the file would change')
    .action(lazy(async () => (await import('./commands/permissions.ts')).permissionsMatrix));
}

function addUserCommands(root: Command): void {
  const users = root
    .command('users')
    .description('list users, make them, give them passwords and tokens')
    .exitOverride();
  const fromStdin = ['--password-stdin', 'take the password from the standard input instead of making one'] as const;
  command(users, 'list', 'list users').action(lazy(async () => (await import('./commands/users.ts')).listUsers));
  command(users, 'create <email>', 'make an active user')
    .option('-r, --role <name>', 'role of the user; without it the rules of the public role hold')
    .option(...fromStdin)
    .action(lazy(async () => (await import('./commands/users.ts')).createUser));
  command(users, 'passwd <email>', 'give another password, and end every session of the user')
    .option(...fromStdin)
    .action(lazy(async () => (await import('./commands/users.ts')).setPassword));
  command(users, 'token <email>', 'give a static token, for programs')
    .option('--remove', 'take it away')
    .action(lazy(async () => (await import('./commands/users.ts')).setToken));
}

type Action<Args extends readonly unknown[]> = (...args: Args) => void | Promise<void>;

/** A command that is loaded when it is called: modules of all would take up most of the start time of one. */
function lazy<Args extends readonly unknown[]>(load: () => Promise<Action<Args>>): Action<Args> {
  return async (...args) => (await load())(...args);
}

function command(root: Command, name: string, description: string): Command {
  return root
    .command(name)
    .description(description)
    .exitOverride()
    .option('-p, --project <folder>', 'folder with platform.config.ts', '.')
    .option('--json', 'print one JSON event per line on stdout')
    .option('--notes', 'also print what is only worth knowing');
}

/** Prints an error for people, and with `--json` as one event; returns the exit code. */
function printError(error: unknown, format: (text: string) => string): number {
  // Its own words were printed where the mistake was found.
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok;
    printEvent(error.message.replace(/^error: /, ''), null);
    return exitCodes.usage;
  }
  if (error instanceof CommandError) {
    const message = format(error.message);
    const hint = error.hint === null ? null : format(error.hint);
    printEvent(message, hint);
    process.stderr.write(`${message}\n${hint === null ? '' : `  ${hint}\n`}`);
    return error.exitCode;
  }
  const report = 'This is a bug of the platform; please report it with the lines above.';
  printEvent(error instanceof Error ? error.message : String(error), report);
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n${report}\n`);
  return exitCodes.internal;
}

function printEvent(message: string, hint: string | null): void {
  if (process.argv.includes('--json')) process.stdout.write(eventLine({ event: 'error', message, hint }));
}
