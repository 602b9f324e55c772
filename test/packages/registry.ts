/** The registry of this run, which registry-setup.ts starts, with our packages in it. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { doOnce, packPackages } from './tarballs.ts';

/** Publishes every package, unless another file of the run has, and gives the address of the registry. */
export function publishPackages(): string {
  const { url, folder } = inject('registry');
  const tarballs = packPackages();
  doOnce(join(folder, 'published'), () => {
    for (const { path } of tarballs) publish(path, url, folder);
  });
  return url;
}

/** As `npm publish` does. */
function publish(tarball: string, url: string, folder: string): void {
  const settings = join(folder, '.npmrc');
  // npm demands a token before it asks; this registry takes any.
  writeFileSync(settings, `registry=${url}\n${url.slice('http:'.length)}:_authToken=any\n`);
  // Provenance is a matter of the forge that publishes.
  const args = ['publish', tarball, '--provenance=false', '--loglevel=error', '--userconfig', settings];
  execFileSync('npm', args, {
    cwd: folder,
    env: { ...process.env, npm_config_cache: join(folder, 'cache') },
    stdio: 'pipe',
  });
}
