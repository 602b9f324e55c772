/** Servers over databases of MariaDB and MySQL, one for a suite. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startHosted } from './host.ts';
import { createMysqlDatabase } from './mariadb.ts';
import { createProject, type Platform } from './platform.ts';
import type { servers } from './servers.ts';

/** Serves a project with these files over a database of SQL, while the tests of the suite run that calls it. */
export function serveSuite(
  start: (typeof servers)[number]['start'],
  sql: string,
  files: Readonly<Record<string, string>> = {},
): () => Platform {
  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    const url = await createMysqlDatabase(await start(), sql);
    project = await createProject();
    for (const [name, text] of Object.entries(files)) await writeFile(join(project.folder, name), text);
    platform = await startHosted(project.folder, url);
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
  });
  return () => platform;
}
