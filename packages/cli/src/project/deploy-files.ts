/** The files by which a project is deployed, as `platform init --deploy` lays them down. */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import type { Progress } from '../terminal/progress.ts';
import { templatesFolder } from './templates.ts';

/** Files of `templates/deploy` by the tool that deploys with them. */
const files: ReadonlyMap<string, readonly string[]> = new Map([
  ['docker', ['Dockerfile', '.dockerignore', 'compose.yaml']],
  ['systemd', ['tablewright.service']],
  ['grafana', ['grafana/tablewright.json', 'grafana/alerts.yaml']],
]);

/** Refuses an unknown deployment tool. */
export function checkDeployment(kind: string | undefined): void {
  if (kind === undefined || files.has(kind)) return;
  const kinds = new Intl.ListFormat('en', { type: 'disjunction' }).format(files.keys());
  throw new CommandError(exitCodes.usage, `--deploy takes ${kinds}, not "${kind}".`);
}

/** Copies the files of a kind into a project; existing files stay. */
export async function copyDeployment(folder: string, kind: string, progress: Progress): Promise<void> {
  for (const name of files.get(kind) ?? []) {
    const path = join(folder, name);
    const present = existsSync(path);
    await mkdir(dirname(path), { recursive: true });
    if (!present) await copyFile(join(templatesFolder(), 'deploy', name), path);
    progress.event('file', { file: name, written: !present });
    progress.print(present ? `  ${name} is there already: left as it is` : `  ${name} written`);
  }
  if (kind === 'docker') await makeSecretsFolder(join(folder, 'secrets'));
}

/** A folder that only its owner can read, and that version control leaves out. */
async function makeSecretsFolder(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folder, '.gitignore'), '*\n');
}
