/** Invitations that are accepted by signing in at a provider, above all where users have no passwords. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, publicUrl } from '../support/identity-provider.ts';
import { type MailServer, startMailServer, tokenIn } from '../support/mail.ts';
import { startPlatform } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { allowedPage, type SsoProject, serveSso, verdict } from '../support/single-sign-on.ts';

let mail: MailServer;
let sso: SsoProject;
beforeAll(async () => {
  mail = await startMailServer();
  sso = await serveSso({
    AUTH_DISABLE_DEFAULT: 'true',
    EMAIL_SMTP_HOST: '127.0.0.1',
    EMAIL_SMTP_PORT: String(mail.port),
    RATE_LIMITER_AUTH_MAIL_POINTS: '1000',
  });
});
afterAll(async () => {
  await sso?.close();
  await mail?.close();
});

/** Invites an address, and gives it with the token that was mailed. */
async function invite(email = `${randomUUID()}@example.com`, count = 1, role = sso.member) {
  const answer = await sso.project.server.admin('/users/invite', { method: 'POST', body: { email, role } });
  expect(answer.status).toBe(204);
  const [received] = (await mail.to(email, count)).slice(-1);
  return { email, token: tokenIn(received?.text) };
}

const userOf = async (email: string) =>
  (
    await sso.project.rows(
      'SELECT id, status, provider, external_identifier, password, role FROM platform.platform_users WHERE email = $1',
      [email],
    )
  )[0];

it('makes the invited user one of the provider, which may know another address, and stores no password', async () => {
  const { email, token } = await invite();
  const refused = await sso.project.post('/users/invite/accept', { token, password: 'correct horse battery' });
  expect(failure(refused)).toBe('422 UNPROCESSABLE_ENTITY');
  expect(await userOf(email)).toMatchObject({ status: 'invited', password: null });
  const login = sso.newcomer();
  // Others cannot register there, the invited one can.
  const page = await sso.signIn('closed', login, { invitation: token });
  expect(verdict(page)).toBe('200');
  const user = await userOf(email);
  const linked = { status: 'active', provider: 'closed', external_identifier: login, password: null, role: sso.member };
  expect(user).toMatchObject(linked);
  const { data } = JSON.parse(page.text);
  const me = await sso.project.server.ask('/users/me', { token: data.access_token });
  expect(me.json.data).toMatchObject({ id: user?.id, email });
  const { json } = await sso.project.server.admin(
    `/revisions?filter[item][_eq]=${user?.id}&fields=delta&sort=-id&limit=1`,
  );
  expect(json.data[0].delta).toMatchObject({ status: 'active', provider: 'closed', external_identifier: login });
  expect(verdict(await sso.signIn('closed', login))).toBe('200');
});

it('takes an invitation once, the latest mail or an earlier one, and none that was made up', async () => {
  const first = await invite();
  const { token } = await invite(first.email, 2);
  expect(verdict(await sso.signIn('corp', sso.newcomer(), { invitation: token }))).toBe('200');
  const late = sso.newcomer();
  for (const invitation of [token, first.token]) {
    expect(verdict(await sso.signIn('corp', late, { invitation }))).toBe('403 INVALID_TOKEN');
  }
  const other = openBrowser();
  const start = (query: object) =>
    other.ask(`${sso.project.server.url}/auth/login/corp?${new URLSearchParams({ ...query })}`);
  expect(verdict(await start({ invitation: 'made.up.token' }))).toBe('403 INVALID_TOKEN');
  const { location } = await start({ invitation: 'made.up.token', redirect: allowedPage });
  expect(location?.href).toBe(`${allowedPage}?reason=INVALID_TOKEN`);
});

it('leaves alone who has an account at the provider already, and the invitation', async () => {
  const login = sso.newcomer();
  expect(verdict(await sso.signIn('corp', login))).toBe('200');
  const { email, token } = await invite();
  expect(verdict(await sso.signIn('corp', login, { invitation: token }))).toBe('200');
  expect(await userOf(email)).toMatchObject({ status: 'invited', provider: 'default', external_identifier: null });
});

it('gives one user to two sign-ins of one person at once', async () => {
  const { email, token } = await invite();
  const login = sso.newcomer();
  const pages = await Promise.all([1, 2].map(() => sso.signIn('corp', login, { invitation: token })));
  expect(pages.map(verdict)).toEqual(['200', '200']);
  expect(await userOf(email)).toMatchObject({ external_identifier: login });
});

it('removes a password, and is told by the audit, also where the address is refused afterwards', async () => {
  const far = await sso.project.addRole('member', { ip_access: '192.0.2.0/24' });
  const { email } = await invite();
  const id = (await userOf(email))?.id;
  const body = { password: 'correct horse battery' };
  expect((await sso.project.server.admin(`/users/${id}`, { method: 'PATCH', body })).status).toBe(200);
  const { token } = await invite(email, 2, far);
  expect((await userOf(email))?.password).toEqual(expect.any(String));
  expect(verdict(await sso.signIn('closed', sso.newcomer(), { invitation: token }))).toBe('401 INVALID_IP');
  expect(await userOf(email)).toMatchObject({ status: 'active', provider: 'closed', password: null });
  const audited = () =>
    (sso.project.server.log().match(/.*"audit":true.*\n/g) ?? [])
      .map((line) => JSON.parse(line))
      .filter(({ user }) => user === id);
  await expect
    .poll(audited)
    .toEqual([
      expect.objectContaining({ event: 'password-changed', action: 'invite', provider: 'closed', by: id }),
      expect.objectContaining({ event: 'ip-refused' }),
    ]);
});

it.each(['suspended', 'active'])('does nothing for a user who is %s meanwhile', async (status) => {
  const { email, token } = await invite();
  const browser = openBrowser();
  const start = `${sso.project.server.url}/auth/login/corp?invitation=${token}`;
  const back = sso.here(await browser.signIn(start, sso.newcomer()));
  await sso.project.rows('UPDATE platform.platform_users SET status = $1 WHERE email = $2', [status, email]);
  expect(verdict(await browser.ask(back))).toBe('403 INVALID_TOKEN');
  expect(await userOf(email)).toMatchObject({ status, provider: 'default', external_identifier: null });
});

it('is a way where users have passwords, too, and leaves no token to set one', async () => {
  const { email, token } = await invite();
  const { project, provider } = sso;
  const environment = { AUTH_PROVIDERS: 'corp', PUBLIC_URL: publicUrl, ...provider.variables('corp', 'openid') };
  const other = await startPlatform(project.folder, project.database.url, environment, []);
  try {
    const browser = openBrowser();
    const login = sso.newcomer();
    const back = await browser.signIn(`${other.url}/auth/login/corp?invitation=${token}`, login);
    expect(verdict(await browser.ask(sso.here(back, other.url)))).toBe('200');
    const body = { token, password: 'correct horse battery' };
    const late = await other.ask('/users/invite/accept', { method: 'POST', body });
    expect(failure(late)).toBe('403 INVALID_TOKEN');
    expect(await userOf(email)).toMatchObject({ provider: 'corp', external_identifier: login, password: null });
  } finally {
    await other.stop();
  }
});
