import { join } from 'node:path';
import type { CompiledApi } from '@tablewright/runtime';
import { classFiles, jsonOfClass, sdlOfClass } from '@tablewright/runtime/language';
import type { Compilation } from '../compile/compile-project.ts';
import { exitCodes, ownCodeError } from '../errors/failures.ts';
import { freshUrl } from '../modules/import-config.ts';
import type { Project } from '../project/project.ts';
import { linkModel } from '../recompile/link-model.ts';

/**
 * Makes the API of a compilation without loading its files, which a process could load only once. Only the project's own
 * code is loaded, under the number of the change; `extensions.js` among the files must have been written.
 */
export async function linkCompilation(
  project: Project,
  { files, model, schema }: Compilation,
  change: number,
): Promise<CompiledApi> {
  if (model === null) throw new Error('There is nothing to link.');
  const texts = new Map(files.map((file) => [file.path, file]));
  const textOf = (path: string): string => texts.get(path)?.contents ?? absent(path);
  const extensions = isExtended(files) ? await loadExtensionsOf(project, change) : undefined;
  const linked = {
    dialect: schema.dialect,
    ...(extensions !== undefined && { extensions }),
    ...(texts.has(documentsFile) && { graphqlDocuments: async () => JSON.parse(textOf(documentsFile)) }),
  };
  return linkModel(model, linked, async (kind, accessClass) => {
    const text = textOf(classFiles[kind]);
    return kind === 'graphql' ? sdlOfClass(text, accessClass) : jsonOfClass(text, accessClass);
  });
}

const documentsFile = 'graphql/documents.json';

/** True if the project has code of its own. */
export function isExtended(files: Compilation['files']): boolean {
  return files.some(({ path }) => path === 'extensions.js');
}

async function loadExtensionsOf(project: Project, change: number): Promise<CompiledApi['extensions']> {
  try {
    const module: Pick<CompiledApi, 'extensions'> = await import(
      freshUrl(join(project.output, 'extensions.js'), change)
    );
    return module.extensions;
  } catch (error) {
    const hint = 'The generated files, from which it is loaded, are those of the change already.';
    throw ownCodeError(error, project, exitCodes.start, hint);
  }
}

function absent(path: string): never {
  throw new Error(`"${path}" is not among the compiled files.`);
}
