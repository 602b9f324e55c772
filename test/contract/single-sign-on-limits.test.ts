/** Single sign-on where it is the only way, over TLS, and how often it may fail. Source: specification, sections 2.8 and 2.9. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { failure } from '../support/project.ts';
import { type SsoProject, serveSso } from '../support/single-sign-on.ts';

let sso: SsoProject;
beforeAll(async () => {
  sso = await serveSso({
    PUBLIC_URL: 'https://api.example.com/platform',
    AUTH_DISABLE_DEFAULT: 'true',
    RATE_LIMITER_AUTH_ADDRESS_POINTS: '3',
    LOGIN_STALL_TIME: '300',
  });
});
afterAll(() => sso?.close());

it('nobody signs in by password', async () => {
  expect(failure(await sso.project.post('/auth/login', {}))).toBe('404 ROUTE_NOT_FOUND');
  expect((await sso.project.server.ask('/auth')).json).toMatchObject({ disableDefault: true });
});

it('the cookie is for this host alone, and comes back with a form of another site', async () => {
  const response = await fetch(`${sso.project.server.url}/auth/login/corp`, { redirect: 'manual' });
  expect(response.headers.getSetCookie().map((cookie) => cookie.replace(/=[^;]*/, '=…'))).toEqual([
    '__Host-platform_oauth_state_corp=…; Path=/; HttpOnly; Secure; SameSite=None; Max-Age=3600',
  ]);
  const { searchParams } = new URL(response.headers.get('location') ?? '');
  expect(searchParams.get('redirect_uri')).toBe('https://api.example.com/platform/auth/login/corp/callback');
});

it('failures are slow, counted over all providers, and at last not heard', async () => {
  const begun = performance.now();
  for (const name of ['corp', 'plain', 'closed']) {
    const answer = await sso.project.server.ask(`/auth/login/${name}/callback?code=x&state=y`);
    expect(failure(answer)).toBe('403 INVALID_TOKEN');
  }
  expect(performance.now() - begun).toBeGreaterThan(900);
  const answer = await sso.project.server.ask('/auth/login/corp/callback?code=x&state=y');
  expect(failure(answer)).toBe('429 REQUESTS_EXCEEDED');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  const start = await fetch(`${sso.project.server.url}/auth/login/corp`, { redirect: 'manual' });
  expect(start.status).toBe(302);
});
