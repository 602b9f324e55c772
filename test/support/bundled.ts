/** How processes of a run use its bundle: see bundle.ts. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Variable that names the folder of the bundle. */
export const bundleVariable = 'TEST_BUNDLE';

/** Arguments by which Node takes the packages from the bundle of this run; none outside a run. */
export function bundled(): readonly string[] {
  const folder = process.env[bundleVariable];
  return folder === undefined ? [] : ['--import', pathToFileURL(join(folder, 'preload.mjs')).href];
}

/**
 * The same for a command over an embedded database, if the URL names no other: WebAssembly is compiled once, as no test of
 * a command asks for so much that a second, better compilation takes less than it saves.
 */
export function bundledFor(databaseUrl: string | undefined): readonly string[] {
  const folder = process.env[bundleVariable];
  if (folder === undefined || (databaseUrl !== undefined && databaseUrl !== '')) return bundled();
  return [...bundled(), '--import', pathToFileURL(join(folder, 'compile-once.mjs')).href];
}

/** Variables of servers and commands where nothing else is said: passwords take a fortieth of the processor's time. */
export const cheapPasswords = { TEST_PASSWORD_MEMORY: '1024' } as const;

/** The same where it matters how long passwords take, or how their hashes look. */
export const usualPasswords = { TEST_PASSWORD_MEMORY: '19456' } as const;
