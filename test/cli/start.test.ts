import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { createMagazineDatabase } from '../support/magazine.ts';
import { createProject, runPlatform } from '../support/platform.ts';

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  database = await createMagazineDatabase();
  project = await createProject();
});
afterAll(() => Promise.all([database?.drop(), project?.remove()]));

it('ends with its diagnostics when what it should serve cannot be compiled', async () => {
  await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { nowhere: { read: true } } }\n');
  const result = await runPlatform(['start', '--generate', '--project', project.folder], {
    DATABASE_URL: database.url,
  });
  expect(result.code).toBe(1);
  expect(result.stderr).toContain('The collection "nowhere" does not exist.');
});

it('ends when a variable is wrong, also with an embedded database that was opened for compiling', async () => {
  const empty = await createProject();
  const result = await runPlatform(['start', '--generate', '--project', empty.folder], { AUTH_PROVIDERS: 'corp' });
  await empty.remove();
  expect(result.code).toBe(4);
  expect(result.stderr).toContain('AUTH_CORP_DRIVER is required.');
});
