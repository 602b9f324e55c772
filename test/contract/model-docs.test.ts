/** Every command of docs/model.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createDatabase, withClient } from '../support/database.ts';
import { generateHosted } from '../support/host.ts';
import { adminToken, createProject, startUnchecked } from '../support/platform.ts';
import { expectPage } from '../support/shell.ts';
import { installSystem } from '../support/system.ts';

it('every command of the page answers what it says', async () => {
  const database = await createDatabase();
  const project = await createProject();
  await installSystem(database.url);
  await withClient(database.url, (client) =>
    client.query('CREATE TABLE shelves (id integer PRIMARY KEY); INSERT INTO shelves VALUES (1)'),
  );
  await generateHosted(project.folder, database.url);
  const server = await startUnchecked(project.folder, database.url, {}, []);
  try {
    const page = readFileSync(new URL('../../docs/model.md', import.meta.url), 'utf8');
    const { folder } = project;
    await expectPage(page, { folder, url: server.url, variables: { ADMIN_TOKEN: adminToken } });
    expect(readdirSync(join(folder, 'migrations')).sort()).toEqual([
      '0001-create-books.sql',
      '0002-relate-books-shelf.sql',
      '0003-drop-books.sql',
      '0004-add-fields-to-shelves.sql',
    ]);
  } finally {
    await server.stop();
    await project.remove();
    await database.drop();
  }
});
