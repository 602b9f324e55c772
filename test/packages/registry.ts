/** A throwaway registry on 127.0.0.1: our packages from tarballs, all others from the registry that npm is configured with. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packPackages, root } from './tarballs.ts';

/** A registry that answers. */
export interface Registry {
  /** Its address, with a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the registry in a folder of its own, and publishes every package as `npm publish` does. */
export async function startRegistry(folder: string): Promise<Registry> {
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify(configOf(folder)));
  const child = spawn(process.execPath, [join(import.meta.dirname, 'registry-process.ts'), config], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  const [port] = await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${String(port).trim()}/`;
  for (const { path } of packPackages()) publish(path, url, folder);
  return {
    url,
    close: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}

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

function configOf(folder: string): unknown {
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { cwd: root, encoding: 'utf8' }).trim();
  const ours = { access: '$all', publish: '$all' };
  return {
    storage: join(folder, 'storage'),
    uplinks: { others: { url: upstream, maxage: '60m', timeout: '60s', max_fails: 20 } },
    packages: {
      tablewright: ours,
      'create-tablewright': ours,
      '@tablewright/*': ours,
      '**': { access: '$all', proxy: 'others' },
    },
    auth: { htpasswd: { file: join(folder, 'htpasswd'), max_users: -1 } },
    web: { enable: false },
    max_body_size: '50mb',
    log: { type: 'stderr', format: 'pretty', level: 'error' },
  };
}
