/** Every command of docs/single-sign-on.md. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, it } from 'vitest';
import { publicUrl } from '../support/identity-provider.ts';
import { adminToken } from '../support/platform.ts';
import { expectPage } from '../support/shell.ts';
import { type SsoProject, serveSso } from '../support/single-sign-on.ts';

let sso: SsoProject;
beforeAll(async () => {
  sso = await serveSso({ AUTH_PROVIDERS: 'corp', AUTH_CORP_ICON: '' });
});
afterAll(() => sso?.close());

it('every command answers what the page says', async () => {
  const { folder, server } = sso.project;
  const support = fileURLToPath(new URL('../support/identity-provider.ts', import.meta.url));
  const prelude = `browser() {
  '${process.execPath}' -e 'import("${support}")
    .then((own) => own.openBrowser().signIn(process.argv[1], "eve"))
    .then((back) => console.log(back.href.replace("${publicUrl}", "${server.url}")))' "$1"
}`;
  const page = readFileSync(fileURLToPath(new URL('../../docs/single-sign-on.md', import.meta.url)), 'utf8');
  await expectPage(page, { folder, url: server.url, variables: { ADMIN_TOKEN: adminToken }, prelude });
});
