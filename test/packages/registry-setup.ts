/**
 * The registry of a run, on 127.0.0.1: our packages, which the first test that needs them publishes, and all others from the
 * registry that npm is configured with, each of which it asks for once.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { makeDataFolder, removeDataFolder } from '../support/data-folder.ts';
import { root } from './tarballs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the registry, with a slash at the end, and its folder. */
    registry: { readonly url: string; readonly folder: string };
  }
}

/** Starts the registry, gives its address to the tests, and returns what stops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = realpathSync(makeDataFolder('registry'));
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify(configOf(folder)));
  const child = spawn(process.execPath, [join(import.meta.dirname, 'registry-process.ts'), config], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  const [port] = await once(child.stdout, 'data');
  project.provide('registry', { url: `http://127.0.0.1:${String(port).trim()}/`, folder });
  return async () => {
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
    removeDataFolder(folder);
  };
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
