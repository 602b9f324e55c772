/** Every command of docs/resources.md. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { adminToken } from '../support/platform.ts';
import { serveProject } from '../support/project.ts';
import { expectPage } from '../support/shell.ts';

it('every command of the page answers what it says', async () => {
  const project = await serveProject({
    system: true,
    sql: `CREATE TABLE docs (id integer PRIMARY KEY, title text, position integer);
      INSERT INTO docs VALUES (1, 'One', 1), (2, 'Two', 2), (3, 'Three', 3);`,
    config: "{ collections: { docs: { sort: 'position' } } }",
  });
  try {
    const page = readFileSync(new URL('../../docs/resources.md', import.meta.url), 'utf8');
    const { folder, url } = project;
    await expectPage(page, { folder, url, variables: { ADMIN_TOKEN: adminToken } });
  } finally {
    expect(await project.close()).toBeUndefined();
  }
});
