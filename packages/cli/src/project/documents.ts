import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { DocumentSource } from '@tablewright/compiler';
import type { Project } from './project.ts';

/** Folder of the GraphQL documents that a project's roles ask; below it one folder for each role. */
const folderName = 'documents';

/** The GraphQL documents of a project, by path. */
export async function loadDocuments({ folder }: Project): Promise<readonly DocumentSource[]> {
  const path = join(folder, folderName);
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && /\.(graphql|gql)$/.test(entry.name));
  const names = files.map(({ parentPath, name }) => relative(path, join(parentPath, name)));
  return Promise.all(
    names.sort().map(async (name) => ({
      path: name.split(sep).join('/'),
      text: await readFile(join(path, name), 'utf8'),
    })),
  );
}
