/** What people do on the pages, from the mail on, with a real browser and a real mail server. */
import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts } from '../support/accounts.ts';
import {
  type Browser,
  browserVersion,
  expectCalm,
  patience,
  startBrowser,
  type Visitor,
  withoutBrowser,
} from '../support/browser.ts';
import { withClient } from '../support/database.ts';
import { linkIn, type MailServer, startMailServer } from '../support/mail.ts';
import { otpOf } from '../support/otp.ts';
import { adminToken } from '../support/platform.ts';

describe.skipIf(browserVersion === undefined)(`journeys${withoutBrowser}`, { timeout: 4 * patience }, () => {
  let mail: MailServer;
  let project: AccountsProject;
  let member: string;
  let browser: Browser;
  let visitor: Visitor;
  beforeAll(async () => {
    browser = await startBrowser();
    mail = await startMailServer();
    project = await serveAccounts({
      sql: 'CREATE TABLE docs (id integer PRIMARY KEY)',
      permissions: `
roles: { member: {}, silent: {} }
permissions:
  member: { platform_users: { read: { fields: [email, tfa_secret], filter: { id: { _eq: $CURRENT_USER } } } } }`,
      environment: {
        EMAIL_SMTP_HOST: '127.0.0.1',
        EMAIL_SMTP_PORT: String(mail.port),
        LOG_LEVEL: 'trace',
        RATE_LIMITER_AUTH_ADDRESS_POINTS: '1000',
      },
    });
    await project.rows(`INSERT INTO platform.platform_settings (project_name) VALUES ('Tom & <b>Söhne</b>')`);
    member = await project.addRole('member');
  });
  afterAll(async () => {
    await browser?.close();
    await project?.close();
    await mail?.close();
  });
  beforeEach(async () => {
    visitor = await browser.visit(project.server.url);
  });
  afterEach(async () => {
    await visitor.leave();
    expectCalm(visitor);
  });

  const heading = (): Promise<string | null> => visitor.page.locator('h1:visible').textContent();
  const expectHeading = (text: string) => expect.poll(heading, { timeout: patience }).toBe(text);
  const button = (name: string) => visitor.page.getByRole('button', { name, exact: true });
  const field = (label: string) => visitor.page.getByLabel(label, { exact: true }).filter({ visible: true });
  const go = (page: string) => visitor.page.goto(`${project.server.url}/admin/${page}`);
  const problem = () => visitor.page.locator('form:visible [role="alert"]').textContent();

  async function invite(email: string, role = member): Promise<URL> {
    const before = mail.mails.length;
    const { status } = await project.post('/users/invite', { email, role }, { token: adminToken });
    expect(status).toBe(204);
    await expect.poll(() => mail.mails.length, { timeout: patience }).toBe(before + 1);
    return linkIn((await mail.to(email)).at(-1)?.text);
  }

  async function signIn(email: string, password: string): Promise<void> {
    await go('login');
    await field('E-mail address').fill(email);
    await field('Password').fill(password);
    await button('Sign in').click();
  }

  /** One-time passwords count once, so the next one has to be of a step that is not closed. */
  async function reopen(email: string): Promise<void> {
    await project.rows(
      `UPDATE platform.platform_tfa SET last_step = last_step - 3
       WHERE "user" = (SELECT id FROM platform.platform_users WHERE email = $1)`,
      [email],
    );
  }

  const shownKey = async (): Promise<string> =>
    ((await visitor.page.locator('[data-secret]').textContent()) ?? '').replaceAll(' ', '');

  /** Sets a second factor up on the account page that is open, and gives its key. */
  async function setUp(password: string): Promise<string> {
    await expectHeading('Set up two-factor sign-in');
    await field('Your password').fill(password);
    await button('Set it up').click();
    await expectHeading('Set up your authenticator app');
    const key = await shownKey();
    expect(key).toMatch(/^[A-Z2-7]{32}$/);
    await field('Code that the app shows').fill(otpOf(key));
    await button('Turn it on').click();
    await expectHeading('Two-factor sign-in is on');
    return key;
  }

  it('leads from the invitation to a sign-in with a second factor', async () => {
    const email = 'eve@example.com';
    const password = 'correct horse battery staple';
    const link = await invite(email);
    expect(`${link.origin}${link.pathname}`).toBe(`${project.server.url}/admin/accept-invite`);
    const { page } = visitor;
    await page.goto(link.href);
    await expectHeading('Welcome');
    expect(await page.title()).toBe('Accept your invitation · Tom & <b>Söhne</b>');
    await field('New password').fill(password);
    await button('Set the password').click();
    await expectHeading('Your account is ready');
    await page.getByRole('link', { name: 'Sign in' }).click();

    await expectHeading('Sign in');
    await field('E-mail address').fill(email);
    await field('Password').fill(password);
    await button('Sign in').click();
    await page.getByText(`Signed in as ${email}`).waitFor();
    const key = await setUp(password);
    await page.getByText('The second factor is set up.').waitFor();

    await reopen(email);
    await page.locator('[data-form="codes"] input').fill(otpOf(key));
    await button('Make recovery codes').click();
    await expectHeading('Your recovery codes');
    const codes = await page.locator('[data-codes] li').allTextContents();
    expect(codes).toHaveLength(10);
    await button('I have kept them').click();
    expect(await page.locator('[data-codes]').textContent()).toBe('');
    await button('Sign out').click();

    await expectHeading('Sign in');
    await reopen(email);
    await field('E-mail address').fill(email);
    await field('Password').fill(password);
    await button('Sign in').click();
    await expectHeading('One more step');
    const wrong = otpOf(key, -20);
    await field('One-time code').fill(wrong);
    await button('Sign in').click();
    await expect.poll(problem).toContain('The code is not right');
    const focused = page.locator('input:focus');
    expect(await focused.getAttribute('name')).toBe('otp');
    expect(await focused.getAttribute('aria-invalid')).toBe('true');
    const message = page.locator(`#${await focused.getAttribute('aria-errormessage')}`);
    expect(await message.getAttribute('role')).toBe('alert');
    const otp = otpOf(key);
    await field('One-time code').fill(`${otp.slice(0, 3)} ${otp.slice(3)}`);
    await button('Sign in').click();
    await page.getByText(`Signed in as ${email}`).waitFor();
    await expectHeading('Two-factor sign-in is on');

    await button('Sign out').click();
    await expectHeading('Sign in');
    await signIn(email, password);
    await expectHeading('One more step');
    await field('One-time code').fill(codes[0] ?? '');
    await button('Sign in').click();
    await expectHeading('Two-factor sign-in is on');
    await page.locator('[data-form="disable"] input').fill(codes[1] ?? '');
    await button('Turn it off').click();
    await expectHeading('Set up two-factor sign-in');
    await page.getByText('The second factor is removed.').waitFor();
  });

  it('tells the token of a mail to nobody but its own server, and takes it out of sight', async () => {
    const link = await invite('mallory@example.com');
    const token = link.searchParams.get('token') ?? '';
    const { page, sent } = visitor;
    await page.goto(link.href);
    await field('New password').fill('short');
    await button('Set the password').click();
    await expect.poll(problem).toBe('The password is too short: it needs at least 8 characters.');
    expect(page.url()).toBe(`${project.server.url}/admin/accept-invite`);
    // Of all requests only that for the page itself has it, in its address.
    const tellers = sent.filter((request) => request.includes(token));
    expect(tellers).toHaveLength(1);
    expect(tellers[0]?.startsWith(link.href)).toBe(true);
    expect(sent.filter((request) => /"referer":"[^"]/.test(request))).toEqual([]);
    expect(project.server.log()).not.toContain(token);
    await page.reload();
    await expectHeading('Open the link in your mail');
  });

  it('keeps tokens out of the reach of scripts that come later', async () => {
    const user = await project.addUser(member);
    await signIn(user.email, user.password);
    await visitor.page.getByText(`Signed in as ${user.email}`).waitFor();
    const stored = await visitor.page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]');
    expect(stored).toEqual(['', 0, 0]);
    const cookies = await visitor.page.context().cookies();
    expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).toEqual([
      ['platform_refresh_token', true, 'Lax'],
    ]);
  });

  it('signs out in a tab after another one has', async () => {
    const user = await project.addUser(member);
    await signIn(user.email, user.password);
    await visitor.page.getByText(`Signed in as ${user.email}`).waitFor();
    const other = await visitor.page.context().newPage();
    await other.goto(`${project.server.url}/admin/two-factor`);
    await other.getByText(`Signed in as ${user.email}`).waitFor();
    for (const page of [visitor.page, other]) {
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`${project.server.url}/admin/login`);
    }
  });

  it('stays signed in when a page is left while it renews the session', async () => {
    const { page } = visitor;
    const user = await project.addUser(member);
    await signIn(user.email, user.password);
    await page.getByText(`Signed in as ${user.email}`).waitFor();
    const refreshToken = async () => (await page.context().cookies()).map(({ value }) => value).join();
    const before = await refreshToken();
    await withClient(project.database.url, async (client) => {
      await client.query('BEGIN; LOCK TABLE platform.platform_sessions IN EXCLUSIVE MODE');
      const asked = page.waitForRequest(/\/auth\/refresh$/);
      await page.reload();
      await asked;
      // The server has the request, and waits for the table.
      await expect
        .poll(() => project.rows('SELECT 1 FROM pg_catalog.pg_locks WHERE NOT granted'), { timeout: patience })
        .not.toEqual([]);
      await page.goto('about:blank');
      await client.query('COMMIT');
    });
    await expect.poll(refreshToken, { timeout: patience }).not.toBe(before);
    await go('two-factor');
    await page.getByText(`Signed in as ${user.email}`).waitFor();
  });

  it('stays signed in when a page that renews the session is followed by the next one at once', async () => {
    const { page } = visitor;
    const user = await project.addUser(member);
    await signIn(user.email, user.password);
    await page.getByText(`Signed in as ${user.email}`).waitFor();
    for (let visit = 0; visit < 3; visit += 1) {
      const asked = page.waitForRequest(/\/auth\/refresh$/);
      await page.reload({ waitUntil: 'commit' });
      await asked;
    }
    await go('two-factor');
    await page.getByText(`Signed in as ${user.email}`).waitFor();
  });

  it('leads who has forgotten the password by mail to another one', async () => {
    const user = await project.addUser(member);
    await go('login');
    await visitor.page.getByRole('link', { name: 'Forgot your password?' }).click();
    await expectHeading('Forgot your password?');
    await field('E-mail address').fill(user.email);
    await button('Send the link').click();
    await expectHeading('Look into your mail');
    const link = linkIn((await mail.to(user.email)).at(-1)?.text);
    await visitor.page.goto(link.href);
    await expectHeading('Choose a new password');
    await field('New password').fill('an entirely new one');
    await button('Set the password').click();
    await expectHeading('Your password is changed');

    await signIn(user.email, user.password);
    await expect.poll(problem).toBe('The e-mail address or the password is not right.');
    await field('Password').fill('an entirely new one');
    await button('Sign in').click();
    await visitor.page.getByText(`Signed in as ${user.email}`).waitFor();

    await visitor.page.goto(link.href);
    await field('New password').fill('yet another new one');
    await button('Set the password').click();
    await expectHeading('The link does not work any more');
    await visitor.page.getByRole('link', { name: 'Send another link' }).click();
    await expectHeading('Forgot your password?');
  });

  it('lets users set up a second factor who may not read their own user', async () => {
    const user = await project.addUser(await project.addRole('silent', { enforce_tfa: true }));
    await signIn(user.email, user.password);
    await setUp(user.password);
    await go('two-factor');
    // Nobody has told the page.
    await expectHeading('Set up two-factor sign-in');
    expect(await visitor.page.locator('[data-known]').isVisible()).toBe(false);
    await field('Your password').fill(user.password);
    await button('Set it up').click();
    await expectHeading('Two-factor sign-in is on');
  });

  it('is passable without a mouse', async () => {
    const { page } = visitor;
    const { keyboard } = page;
    const focused = async (): Promise<string> =>
      String(
        await page.evaluate(`(() => {
          const element = document.activeElement;
          const name = (element.labels?.[0] ?? element).textContent.trim();
          return getComputedStyle(element).outlineStyle === 'none' ? name + ' (invisible)' : name;
        })()`),
      );
    const tabTo = async (name: string): Promise<void> => {
      for (let count = 0; count < 12 && (await focused()) !== name; count += 1) await keyboard.press('Tab');
      expect(await focused()).toBe(name);
    };
    const link = await invite('kim@example.com');
    await page.goto(link.href);
    await tabTo('New password');
    await keyboard.press('Enter');
    await expect.poll(problem).toBe('Fill in “New password”.');
    await keyboard.type('correct horse battery');
    await tabTo('Show the password');
    await keyboard.press('Space');
    expect(await field('New password').getAttribute('type')).toBe('text');
    await tabTo('Set the password');
    await keyboard.press('Enter');
    await expectHeading('Your account is ready');
    await tabTo('Sign in');
    await keyboard.press('Enter');
    await expectHeading('Sign in');
    await tabTo('E-mail address');
    await keyboard.type('kim@example.com');
    await tabTo('Password');
    await keyboard.type('correct horse battery');
    await keyboard.press('Enter');
    await expectHeading('Set up two-factor sign-in');
    expect(await focused()).toBe('Your password');
    await keyboard.type('correct horse battery');
    await keyboard.press('Enter');
    await expectHeading('Set up your authenticator app');
    expect(await focused()).toBe('Code that the app shows');
    await keyboard.type(otpOf(await shownKey()));
    await tabTo('Turn it on');
    await keyboard.press('Enter');
    await expectHeading('Two-factor sign-in is on');
  });

  it('draws the QR code of the very address that the server gives', async () => {
    const user = await project.addUser(member);
    await signIn(user.email, user.password);
    await field('Your password').fill(user.password);
    const [answer] = await Promise.all([visitor.page.waitForResponse(/tfa\/generate$/), button('Set it up').click()]);
    const { data } = await answer.json();
    await expectHeading('Set up your authenticator app');
    expect(await visitor.page.locator('[data-app]').getAttribute('href')).toBe(data.otpauth_url);
    const { data: pixels, width, height } = PNG.sync.read(await visitor.page.locator('[data-qr]').screenshot());
    expect(jsQR.default(new Uint8ClampedArray(pixels), width, height)?.data).toBe(data.otpauth_url);
  });
});
