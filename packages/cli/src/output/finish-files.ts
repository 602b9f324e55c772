/** Adds to compiled files what needs more than the compiler: statements of documents, types of OpenAPI, the manifest. */
import type { GeneratedFile } from '@tablewright/compiler/files';
import type { Dialect } from '@tablewright/runtime/language';
import type { Project } from '../project/project.ts';
import type { Progress } from '../terminal/progress.ts';
import { sealManifest } from './manifest.ts';
import type { OutputFile } from './output-file.ts';
import { planDocuments } from './plan-documents.ts';
import { typeDocuments } from './type-documents.ts';

/** All files of the output folder, from those that the compiler made for a dialect. */
export async function finishFiles(
  project: Project,
  dialect: Dialect,
  compiled: readonly GeneratedFile[],
  progress: Pick<Progress, 'phase'>,
): Promise<readonly OutputFile[]> {
  const files = [...compiled, ...(await planDocuments(dialect, project.output, compiled))];
  const isTyped = project.config.openapiTypes === true;
  return sealManifest(isTyped ? await progress.phase('type', () => typeDocuments(files)) : files);
}
