/** Providers of single sign-on: AUTH_PROVIDERS and AUTH_<NAME>_…. Source: API specification, sections 2.8 and 16. */
import {
  elementsIn,
  type Need,
  type Read,
  type Reading,
  readBoolean,
  readChoice,
  readRoleKey,
  readText,
  readUrls,
} from './values.ts';

export type ProviderEnvironment = ReturnType<typeof readProvider>;

/** Endpoints of a provider: by its own description of itself, or at addresses from the configuration. */
export type ProviderEndpoints =
  | { readonly driver: 'openid'; readonly issuer: string }
  | { readonly driver: 'oauth2'; readonly authorize: string; readonly access: string; readonly profile: string };

export type ProfileKeys = ProviderEnvironment['keys'];

/** Reads every provider that AUTH_PROVIDERS names, by name and in that order. */
export function readProviders(read: Read, requireVariable: Need): ReadonlyMap<string, ProviderEnvironment> {
  const names = read<readonly string[]>('AUTH_PROVIDERS', readNames, []);
  return new Map(names.map((name) => [name, readProvider(name, read, requireVariable)]));
}

function readProvider(name: string, read: Read, requireVariable: Need) {
  const variable = (end: string): string => `AUTH_${name.toUpperCase()}_${end}`;
  const text = (end: string): string | null => read<string | null>(variable(end), readText, null);
  const key = (end: string, absent: string): string => read(variable(end), readText, absent);
  const endpoints = readEndpoints(variable, requireVariable);
  const openid = endpoints.driver === 'openid';
  return {
    /** As paths and the field `provider` of users have it. */
    name,
    endpoints,
    clientId: requireVariable(variable('CLIENT_ID'), readText, ''),
    clientSecret: requireVariable(variable('CLIENT_SECRET'), readText, ''),
    icon: text('ICON'),
    label: text('LABEL'),
    /** Scopes, separated by spaces. */
    scope: read(variable('SCOPE'), readScope(openid), openid ? 'openid profile email' : 'email'),
    keys: {
      identifier: key('IDENTIFIER_KEY', 'sub'),
      email: key('EMAIL_KEY', 'email'),
      firstName: key('FIRST_NAME_KEY', 'given_name'),
      lastName: key('LAST_NAME_KEY', 'family_name'),
    },
    /** True if an unknown person becomes a user. */
    allowRegistration: read(variable('ALLOW_PUBLIC_REGISTRATION'), readBoolean, false),
    /** Role of those users; null: none. */
    defaultRole: read<string | null>(variable('DEFAULT_ROLE_ID'), readRoleKey, null),
    /** Addresses that people may be sent on to; none when empty. */
    redirects: read<readonly string[]>(variable('REDIRECT_ALLOW_LIST'), readUrls, []),
  } as const;
}

/** Without a driver the missing addresses cannot be determined. */
function readEndpoints(variable: (end: string) => string, requireVariable: Need): ProviderEndpoints {
  const driver = requireVariable<'oauth2' | 'openid' | null>(
    variable('DRIVER'),
    readChoice(['oauth2', 'openid']),
    null,
  );
  const url = (end: string): string => requireVariable(variable(end), readEndpoint, '');
  if (driver === null) return { driver: 'openid', issuer: '' };
  return driver === 'openid'
    ? { driver, issuer: requireVariable(variable('ISSUER_URL'), readIssuer, '') }
    : { driver, authorize: url('AUTHORIZE_URL'), access: url('ACCESS_URL'), profile: url('PROFILE_URL') };
}

/** Names that are one in paths, in variables and in the table of users. */
function readNames(text: string): Reading<readonly string[]> {
  const value = elementsIn(text);
  const wrong = value.find((name) => !/^[a-z][a-z0-9_]{0,63}$/i.test(name));
  if (wrong !== undefined) {
    return {
      problem: `has "${wrong}": a name has letters, digits and "_", the first one a letter, at most 64 of them.`,
    };
  }
  if (value.some((name) => name.toLowerCase() === 'default')) {
    return { problem: 'has "default", which means signing in by password.' };
  }
  const variables = new Set(value.map((name) => name.toUpperCase()));
  return variables.size < value.length ? { problem: 'has a name twice; case does not tell them apart.' } : { value };
}

function readScope(openid: boolean) {
  return (text: string): Reading<string> => {
    const scopes = text.split(/ +/);
    if (!scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))) {
      return { problem: 'must be scopes separated by spaces.' };
    }
    return openid && !scopes.includes('openid')
      ? { problem: 'must have "openid" among its scopes.' }
      : { value: scopes.join(' ') };
  };
}

/** Reads an address at which a provider is asked: secrets go there, so over TLS, but for one on this machine. */
function readEndpoint(text: string): Reading<string> {
  const url = URL.parse(text);
  const plain = url?.protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  const usable = url !== null && (url.protocol === 'https:' || plain);
  return usable && url.username === '' && url.password === '' && url.hash === ''
    ? { value: text }
    : { problem: 'must be an https address (http only on this machine) without user and fragment.' };
}

/** The same for an issuer, which is compared by its text, so that nothing of it is changed. */
function readIssuer(text: string): Reading<string> {
  const reading = readEndpoint(text);
  return 'value' in reading && text.includes('?') ? { problem: 'must be an address without query.' } : reading;
}
