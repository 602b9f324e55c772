import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Project } from '../project/project.ts';

const run = promisify(execFile);

/** The text of a file of the project's folder in a revision of git. Rejects where there is none. */
export async function readRevisionFile(revision: string, path: string, { folder }: Project): Promise<string> {
  // It would be an option.
  if (revision.startsWith('-')) throw new Error(`"${revision}" is no revision.`);
  const options = { cwd: folder, maxBuffer: 1 << 30 };
  const { stdout } = await run('git', ['show', `${revision}:./${path}`], options);
  return stdout;
}

/** The project's folder from the root of its repository, with a `/` at the end; empty at the root, and where there is none. */
export async function folderInRepository({ folder }: Project): Promise<string> {
  const found = await run('git', ['rev-parse', '--show-prefix'], { cwd: folder }).catch(() => null);
  return found === null ? '' : found.stdout.replace(/\n$/, '');
}
