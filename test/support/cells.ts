/** The magazine with cells that only some rows show, a secret field, and a view of many rows. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestDatabase, withClient } from './database.ts';
import { type Magazine, startMagazine } from './magazine.ts';

/** Archived articles are readable, but for the public their views and ratings are not. */
const permissions = `permissions:
  public:
    articles:
      read:
        - { fields: [id, title, status, views, rating, author_id, category_id], filter: { status: { _eq: published } } }
        - { fields: [id, title, status], filter: { status: { _eq: archived } } }
    authors: { read: { fields: [id, name, email] } }
`;

/** Rows of the view `plenty`. */
export const plenty = 1_000_000;

const view = `CREATE VIEW plenty AS SELECT g AS id, repeat('x', 240) AS text, g * 1.5 AS amount
  FROM generate_series(1, ${plenty}) g`;

/** Starts it; `authors.email` is secret, and public reads as much as the rules above say. */
export function startCells(alone = false): Promise<Magazine> {
  const prepare = async (folder: string, database: TestDatabase): Promise<void> => {
    await writeFile(join(folder, 'permissions.yaml'), permissions);
    const file = join(folder, 'platform.config.ts');
    const config = await readFile(file, 'utf8');
    const secret = "authors: { fields: { email: { type: 'secret' } } },";
    await writeFile(file, config.replace('collections: {', `collections: {\n    ${secret}`));
    await withClient(database.url, (client) => client.query(view));
  };
  // A large file is one statement, which takes long on a busy machine.
  return startMagazine({ DATABASE_STATEMENT_TIMEOUT: '5m' }, prepare, alone);
}
