/** What the folder of a project tells: versions, and secrets where they do not belong. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Project } from '../project.ts';
import type { Finding } from './finding.ts';

const oldestNode = 24;

/** Looks at the machine and the files. */
export async function examineProject(project: Project): Promise<readonly Finding[]> {
  return [...nodeVersion(process.versions.node), ...(await secrets(project)), ...committedFiles(project)];
}

function nodeVersion(version: string): readonly Finding[] {
  if (Number(version.split('.')[0]) >= oldestNode) return [];
  const message = `Node ${version} runs this command; the platform needs ${oldestNode} or newer.`;
  return [{ check: 'node-version', severity: 'problem', message, advice: `Install Node ${oldestNode}.` }];
}

/** A configuration is committed, so nothing that opens a door belongs into it. */
async function secrets({ config, folder }: Project): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const url = config.database?.url;
  const fromEnvironment = process.env.DATABASE_URL;
  if (url !== undefined && URL.canParse(url) && new URL(url).password !== '' && url !== fromEnvironment) {
    found.push({
      check: 'secret-in-configuration',
      severity: 'problem',
      message: 'The URL of the database in the configuration has a password.',
      advice: 'Take it out, and set DATABASE_URL where the command and the server run.',
    });
  }
  const ignored = await readFile(join(folder, '.gitignore'), 'utf8').catch(() => '');
  const isRepository = existsSync(join(folder, '.git'));
  if (isRepository && existsSync(join(folder, '.platform')) && !/^\/?\.platform\/?$/m.test(ignored)) {
    found.push({
      check: 'state-not-ignored',
      severity: 'problem',
      message: 'The folder .platform holds tokens and secrets, and .gitignore does not name it.',
      advice: 'Add a line with .platform to .gitignore.',
    });
  }
  return found;
}

function committedFiles({ schemaFile }: Project): readonly Finding[] {
  if (existsSync(schemaFile)) return [];
  const message = 'There is no platform.schema.json, so nothing can be compiled or compared without the database.';
  return [
    { check: 'no-schema-file', severity: 'note', message, advice: 'Run `platform generate` and commit the file.' },
  ];
}
