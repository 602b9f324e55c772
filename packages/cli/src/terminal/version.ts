import { readFileSync } from 'node:fs';

/** Version of the command, from the description of its package. */
export function commandVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}
