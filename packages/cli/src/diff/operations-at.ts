/** The GraphQL operations of a version that `platform diff` compares, as the generated files of it list them. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import type { ListedOperation } from '@platform/compiler';
import type { Project } from '../project.ts';
import { readRevisionFile } from './revision-file.ts';
import { liveDatabase, workingTree } from './schema-at.ts';

/**
 * Null where it is not known: for the file of a schema, and where the generated files are not there, or not under version
 * control.
 */
export async function operationsAt(name: string, project: Project): Promise<readonly ListedOperation[] | null> {
  const isHere = name === workingTree || name === liveDatabase;
  if (!isHere && name.endsWith('.json') && existsSync(resolve(name))) return null;
  const output = relative(project.folder, project.output).split(sep).join('/');
  const read = (file: string): Promise<string | null> =>
    isHere
      ? readFile(join(project.output, file), 'utf8').catch(() => null)
      : readRevisionFile(name, `${output}/${file}`, project).catch(() => null);
  const listed = await read('graphql/operations.json');
  if (listed !== null) return JSON.parse(listed);
  return (await read('manifest.json')) === null ? null : [];
}
