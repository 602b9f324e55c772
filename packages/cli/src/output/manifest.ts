/** `manifest.json` of the generated files: the versions that made them, and the digest of each. */
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { printJson } from '@tablewright/compiler/files';
import type { Diagnostic } from '@tablewright/introspect';
import type { JsonValue } from '@tablewright/runtime/language';
import { once } from '@tablewright/runtime/language';
import { digestOf, digestOfBytes, eachOf, isMissing, type OutputFile, readText, sizeOf } from './output-file.ts';

type JsonObject = Readonly<Record<string, JsonValue>>;

/** The file, below the folder of the generated files. */
export const manifestFile = 'manifest.json';

interface Manifest {
  /** The contract that the files were made for; 0 where none is named. */
  readonly contract: number;
  /** Digests of the files by their paths, which are separated by `/`. */
  readonly digests: ReadonlyMap<string, string>;
  /** Digests of the sources that the files were compiled from. */
  readonly sources: Readonly<Record<string, string>>;
}

/** Reads the manifest of a folder; null where there is none, or none that can be read. */
export async function readManifest(folder: string): Promise<Manifest | null> {
  const value = await readObject(folder);
  if (value === null) return null;
  const { contract, files, sources } = value;
  return {
    contract: typeof contract === 'number' ? contract : 0,
    digests: new Map(textsIn(files)),
    sources: Object.fromEntries(textsIn(sources)),
  };
}

function textsIn(value: JsonValue | undefined): Digests {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return entries.flatMap(([name, text]) => (typeof text === 'string' ? [[name, text] as const] : []));
}

async function readObject(folder: string): Promise<JsonObject | null> {
  const text = await readText(join(folder, manifestFile));
  try {
    const value: JsonObject | null = text === null ? null : JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Adds the digests of all other files to the manifest among them, when it is written: a server needs none of them. */
export function sealManifest(files: readonly OutputFile[]): readonly OutputFile[] {
  const others = files.filter(({ path }) => path !== manifestFile);
  return files.map((file) => (file.path === manifestFile ? sealed(file, others) : file));
}

function sealed({ path, contents }: OutputFile, others: readonly OutputFile[]): OutputFile {
  const text = once(() => print(JSON.parse(contents), digestsOf(others)));
  return {
    path,
    get contents() {
      return text();
    },
  };
}

/** The manifest of a folder with files of one part of it in the place of those it had. */
export async function resealManifest(
  folder: string,
  files: readonly OutputFile[],
  covers: (path: string) => boolean,
): Promise<OutputFile> {
  const digests = (await readManifest(folder))?.digests ?? new Map<string, string>();
  const kept = [...digests].filter(([path]) => !covers(path));
  return {
    path: manifestFile,
    contents: print((await readObject(folder)) ?? {}, [...kept, ...digestsOf(files)]),
  };
}

type Digests = readonly (readonly [path: string, digest: string])[];

function digestsOf(files: readonly OutputFile[]): Digests {
  return files.map((file) => [file.path, digestOf(file)]);
}

function print(manifest: JsonObject, digests: Digests): string {
  const sorted = digests.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return printJson({ ...manifest, files: Object.fromEntries(sorted) });
}

/** Thrown before any file is touched. */
export class EditedFilesError extends Error {
  override readonly name = 'EditedFilesError';
  /** One for each file; `folder` is that of the generated files as people write it. */
  readonly diagnosticsOf: (folder: string) => readonly Diagnostic[];

  /** `edited` are files of the last run, `foreign` those that no run has written. */
  constructor(edited: readonly string[], foreign: readonly string[]) {
    super(`These files were edited, or never generated: ${[...edited, ...foreign].join(', ')}.`);
    this.diagnosticsOf = (folder) => [
      ...edited.map((path) => diagnosticOf(posix.join(folder, path))),
      ...foreign.map((path) => foreignOf(posix.join(folder, path))),
    ];
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

function foreignOf(path: string): Diagnostic {
  return {
    ...diagnosticOf(path),
    code: 'foreign-output',
    message: 'A file of this name would be generated, and the one that is there was not.',
    hint: 'Name a folder of its own as "output" in platform.config.ts, or run `platform generate --force` to overwrite the file.',
  };
}

/** Rejects if one of the files below a folder was edited since the last run, or written by none. */
export async function refuseEdited(folder: string, paths: readonly string[]): Promise<void> {
  const manifest = await readManifest(folder);
  const edited = await selectEdited(folder, paths, manifest);
  const foreign = await selectForeign(folder, paths, manifest);
  if (edited.length + foreign.length === 0) return;
  await sleep(comparedAgainMs);
  if (isDeepStrictEqual(await readManifest(folder), manifest)) throw new EditedFilesError(edited, foreign);
  // Another command has replaced files and manifest meanwhile.
  return refuseEdited(folder, paths);
}

/** Files that no run has written. None are known where the manifest is damaged, as by a merge. */
async function selectForeign(
  folder: string,
  paths: readonly string[],
  manifest: Manifest | null,
): Promise<readonly string[]> {
  if (manifest === null && (await sizeOf(join(folder, manifestFile))) !== null) return [];
  const unlisted = paths.filter((path) => path !== manifestFile && manifest?.digests.has(path) !== true);
  const foreign = await eachOf(unlisted, (path) => isForeign(join(folder, path)));
  return unlisted.filter((_, index) => foreign[index] === true).toSorted();
}

/** False for a file that begins as generated ones do: its manifest was lost, or never written. */
async function isForeign(path: string): Promise<boolean> {
  const text = await readText(path);
  return text !== null && !/^\S+ Generated by platform generate/.test(text);
}

/** Milliseconds after which files are compared once more: another command may be writing them. */
const comparedAgainMs = 500;

/** Warnings about code of a server, below a folder, that is not what the last run has left there. */
export async function warnOfEdited(output: string, folder: string): Promise<readonly Diagnostic[]> {
  if ((await selectServed(output)).length === 0) return [];
  await sleep(comparedAgainMs);
  return (await selectServed(output)).map((path) => ({
    ...diagnosticOf(`${folder}/${path}`),
    severity: 'warning',
    message: 'The file is not the one that was generated.',
    hint: 'Run `platform generate --force`.',
  }));
}

async function selectServed(output: string): Promise<readonly string[]> {
  const manifest = await readManifest(output);
  const isServed = (path: string): boolean => path.endsWith('.js') && !path.startsWith('client/');
  return selectEdited(output, [...(manifest?.digests.keys() ?? [])].filter(isServed), manifest);
}

async function selectEdited(
  folder: string,
  paths: readonly string[],
  manifest: Manifest | null,
): Promise<readonly string[]> {
  if (manifest === null) return [];
  const edited = await eachOf(paths, (path) => isEdited(join(folder, path), manifest.digests.get(path)));
  return paths.filter((_, index) => edited[index] === true).toSorted();
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
