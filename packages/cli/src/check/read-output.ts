/** Reads generated files back as data. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AccessClass, Fingerprint } from '@tablewright/runtime';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';

/** Parts of the generated files that can be compared by name. */
export interface ReadOutput {
  readonly fingerprint: Fingerprint;
  readonly access: readonly AccessClass[];
}

/** Imports fingerprint and access classes; null where nothing is generated. Rejects with advice when they cannot be loaded. */
export async function readOutput(folder: string): Promise<ReadOutput | null> {
  const path = join(folder, 'fingerprint.js');
  if (!existsSync(path)) return null;
  try {
    const module: { readonly fingerprint: Fingerprint } = await import(pathToFileURL(path).href);
    const names = (await readdir(join(folder, 'access'))).filter((name) => name.endsWith('.js')).sort();
    const modules = await Promise.all(
      names.map(async (name): Promise<Readonly<Record<string, unknown>>> => {
        return import(pathToFileURL(join(folder, 'access', name)).href);
      }),
    );
    const access = modules.flatMap((value) => Object.values(value)).filter(isAccess);
    return { fingerprint: module.fingerprint, access };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      exitCodes.invalid,
      `The generated code cannot be loaded: ${reason}`,
      'Run `platform generate` again.',
    );
  }
}

function isAccess(value: unknown): value is AccessClass {
  return typeof value === 'object' && value !== null && 'roles' in value && 'collections' in value;
}
