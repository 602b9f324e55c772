import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { defaultDialect } from '@tablewright/runtime/language';
import { CommandError, exitCodes } from '../errors/failures.ts';
import type { Project } from '../project/project.ts';
import { loadProject } from '../project/project.ts';
import { ownVariable } from '../terminal/own-variable.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Source } from './source.ts';

const repository = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..');
const magazine = join(repository, 'fixtures', 'magazine');

/** The magazine of this repository. With DATABASE_URL: a project of that database's own under `.platform/databases`. */
export async function sampleProject(): Promise<Project> {
  const state = join(repository, '.platform');
  const url = ownVariable('DATABASE_URL');
  if (url !== null) {
    const folder = join(state, 'databases', databaseFolder(url));
    await mkdir(folder, { recursive: true });
    return loadProject(folder);
  }
  if (!existsSync(magazine)) {
    throw new CommandError(
      exitCodes.usage,
      'The sample is part of the repository and not of the published package.',
      'Run `platform init` in a folder of your own.',
    );
  }
  return loadProject(magazine, state);
}

/** `localhost-5432-shop`: databases must not share permissions, and names compiled before belong to one of them. */
function databaseFolder(url: string): string {
  const { hostname, port, pathname } = URL.canParse(url) ? new URL(url) : new URL('none://unknown');
  const name = [hostname, port, pathname.slice(1)].filter((part) => part !== '').join('-');
  return name === '' ? 'local' : name.replaceAll(/[^\w.-]/g, '_');
}

/** Loads the magazine's schema and data into an embedded database that is still empty. */
export async function loadSample(source: Source, progress: Progress): Promise<void> {
  const [row] = await source.run(
    "SELECT pg_catalog.count(*)::text FROM pg_catalog.pg_class WHERE relnamespace = 'public'::regnamespace",
    [],
  );
  if (row?.[0] !== '0') return;
  await progress.phase('load sample', async (detail) => {
    const schema = await readFile(join(magazine, `database.${defaultDialect}.sql`), 'utf8');
    const data: { readonly dataSql: (factor: number) => Iterable<string> } = await import(
      pathToFileURL(join(magazine, 'data.ts')).href
    );
    // One transaction: a start that is interrupted here leaves nothing half loaded.
    await source.script(`BEGIN;\n${schema}`);
    let statements = 0;
    for (const statement of data.dataSql(1)) {
      await source.script(statement);
      statements += 1;
      detail(`${statements} statements`);
    }
    await source.script('COMMIT');
  });
}
