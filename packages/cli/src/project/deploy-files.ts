/** The files by which a project is deployed, as `platform init --deploy` lays them down. */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type ProjectFile, projectFiles } from 'create-tablewright';
import { CommandError, exitCodes } from '../errors/failures.ts';
import type { Progress } from '../terminal/progress.ts';
import { templatesFolder } from './templates.ts';

/** Files of `templates/deploy` by the tool that deploys with them. */
const files: ReadonlyMap<string, readonly string[]> = new Map([
  ['docker', ['Dockerfile', '.dockerignore', 'compose.yaml']],
  ['systemd', ['tablewright.service']],
  ['grafana', ['grafana/tablewright.json', 'grafana/alerts.yaml']],
]);

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

interface NewProject {
  readonly folder: string;
  /** Lines of the argument of `defineConfig` that come before those of the template. */
  readonly config: string;
  /** True if it begins with tables of its own, in an embedded database that is not made yet. */
  readonly hasTables: boolean;
}

/** The files by the names that they have in this folder. Those that are there already are for others to leave alone. */
export async function filesFor({ folder, config, hasTables }: NewProject): Promise<readonly ProjectFile[]> {
  const files = await projectFiles({ template: 'api', name: packageName(basename(folder)), hasTables });
  const configName = (await isModulePackage(folder)) ? 'platform.config.ts' : 'platform.config.mts';
  return files
    .filter(({ name }) => name !== 'README.md')
    .map((file) =>
      file.name === 'platform.config.ts'
        ? { name: configName, text: file.text.replace('defineConfig({\n', `defineConfig({\n${config}`) }
        : file,
    );
}

/** A name that npm takes, made of that of a folder. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' ? 'api' : name;
}

/** True if `.ts` files of a folder are modules: its package says so, or there is none yet and the new one will. */
async function isModulePackage(folder: string): Promise<boolean> {
  const path = join(folder, 'package.json');
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return true;
  try {
    const manifest: { readonly type?: unknown } | null = JSON.parse(text);
    return manifest?.type === 'module';
  } catch {
    throw new CommandError(exitCodes.usage, `"${path}" is not JSON.`, 'Correct it, and run the command again.');
  }
}
