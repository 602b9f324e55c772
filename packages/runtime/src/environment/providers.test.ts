import { describe, expect, test } from 'vitest';
import { readEnvironment, type Variables } from '../environment.ts';

const openid = {
  AUTH_PROVIDERS: 'corp',
  AUTH_CORP_DRIVER: 'openid',
  AUTH_CORP_CLIENT_ID: 'id',
  AUTH_CORP_CLIENT_SECRET: 'hush hush',
  AUTH_CORP_ISSUER_URL: 'https://id.example.com/realms/a/',
};

function read(variables: Variables) {
  const reading = readEnvironment(variables);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return [...reading.environment.auth.providers];
}

function problems(variables: Variables): readonly string[] {
  const reading = readEnvironment(variables);
  return reading.ok ? [] : reading.problems.map(({ message }) => message);
}

test('a provider of OpenID Connect has the defaults of the specification', () => {
  expect(read(openid)).toEqual([
    [
      'corp',
      {
        name: 'corp',
        endpoints: { driver: 'openid', issuer: 'https://id.example.com/realms/a/' },
        clientId: 'id',
        clientSecret: 'hush hush',
        icon: null,
        label: null,
        scope: 'openid profile email',
        keys: { identifier: 'sub', email: 'email', firstName: 'given_name', lastName: 'family_name' },
        allowRegistration: false,
        defaultRole: null,
        redirects: [],
      },
    ],
  ]);
});

test('everything of a provider can be said', () => {
  const role = '6F9619FF-8B86-4011-B42D-00C04FC964FF';
  const [, [, provider] = []] = read({
    ...openid,
    AUTH_PROVIDERS: ' corp , Hub_2, ',
    AUTH_HUB_2_DRIVER: 'oauth2',
    AUTH_HUB_2_CLIENT_ID: 'id',
    AUTH_HUB_2_CLIENT_SECRET: 'x',
    AUTH_HUB_2_AUTHORIZE_URL: 'https://hub.example.com/authorize?response_mode=form_post',
    AUTH_HUB_2_ACCESS_URL: 'https://hub.example.com/token',
    AUTH_HUB_2_PROFILE_URL: 'http://127.0.0.1:80/user',
    AUTH_HUB_2_ICON: 'hub',
    AUTH_HUB_2_LABEL: 'The Hub',
    AUTH_HUB_2_SCOPE: 'read:user  user:email',
    AUTH_HUB_2_IDENTIFIER_KEY: 'id',
    AUTH_HUB_2_EMAIL_KEY: 'mail',
    AUTH_HUB_2_FIRST_NAME_KEY: 'first',
    AUTH_HUB_2_LAST_NAME_KEY: 'last',
    AUTH_HUB_2_ALLOW_PUBLIC_REGISTRATION: 'true',
    AUTH_HUB_2_DEFAULT_ROLE_ID: role,
    AUTH_HUB_2_REDIRECT_ALLOW_LIST: 'https://a.example.com,http://localhost:3000/in',
  });
  expect(provider).toEqual({
    name: 'Hub_2',
    endpoints: {
      driver: 'oauth2',
      authorize: 'https://hub.example.com/authorize?response_mode=form_post',
      access: 'https://hub.example.com/token',
      profile: 'http://127.0.0.1:80/user',
    },
    clientId: 'id',
    clientSecret: 'x',
    icon: 'hub',
    label: 'The Hub',
    scope: 'read:user user:email',
    keys: { identifier: 'id', email: 'mail', firstName: 'first', lastName: 'last' },
    allowRegistration: true,
    defaultRole: role.toLowerCase(),
    redirects: ['https://a.example.com', 'http://localhost:3000/in'],
  });
});

test('the default scope of OAuth 2.0 is that of the specification', () => {
  const urls = { AUTH_CORP_AUTHORIZE_URL: 'https://a/b', AUTH_CORP_ACCESS_URL: 'https://a/b' };
  const [[, provider] = []] = read({
    ...openid,
    ...urls,
    AUTH_CORP_PROFILE_URL: 'https://a/b',
    AUTH_CORP_DRIVER: 'oauth2',
  });
  expect(provider?.scope).toBe('email');
});

