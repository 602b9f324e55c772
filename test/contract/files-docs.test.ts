/** Every command of docs/files.md. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { adminToken } from '../support/platform.ts';
import { serveProject } from '../support/project.ts';
import { expectPage } from '../support/shell.ts';

it('every command of the page answers what it says', async () => {
  const project = await serveProject({
    system: true,
    sql: `CREATE TABLE docs (id integer PRIMARY KEY, title text);
      INSERT INTO docs VALUES (1, 'One'), (2, 'Two');`,
  });
  try {
    const page = readFileSync(new URL('../../docs/files.md', import.meta.url), 'utf8');
    const { folder, url } = project;
    await expectPage(page, { folder, url, variables: { ADMIN_TOKEN: adminToken } });
    expect(readFileSync(`${folder}/last-line.csv`, 'utf8')).toBe('2,Bob\n');
  } finally {
    expect(await project.close()).toBeUndefined();
  }
});
