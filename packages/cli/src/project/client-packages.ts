/** Names of the client packages of a project. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientPackages } from '@tablewright/compiler/files';
import type { Settings } from './settings.ts';

/** Names as the configuration has them, else after the name in `package.json`; undefined where there is neither. */
export async function clientPackagesOf({
  folder,
  config,
}: Pick<Settings, 'folder' | 'config'>): Promise<ClientPackages | undefined> {
  const { packageName } = config.client ?? {};
  if (packageName !== undefined) return { name: packageName, place: 'platform.config.ts: client.packageName' };
  const project = nameIn(await readFile(join(folder, 'package.json'), 'utf8').catch(() => ''));
  // npm takes capitals in old names only.
  return project === null
    ? undefined
    : { name: `${project.toLowerCase()}-client-{class}`, place: 'package.json: name' };
}

function nameIn(manifest: string): string | null {
  try {
    const value: unknown = JSON.parse(manifest);
    const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : null;
    return typeof name === 'string' && name !== '' ? name : null;
  } catch {
    // A file that is not JSON stops npm, whose message is better.
    return null;
  }
}
