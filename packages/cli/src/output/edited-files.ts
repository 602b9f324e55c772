/** Generated files that were edited by hand: they are not overwritten, because nothing could bring the edits back. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnostic } from '@tablewright/introspect';
import type { Manifest } from './manifest.ts';
import { digestOfBytes, eachOf, isMissing } from './output-file.ts';

/** Thrown before any file is touched. */
export class EditedFilesError extends Error {
  override readonly name = 'EditedFilesError';
  /** One for each file; `folder` is that of the generated files as people write it. */
  readonly diagnosticsOf: (folder: string) => readonly Diagnostic[];

  constructor(paths: readonly string[]) {
    super(`These generated files were edited: ${paths.join(', ')}.`);
    this.diagnosticsOf = (folder) => paths.map((path) => diagnosticOf(`${folder}/${path}`));
  }
}

function diagnosticOf(path: string): Diagnostic {
  return {
    code: 'modified-output',
    severity: 'error',
    place: path,
    message: 'The file was edited after it was generated.',
    hint: 'Undo the edit, or run `platform generate --force` to overwrite it.',
  };
}

/** Rejects if one of the files, by their paths below a folder, differs from its digest in the manifest. */
export async function refuseEdited(folder: string, paths: readonly string[], manifest: Manifest | null): Promise<void> {
  if (manifest === null) return;
  const edited = await eachOf(paths, (path) => isEdited(join(folder, path), manifest.digests.get(path)));
  const found = paths.filter((_, index) => edited[index] === true);
  if (found.length > 0) throw new EditedFilesError(found.toSorted());
}

async function isEdited(path: string, digest: string | undefined): Promise<boolean> {
  if (digest === undefined) return false;
  const bytes = await readFile(path).catch((error: unknown) => {
    // A folder in the place of a file is reported, with its path, when the file is moved in.
    if (isMissing(error) || (error instanceof Error && 'code' in error && error.code === 'EISDIR')) return null;
    throw error;
  });
  if (bytes === null || digestOfBytes([bytes]) === digest) return false;
  // Version control may have checked it out with the line breaks of Windows, which is no edit.
  const plain = Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  return digestOfBytes([plain]) !== digest;
}
