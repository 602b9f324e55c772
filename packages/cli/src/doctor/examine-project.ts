/** Findings about the folder of a project: versions, and misplaced secrets. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { databaseUrlStart } from '@tablewright/runtime/language';
import { configNames } from '../modules/import-config.ts';
import type { Project } from '../project/project.ts';
import type { Finding } from '../sources/finding.ts';
import { ownVariable } from '../terminal/own-variable.ts';

const oldestNode = 24;

/** Looks at the machine and the files. */
export async function examineProject(project: Project): Promise<readonly Finding[]> {
  return [...nodeVersion(process.versions.node), ...(await secrets(project)), ...committedFiles(project)];
}

function nodeVersion(version: string): readonly Finding[] {
  if (Number(version.split('.')[0]) >= oldestNode) return [];
  const message = `Node ${version} runs this command; Tablewright needs ${oldestNode} or newer.`;
  return [{ check: 'node-version', severity: 'problem', message, advice: `Install Node ${oldestNode}.` }];
}

/** A configuration is committed, so nothing that opens a door belongs into it. */
async function secrets({ config, folder }: Project): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const url = config.database?.url;
  const hasUrl = url !== undefined && url !== ownVariable('DATABASE_URL') && hasPassword(url);
  if (hasUrl || (await configTexts(folder)).some((text) => urlsIn(text).some(hasPassword))) {
    found.push({
      check: 'secret-in-configuration',
      severity: 'problem',
      message: 'The URL of the database in the configuration has a password.',
      advice: 'Take it out, and set DATABASE_URL where the command and the server run.',
    });
  }
  if (existsSync(join(folder, '.platform')) && (await isCommitted(folder, '.platform'))) {
    found.push({
      check: 'state-not-ignored',
      severity: 'problem',
      message: 'The folder .platform holds tokens and secrets, and .gitignore does not name it.',
      advice: 'Add a line with .platform to .gitignore.',
    });
  }
  return found;
}

function hasPassword(url: string): boolean {
  return URL.canParse(url) && new URL(url).password !== '';
}

async function configTexts(folder: string): Promise<readonly string[]> {
  return Promise.all(configNames.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')));
}

/** Addresses of databases that stand in a text as they are: none that is put together when it runs. */
function urlsIn(text: string): readonly string[] {
  return text.match(new RegExp(`\\b${databaseUrlStart}[^\\s'"\`\${]+(?=['"\`])`, 'g')) ?? [];
}

/** True if git would commit a folder, even if its repository begins further up; without git `.gitignore` decides. */
async function isCommitted(folder: string, name: string): Promise<boolean> {
  const repository = repositoryOf(folder);
  if (repository === null) return false;
  try {
    await run('git', ['-C', folder, 'check-ignore', '--quiet', `${name}/admin-token`]);
    return false;
  } catch (error) {
    // 1 means that it is not ignored.
    if (error instanceof Error && 'code' in error && error.code === 1) return true;
  }
  const ignored = await readFile(join(folder, '.gitignore'), 'utf8').catch(() => '');
  return !ignored.split(/\r?\n/).some((line) => line.replaceAll('/', '') === name);
}

const run = promisify(execFile);

/** The nearest folder upwards that is a repository; null where there is none. */
function repositoryOf(folder: string): string | null {
  if (existsSync(join(folder, '.git'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? null : repositoryOf(parent);
}

function committedFiles({ schemaFile }: Project): readonly Finding[] {
  if (existsSync(schemaFile)) return [];
  const message = 'There is no platform.schema.json, so nothing can be compiled or compared without the database.';
  return [
    { check: 'no-schema-file', severity: 'note', message, advice: 'Run `platform generate` and commit the file.' },
  ];
}
