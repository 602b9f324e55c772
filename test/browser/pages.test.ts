/** Every part of the pages as different people see it, and what they say when something is wrong. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts } from '../support/accounts.ts';
import {
  type Browser,
  barriersOf,
  browserVersion,
  type Eyes,
  expectCalm,
  patience,
  startBrowser,
  type Visitor,
  withoutBrowser,
} from '../support/browser.ts';
import { linkIn, type MailServer, startMailServer } from '../support/mail.ts';
import { otpOf } from '../support/otp.ts';
import { adminToken, startPlatform } from '../support/platform.ts';

describe.skipIf(browserVersion === undefined)(`pages${withoutBrowser}`, { timeout: 4 * patience }, () => {
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
roles: { member: {} }
permissions:
  member: { platform_users: { read: { fields: [email, tfa_secret], filter: { id: { _eq: $CURRENT_USER } } } } }`,
      environment: {
        EMAIL_SMTP_HOST: '127.0.0.1',
        EMAIL_SMTP_PORT: String(mail.port),
        USER_INVITE_TOKEN_TTL: '1s',
        PASSWORD_MIN_LENGTH: '12',
        RATE_LIMITER_AUTH_ACCOUNT_POINTS: '1',
        RATE_LIMITER_AUTH_ADDRESS_POINTS: '1000',
      },
    });
    await project.rows(
      `INSERT INTO platform.platform_settings (project_name, auth_password_policy) VALUES ('Magazine', '[0-9]')`,
    );
    member = await project.addRole('member');
  });
  afterAll(async () => {
    await browser?.close();
    await project?.close();
    await mail?.close();
  });
  afterEach(async () => {
    await visitor.leave();
    expectCalm(visitor);
  });

  async function open(eyes?: Eyes): Promise<void> {
    visitor = await browser.visit(project.server.url, eyes);
  }

  const go = (page: string) => visitor.page.goto(`${project.server.url}/admin/${page}`);
  const button = (name: string) => visitor.page.getByRole('button', { name, exact: true }).first();
  const field = (label: string): Locator => visitor.page.getByLabel(label, { exact: true }).filter({ visible: true });
  const problem = () => visitor.page.locator('[role="alert"]:visible').first().textContent();
  const expectProblem = (text: string | RegExp) => expect.poll(problem, { timeout: patience }).toMatch(text);
  const expectHeading = (text: string) =>
    expect.poll(() => visitor.page.locator('h1:visible').textContent(), { timeout: patience }).toBe(text);

  async function fillIn(values: Readonly<Record<string, string>>, press: string): Promise<void> {
    for (const [label, value] of Object.entries(values)) await field(label).fill(value);
    await button(press).click();
  }

  async function expiredLink(email: string): Promise<URL> {
    await project.post('/users/invite', { email, role: member }, { token: adminToken });
    const link = linkIn((await mail.to(email)).at(-1)?.text);
    await sleep(1_100);
    return link;
  }

  it.each<[string, Eyes]>([
    ['in the light', {}],
    ['in the dark', { colorScheme: 'dark' }],
    ['on the smallest screen', { width: 320 }],
  ])('every part can be perceived and used %s', async (_name, eyes) => {
    await open(eyes);
    const { page } = visitor;
    const barriers: string[] = [];
    const look = async (part: string): Promise<void> => {
      await expectHeading(part);
      for (const barrier of await barriersOf(page)) barriers.push(`${part}: ${barrier}`);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (overflow !== 0) barriers.push(`${part} is ${overflow} pixels too wide`);
    };
    await page.goto(project.server.url);
    await look('Magazine');
    const user = await project.addUser(member);
    const expired = await expiredLink(`late-${eyes.width}-${eyes.colorScheme}@example.com`);

    await go('login');
    await look('Sign in');
    await button('Sign in').click();
    await expectProblem('Fill in “E-mail address”.');
    await look('Sign in');
    await page.goto(expired.href);
    await look('Welcome');
    await fillIn({ 'New password': 'too short' }, 'Set the password');
    await look('The invitation has expired');
    await go('accept-invite?token=a.b.c');
    await fillIn({ 'New password': 'long enough, 1 digit' }, 'Set the password');
    await look('The link does not work any more');
    await go('accept-invite');
    await look('Open the link in your mail');
    await go('reset-password');
    await look('Forgot your password?');
    await fillIn({ 'E-mail address': user.email }, 'Send the link');
    await look('Look into your mail');
    await page.goto(linkIn((await mail.to(user.email)).at(-1)?.text).href);
    await fillIn({ 'New password': 'too short' }, 'Set the password');
    await expectProblem('The password is too short: it needs at least 12 characters.');
    await look('Choose a new password');
    const password = 'long enough, with 1 digit';
    await fillIn({ 'New password': password }, 'Set the password');
    await look('Your password is changed');
    await go('login');
    await fillIn({ 'E-mail address': user.email, Password: password }, 'Sign in');
    await look('Set up two-factor sign-in');
    await fillIn({ 'Your password': password }, 'Set it up');
    await look('Set up your authenticator app');
    const key = ((await page.locator('[data-secret]').textContent()) ?? '').replaceAll(' ', '');
    await fillIn({ 'Code that the app shows': '000000' }, 'Turn it on');
    await expectProblem('The code is not right');
    await fillIn({ 'Code that the app shows': otpOf(key) }, 'Turn it on');
    await look('Two-factor sign-in is on');
    await fillIn({ 'Code that the app shows': otpOf(key, 1) }, 'Make recovery codes');
    await look('Your recovery codes');
    await go('login');
    await fillIn({ 'E-mail address': user.email, Password: password }, 'Sign in');
    await look('One more step');
    expect(barriers).toEqual([]);
  });

  it('say which rule a new password breaks, and keep the link usable', async () => {
    await open();
    const user = await project.addUser(member);
    await project.post('/auth/password/request', { email: user.email });
    await visitor.page.goto(linkIn((await mail.to(user.email)).at(-1)?.text).href);
    const set = (password: string) => fillIn({ 'New password': password }, 'Set the password');
    await set('too short');
    await expectProblem('it needs at least 12 characters');
    await set('long enough without digits');
    await expectProblem('it does not meet the rules of Magazine');
    await set('1'.repeat(1025));
    await expectProblem('at most 1024 bytes');
    expect(await visitor.page.locator('input:focus').getAttribute('aria-invalid')).toBe('true');
    await visitor.page.keyboard.type('x');
    expect(await visitor.page.locator('input:focus').getAttribute('aria-invalid')).toBeNull();
    await set('long enough, with 1 digit');
    await expectHeading('Your password is changed');
  });

  it('say how long to wait after too many attempts', async () => {
    await open();
    const user = await project.addUser(member);
    await go('login');
    await fillIn({ 'E-mail address': user.email, Password: 'wrong' }, 'Sign in');
    await expectProblem('The e-mail address or the password is not right.');
    await fillIn({ 'E-mail address': user.email, Password: 'wrong' }, 'Sign in');
    await expectProblem(/^Too many attempts\. Try again in \d+ seconds?\.$/);
    expect(await visitor.page.locator('[aria-invalid]').count()).toBe(0);
  });

  it('say that a network may not be used, and that the server cannot be reached', async () => {
    await open();
    const role = await project.addRole('far', { ip_access: '10.0.0.0/8' });
    const user = await project.addUser(role);
    await go('login');
    await fillIn({ 'E-mail address': user.email, Password: user.password }, 'Sign in');
    await expectProblem('Your account may not be used from the network you are in.');
    await visitor.page.context().setOffline(true);
    await fillIn({ 'E-mail address': user.email, Password: user.password }, 'Sign in');
    await expectProblem('The server cannot be reached.');
  });

  it('say that the browser keeps no cookie of theirs', async () => {
    const elsewhere = { REFRESH_TOKEN_COOKIE_DOMAIN: 'elsewhere.example' };
    const server = await startPlatform(project.folder, project.database.url, elsewhere, []);
    try {
      visitor = await browser.visit(server.url);
      const user = await project.addUser(member);
      await visitor.page.goto(`${server.url}/admin/login`);
      await fillIn({ 'E-mail address': user.email, Password: user.password }, 'Sign in');
      await expectProblem('Your browser has not kept the session.');
    } finally {
      await server.stop();
    }
  });

  it('lead who is not signed in to the sign-in', async () => {
    await open();
    await go('two-factor');
    await expectHeading('Sign in');
    expect(visitor.page.url()).toBe(`${project.server.url}/admin/login`);
  });

  it('say what the reason of a failed sign-in elsewhere means, and nothing else', async () => {
    await open();
    const reasons = [
      ['INVALID_CREDENTIALS', 'You could not be signed in with that account.'],
      ['TOKEN_EXPIRED', 'Signing in took too long.'],
      ['REQUESTS_EXCEEDED', 'There were too many attempts.'],
      ['valueMissing', 'You could not be signed in. Try again'],
      ['<img src=x onerror=alert(1)>', 'You could not be signed in. Try again'],
      ['"]', 'You could not be signed in. Try again'],
    ] as const;
    for (const [reason, text] of reasons) {
      await go(`two-factor?reason=${encodeURIComponent(reason)}`);
      await visitor.page.waitForURL(`${project.server.url}/admin/login`);
      await expectProblem(text);
    }
  });
});
