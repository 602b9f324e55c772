import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Project } from '../project.ts';

const run = promisify(execFile);

/** The text of a file of the project's folder in a revision of git. Rejects where there is none. */
export async function readRevisionFile(revision: string, path: string, { folder }: Project): Promise<string> {
  // It would be an option.
  if (revision.startsWith('-')) throw new Error(`"${revision}" is no revision.`);
  const options = { cwd: folder, maxBuffer: 1 << 30 };
  const { stdout } = await run('git', ['show', `${revision}:./${path}`], options);
  return stdout;
}
