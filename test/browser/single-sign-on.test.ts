/** The way to an identity provider and back, from page to page. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Browser,
  barriersOf,
  browserVersion,
  expectCalm,
  patience,
  startBrowser,
  type Visitor,
  withoutBrowser,
} from '../support/browser.ts';
import { publicUrl } from '../support/identity-provider.ts';
import { type MailServer, startMailServer, tokenIn } from '../support/mail.ts';
import { type SsoProject, serveSso } from '../support/single-sign-on.ts';

describe.skipIf(browserVersion === undefined)(`single sign-on${withoutBrowser}`, { timeout: 4 * patience }, () => {
  let sso: SsoProject;
  let mail: MailServer;
  let browser: Browser;
  let visitor: Visitor;
  beforeAll(async () => {
    const back = `${publicUrl}/admin/two-factor`;
    mail = await startMailServer();
    sso = await serveSso({
      AUTH_CORP_LABEL: '<b>Work</b>',
      AUTH_CORP_REDIRECT_ALLOW_LIST: back,
      AUTH_CLOSED_REDIRECT_ALLOW_LIST: back,
      AUTH_DISABLE_DEFAULT: 'true',
      EMAIL_SMTP_HOST: '127.0.0.1',
      EMAIL_SMTP_PORT: String(mail.port),
    });
    browser = await startBrowser({ [new URL(publicUrl).host]: new URL(sso.project.server.url).host });
  });
  afterAll(async () => {
    await browser?.close();
    await sso?.close();
    await mail?.close();
  });
  beforeEach(async () => {
    visitor = await browser.visit(publicUrl, {}, [sso.provider.issuer]);
    await visitor.page.goto(`${publicUrl}/admin/login`);
  });
  afterEach(async () => {
    await visitor.leave();
    expectCalm(visitor);
  });

  async function signInThere(login: string): Promise<void> {
    const { page } = visitor;
    await page.locator('[name="login"]').fill(login);
    await page.locator('[name="password"]').fill('x');
    await page.locator('[type="submit"]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  it('is offered under the names of the providers, as text, and where nobody has a password alone', async () => {
    const links = visitor.page.locator('[data-providers] a');
    await links.first().waitFor();
    expect(await links.allTextContents()).toEqual(['<b>Work</b>', 'plain', 'closed']);
    expect(await visitor.page.locator('input:visible').count()).toBe(0);
    expect(await barriersOf(visitor.page)).toEqual([]);
  });

  it('leads back to the own account', async () => {
    const login = sso.newcomer();
    await visitor.page.getByRole('link', { name: '<b>Work</b>' }).click();
    await signInThere(login);
    await visitor.page.getByText(`Signed in as ${login}@example.com`).waitFor();
    expect(visitor.page.url()).toBe(`${publicUrl}/admin/two-factor`);
    await visitor.page.getByRole('button', { name: 'Sign out' }).click();
    await visitor.page.waitForURL(`${publicUrl}/admin/login`);
  });

  it('is how an invitation is accepted, without a password', async () => {
    const { page } = visitor;
    const email = `${sso.newcomer()}@example.org`;
    const body = { email, role: sso.member };
    expect((await sso.project.server.admin('/users/invite', { method: 'POST', body })).status).toBe(204);
    const [sent] = (await mail.to(email)).slice(-1);
    await page.goto(`${publicUrl}/admin/accept-invite?token=${tokenIn(sent?.text)}`);
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    expect(await page.locator('input:visible').count()).toBe(0);
    await page.getByRole('link', { name: 'closed' }).click();
    await signInThere(sso.newcomer());
    await page.getByText(`Signed in as ${email}`).waitFor();
  });

  it('says why it did not work', async () => {
    await visitor.page.getByRole('link', { name: 'closed' }).click();
    await signInThere(sso.newcomer());
    await visitor.page.getByText('You could not be signed in with that account.').waitFor();
    expect(visitor.page.url()).toBe(`${publicUrl}/admin/login`);
  });
});
