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
