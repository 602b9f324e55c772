/** An identity provider of a test's own on the loopback: the npm package oidc-provider, and a browser to sign in there. */
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import Provider from 'oidc-provider';

/** What a token endpoint answers. */
export type TokenAnswer = Readonly<Record<string, unknown>>;

/** Header and claims of a token. */
export interface TokenParts {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A provider that knows everybody, by the name they sign in with. */
export interface IdentityProvider {
  readonly issuer: string;
  /** Variables of a server for which it is the provider `name`. */
  variables(name: string, driver: 'openid' | 'oauth2'): Readonly<Record<string, string>>;
  /** What it says of somebody beside what it says of everybody. */
  say(login: string, claims: Readonly<Record<string, unknown>>): void;
  /** Changes the answers of the token endpoint; null: no more. */
  tamper(change: ((answer: TokenAnswer) => TokenAnswer) | null): void;
  /** Answers every request for a path with this text as JSON; null ends that. */
  distort(path: string, text: string | null): void;
  /** Signs with a new key from now on, and has no other one in its key set. */
  replaceKeys(): void;
  /** Signs a token as the provider does. */
  sign(parts: TokenParts): string;
  /** Answers everything with this status instead; null: no more. */
  fail(status: number | null): void;
  /** Paths that were asked for, in their order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** Where servers believe to be reached: nothing listens there, so tests see what a browser would send. */
export const publicUrl = 'http://app.localhost:8055';

const secret = 'a secret between server and provider, +/=& included';

/** Starts one on a free port. */
export async function startIdentityProvider(names: readonly string[]): Promise<IdentityProvider> {
  let { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  let keySets = 0;
  const distorted = new Map<string, string>();
  const asked: string[] = [];
  const said = new Map<string, Readonly<Record<string, unknown>>>();
  let tampering: ((answer: TokenAnswer) => TokenAnswer) | null = null;
  let failing: number | null = null;
  let listener: RequestListener = () => {};
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '', publicUrl).pathname;
    asked.push(path);
    const text = distorted.get(path);
    if (text !== undefined) response.setHeader('content-type', 'application/json').end(text);
    else if (failing === null) listener(request, response);
    else response.writeHead(failing).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const configuration = (): ConstructorParameters<typeof Provider>[1] => ({
    clients: [
      {
        client_id: 'platform',
        client_secret: secret,
        redirect_uris: names.map((name) => `${publicUrl}/auth/login/${name}/callback`),
        token_endpoint_auth_method: 'client_secret_basic',
      },
      {
        client_id: 'platform-oauth2',
        client_secret: secret,
        redirect_uris: names.map((name) => `${publicUrl}/auth/login/${name}/callback`),
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: `ours-${keySets}`, alg: 'RS256', use: 'sig' }] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name', 'number'] },
    cookies: { keys: ['of no worth'] },
    // Said, because it complains of its defaults.
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    findAccount: (_context, login) => ({
      accountId: login,
      claims: () => ({
        sub: login,
        email: `${login}@example.com`,
        email_verified: true,
        given_name: 'Given',
        family_name: `Family of ${login}`,
        ...said.get(login),
      }),
    }),
  });
  // Users, grants and codes are kept beside it, for all that are made.
  function open(): void {
    const provider = new Provider(issuer, configuration());
    provider.use(async (context, next) => {
      await next();
      if (context.path === '/token' && tampering !== null && context.status === 200)
        context.body = tampering(context.body);
    });
    listener = provider.callback();
  }
  open();
  return {
    issuer,
    asked,
    variables(name, driver) {
      const prefix = `AUTH_${name.toUpperCase()}`;
      const own = {
        openid: { [`${prefix}_CLIENT_ID`]: 'platform', [`${prefix}_ISSUER_URL`]: issuer },
        oauth2: {
          [`${prefix}_CLIENT_ID`]: 'platform-oauth2',
          [`${prefix}_AUTHORIZE_URL`]: `${issuer}/auth`,
          [`${prefix}_ACCESS_URL`]: `${issuer}/token`,
          [`${prefix}_PROFILE_URL`]: `${issuer}/me`,
          [`${prefix}_SCOPE`]: 'openid profile email',
        },
      };
      return { [`${prefix}_DRIVER`]: driver, [`${prefix}_CLIENT_SECRET`]: secret, ...own[driver] };
    },
    say: (login, claims) => void said.set(login, claims),
    tamper(change) {
      tampering = change;
    },
    distort(path, text) {
      if (text === null) distorted.delete(path);
      else distorted.set(path, text);
    },
    replaceKeys() {
      keySets += 1;
      ({ privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 }));
      open();
    },
    sign({ header, claims }) {
      const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
      return `${text}.${createSign('sha256').update(text).sign(privateKey, 'base64url')}`;
    },
    fail(status) {
      failing = status;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The parts of a token. */
export function partsOf(token: unknown): TokenParts {
  const [header = {}, claims = {}] = String(token)
    .split('.', 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  return { header, claims };
}

/** What a browser was answered. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly location: URL | null;
}

/** Somebody's browser: it keeps the cookies of each origin, and follows nothing by itself. */
export interface Browser {
  cookies(url: string): ReadonlyMap<string, string>;
  ask(url: string | URL, form?: Readonly<Record<string, string>>): Promise<Page>;
  /** Goes from the start of a way to where the provider sends back to; `login` null cancels there. */
  signIn(start: string, login: string | null): Promise<URL>;
}

/** Opens one. */
export function openBrowser(): Browser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string | URL): Map<string, string> => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };

  async function ask(url: string | URL, form?: Readonly<Record<string, string>>): Promise<Page> {
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }) },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '' || /max-age=0\b|expires=thu, 01 jan 1970/i.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    const { status, headers } = response;
    const to = headers.get('location');
    return {
      url: String(url),
      status,
      headers,
      text: await response.text(),
      location: to === null ? null : new URL(to, url),
    };
  }

  async function step({ url, text }: Page, login: string | null): Promise<Page> {
    const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1];
    if (action === undefined) throw new Error(`There is no form on ${url}: ${text}`);
    if (login === null) return ask(`${new URL(action, url).href}/abort`);
    const forms = text.includes('name="login"') ? { prompt: 'login', login, password: 'x' } : { prompt: 'consent' };
    return ask(new URL(action, url), forms);
  }

  return {
    cookies: jarOf,
    ask,
    async signIn(start, login) {
      let page = await ask(start);
      for (let steps = 0; steps < 12; steps++) {
        const { location } = page;
        if (location?.origin === publicUrl) return location;
        page = location === null ? await step(page, login) : await ask(location);
      }
      throw new Error('The provider does not send back.');
    },
  };
}
