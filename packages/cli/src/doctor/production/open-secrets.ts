import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Variables } from '@tablewright/runtime/tools';
import { environmentName } from '../../project/environment-file.ts';
import type { Project } from '../../project/project.ts';

/** Variables whose content opens something. */
const secretName = /(?:SECRET(?:_PREVIOUS)?|PASSWORD|TOKEN|DATABASE_URL|REDIS|_KEY)$/;

/** Files of the folder of state that hold secrets. */
const kept = ['secret', 'admin-token', 'admin-password'];

/** Files with secrets that every user of the machine can read: those of variables, of `.env` and of the state. */
export async function openSecrets(
  { folder, stateFolder }: Pick<Project, 'folder' | 'stateFolder'>,
  variables: Variables,
): Promise<readonly string[]> {
  const named = Object.entries(variables).flatMap(([name, path]) =>
    name.endsWith('_FILE') && secretName.test(name.slice(0, -'_FILE'.length)) && path ? [resolve(path)] : [],
  );
  const environment = join(folder, environmentName);
  const files = [...named, ...((await holdsSecret(environment)) ? [environment] : [])];
  const all = new Set([...files, ...kept.map((name) => join(stateFolder, name))].filter(existsSync));
  const open = await Promise.all([...all].map(async (file) => ((await isOpen(file)) ? [file] : [])));
  return open.flat().map((file) => (file.startsWith(folder) ? relative(folder, file) : file));
}

async function holdsSecret(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').some((line) => secretName.test(line.split('=')[0]?.trim() ?? ''));
}

/** True if others may read the file, and enter every folder above it. Systems without modes are left alone. */
async function isOpen(file: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  const { mode } = await stat(file);
  return (mode & 0o004) !== 0 && isEntered(dirname(file));
}

async function isEntered(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  const parent = dirname(folder);
  return (mode & 0o001) !== 0 && (parent === folder || isEntered(parent));
}
