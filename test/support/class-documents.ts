/** Documents of access classes, out of the generated files of a project. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { classesOf, classFiles, jsonOfClass, sdlOfClass } from '@tablewright/runtime/language';

/** The text of the document of an access class. `folder` is that of the project. */
export async function readClassDocument(
  folder: string,
  kind: keyof typeof classFiles,
  accessClass: string,
): Promise<string> {
  const file = await readFile(join(folder, 'generated', classFiles[kind]), 'utf8');
  return kind === 'graphql' ? sdlOfClass(file, accessClass) : jsonOfClass(file, accessClass);
}

/** The names of the access classes of a project, that of administrators first. */
export async function readClasses(folder: string): Promise<readonly string[]> {
  return classesOf(await readFile(join(folder, 'generated', classFiles.openapi), 'utf8'), '//');
}