describe('what stops the start', () => {
  test('nothing but the variables that a driver needs', () => {
    const { AUTH_CORP_DRIVER, AUTH_PROVIDERS } = openid;
    expect(problems({ AUTH_PROVIDERS, AUTH_CORP_DRIVER })).toEqual([
      'AUTH_CORP_ISSUER_URL is required.',
      'AUTH_CORP_CLIENT_ID is required.',
      'AUTH_CORP_CLIENT_SECRET is required.',
    ]);
    expect(problems({ AUTH_PROVIDERS, AUTH_CORP_DRIVER: 'oauth2' })).toEqual([
      'AUTH_CORP_AUTHORIZE_URL is required.',
      'AUTH_CORP_ACCESS_URL is required.',
      'AUTH_CORP_PROFILE_URL is required.',
      'AUTH_CORP_CLIENT_ID is required.',
      'AUTH_CORP_CLIENT_SECRET is required.',
    ]);
    expect(problems({ ...openid, AUTH_CORP_DRIVER: '' })).toEqual(['AUTH_CORP_DRIVER is required.']);
    expect(problems({ AUTH_CORP_DRIVER: 'saml' })).toEqual([]);
  });

  test('a name in place of the key of a role, with the request that tells the keys', () => {
    const [message] = problems({ ...openid, AUTH_CORP_DEFAULT_ROLE_ID: 'member' });
    expect(message).toContain('`GET /roles?fields=id,name`');
  });

  test.each([
    ['AUTH_CORP_DRIVER', 'saml'],
    ['AUTH_CORP_DRIVER', 'toString'],
    ['AUTH_CORP_ISSUER_URL', 'http://id.example.com'],
    ['AUTH_CORP_ISSUER_URL', 'http://localhost.example.com'],
    ['AUTH_CORP_ISSUER_URL', 'https://user:pass@id.example.com'],
    ['AUTH_CORP_ISSUER_URL', 'https://id.example.com?a=1'],
    ['AUTH_CORP_ISSUER_URL', 'https://id.example.com#a'],
    ['AUTH_CORP_ISSUER_URL', 'id.example.com'],
    ['AUTH_CORP_ISSUER_URL', 'file:///etc/passwd'],
    ['AUTH_CORP_SCOPE', 'profile email'],
    ['AUTH_CORP_SCOPE', 'openid "'],
    ['AUTH_CORP_ALLOW_PUBLIC_REGISTRATION', 'yes'],
    ['AUTH_CORP_DEFAULT_ROLE_ID', 'member'],
    ['AUTH_CORP_REDIRECT_ALLOW_LIST', 'app.example.com'],
    ['AUTH_CORP_REDIRECT_ALLOW_LIST', 'https://app.example.com?a'],
    ['AUTH_PROVIDERS', 'corp, default'],
    ['AUTH_PROVIDERS', 'corp, DEFAULT'],
    ['AUTH_PROVIDERS', 'corp, CORP'],
    ['AUTH_PROVIDERS', 'corp, azure-ad'],
    ['AUTH_PROVIDERS', '__proto__'],
    ['AUTH_PROVIDERS', 'a/b'],
    ['AUTH_PROVIDERS', '1st'],
    ['AUTH_PROVIDERS', 'x'.repeat(65)],
  ])('%s=%s', (variable, value) => {
    const [message = '', ...more] = problems({ ...openid, [variable]: value });
    expect(message.startsWith(`${variable} `)).toBe(true);
    expect(more).toEqual([]);
  });

  test('a secret is never repeated', () => {
    const all = { ...openid, AUTH_CORP_DRIVER: 'x', AUTH_CORP_SCOPE: 'y', AUTH_PROVIDERS: 'corp' };
    expect(problems(all).join()).not.toContain('hush');
  });
});
