/** Roles of PostgreSQL that tests connect as; they are of the server, so each test file has its own. */
import { randomBytes } from 'node:crypto';
import { type TestDatabase, withClient } from './database.ts';

/** Makes a role that may log in, runs SQL as the superuser, and gives the URL of the database for that role. */
export async function urlOfRole(
  { url }: Pick<TestDatabase, 'url'>,
  name: string,
  sql: (role: string) => string = () => '',
  attributes = '',
): Promise<string> {
  const role = `${name}_${randomBytes(4).toString('hex')}`;
  await withClient(url, async (client) => {
    await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'of_tests' ${attributes}`);
    await client.query(sql(role));
  });
  return Object.assign(new URL(url), { username: role, password: 'of_tests' }).href;
}
