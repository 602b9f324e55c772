import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { ownCommand } from '../own-command.ts';
import { type Progress, processProgress } from '../progress.ts';
import { loadProject } from '../project.ts';
import { connect } from '../source.ts';
import { count } from '../steps.ts';
import { installSystem } from '../system.ts';
import type { GlobalOptions } from './options.ts';

/** Options of `platform init`. */
export interface InitOptions extends GlobalOptions {
  /** Take the defaults instead of asking. */
  readonly yes?: boolean;
  /** Install the platform's own tables in the database; without it they are only asked about. */
  readonly system?: boolean;
}

interface Answers {
  readonly schemas: readonly string[];
  readonly output: string;
  readonly system: boolean;
}

const defaults: Answers = { schemas: [], output: 'generated', system: false };

/**
 * `platform init`: writes a configuration and a permissions file; never overwrites what is there. The database is only
 * written to when that is asked for.
 */
export async function init(options: InitOptions): Promise<void> {
  const progress = processProgress(options);
  const folder = resolve(options.project);
  await mkdir(folder, { recursive: true });
  const answers = options.yes === true || process.stdin.isTTY !== true ? defaults : await ask();
  const files = [
    ['platform.config.ts', configText(answers)],
    ['permissions.yaml', permissionsText],
  ] as const;
  for (const [name, text] of files) {
    const path = join(folder, name);
    const present = existsSync(path);
    if (!present) await writeFile(path, text);
    progress.event('file', { file: name, written: !present });
    progress.say(present ? `  ${name} is there already: left as it is` : `  ${name} written`);
  }
  await ignoreState(folder);
  if (options.system === true || answers.system) await installTables(folder, progress);
  const [generate, start] = ['generate', 'start'].map((name) => ownCommand(name, folder));
  progress.say(`Next: set DATABASE_URL, then run:\n  ${generate}\n  ${start}`);
}

/** The configuration in the folder counts, which may have been there before. */
async function installTables(folder: string, progress: Progress): Promise<void> {
  const project = await loadProject(folder);
  const source = await connect(project, progress, { writable: true });
  try {
    const applied = await installSystem(source, project, progress);
    progress.say(`  ${count(applied.length, 'migration')} applied to ${source.label}`);
  } finally {
    await source.close();
  }
}

async function ask(): Promise<Answers> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const schemas = await terminal.question('Database schemas, comma-separated (empty: all) ');
    const output = await terminal.question(`Folder for generated code (${defaults.output}) `);
    const system = await terminal.question(
      "Install the platform's own tables (users, roles …) in the database? (y/N) ",
    );
    return {
      system: /^y(es)?$/i.test(system.trim()),
      schemas: schemas
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
      output: output.trim() === '' ? defaults.output : output.trim(),
    };
  } finally {
    terminal.close();
  }
}

function configText({ schemas, output }: Answers): string {
  const database = schemas.length === 0 ? '' : `  database: { schemas: ${JSON.stringify(schemas)} },\n`;
  return `import { defineConfig } from 'tablewright/config';

// The database is named by DATABASE_URL; without it an embedded PostgreSQL under .platform/ is used.
export default defineConfig({
${database}  output: ${JSON.stringify(output)},
});
`;
}

const permissionsText = `# Who may do what. A collection that no rule names is private; the built-in role admin may do everything.
roles: {}
permissions:
  public: {} # requests without a token, for example:
  #   articles:
  #     read: { fields: [id, title], filter: { status: { _eq: published } } }
`;

/** State holds the embedded database and the admin token: neither belongs into version control. */
async function ignoreState(folder: string): Promise<void> {
  const path = join(folder, '.gitignore');
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text.split('\n').some((line) => line.replace(/^\/|\/$/g, '') === '.platform')) return;
  await writeFile(path, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}.platform/\n`);
}
