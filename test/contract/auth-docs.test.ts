/** Every command of docs/auth.md and docs/accounts.md. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, it } from 'vitest';
import { type AccountsProject, serveAccounts } from '../support/accounts.ts';
import { administrator, adminToken } from '../support/platform.ts';
import { expectPage } from '../support/shell.ts';

const read = (page: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), 'utf8');

let project: AccountsProject;
beforeAll(async () => {
  project = await serveAccounts({ sql: 'CREATE TABLE docs (id integer PRIMARY KEY)', permissions: 'permissions: {}' });
  await project.addUser(null, { token: 'the-token-of-a-program' });
});
afterAll(() => project?.close());

/** Authenticators are told the time, where not every machine has the command. */
const otp = fileURLToPath(new URL('../support/otp.ts', import.meta.url));
const oathtool = `oathtool() {
  '${process.execPath}' -e 'import("${otp}").then((own) => console.log(own.otpOf(process.argv[1], Number(process.argv[2]))))' \
    "\${@: -1}" "$(case "$*" in *"+30 seconds"*) echo 1;; *) echo 0;; esac)"
}`;

it.each([
  ['auth.md', ''],
  ['accounts.md', oathtool],
])('every command of %s answers what the page says', async (page, prelude) => {
  const variables = {
    ADMIN_PASSWORD: administrator.password,
    ADMIN_TOKEN: adminToken,
    STATIC_TOKEN: 'the%2Dtoken-of-a-program',
  };
  await expectPage(read(page), { folder: project.folder, url: project.server.url, variables, prelude });
});
