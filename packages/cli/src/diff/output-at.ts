/** Parts of a version's generated files that its schema does not have: GraphQL operations, and extensions. */
import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type ListedExtensions, type ListedOperation, listedFile } from '@tablewright/compiler';
import type { Project } from '../project/project.ts';
import { readRevisionFile } from './revision-file.ts';
import { isSchemaFile, liveDatabase, workingTree } from './schema-at.ts';

/** Listed parts; null if they are not known. */
export interface ListedOutput {
  readonly operations: readonly ListedOperation[] | null;
  readonly extensions: ListedExtensions | null;
}

/**
 * Nothing is known of the file of a schema, and where the generated files are not there, or not under version control.
 */
export async function outputAt(name: string, project: Project): Promise<ListedOutput> {
  const isHere = name === workingTree || name === liveDatabase;
  if (!isHere && isSchemaFile(name)) return { operations: null, extensions: null };
  const output = relative(project.folder, project.output).split(sep).join('/');
  const read = (file: string): Promise<string | null> =>
    isHere
      ? readFile(join(project.output, file), 'utf8').catch(() => null)
      : readRevisionFile(name, `${output}/${file}`, project).catch(() => null);
  const manifest = await read('manifest.json');
  const [operations, extensions] = [await read('graphql/operations.json'), await read(listedFile)];
  // Before they were listed, extensions left nothing but code.
  const unlisted = manifest === null || manifest.includes('"extensions.ts"');
  return {
    operations: operations === null ? (manifest === null ? null : []) : JSON.parse(operations),
    extensions: extensions === null ? (unlisted ? null : { routes: [], hooks: [] }) : JSON.parse(extensions),
  };
}
