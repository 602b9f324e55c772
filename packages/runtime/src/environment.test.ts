import { describe, expect, test } from 'vitest';
import { optimizations } from './environment/optimizations.ts';
import { type Environment, readEnvironment, type Variables } from './environment.ts';

function read(variables: Variables): Environment {
  const reading = readEnvironment(variables);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.environment;
}

function problems(variables: Variables): readonly string[] {
  const reading = readEnvironment(variables);
  return reading.ok ? [] : reading.problems.map(({ variable }) => variable);
}

test('an empty environment has the defaults of the specification', () => {
  expect(read({})).toEqual({
    production: false,
    host: '127.0.0.1',
    port: 8055,
    publicUrl: null,
    logLevel: 'info',
    shutdownDelay: 0,
    shutdownTimeout: 10_000,
    requestTimeout: 60_000,
    cache: { tagHeader: 'Surrogate-Key', purgeUrls: [] },
    streams: { bufferMax: 67_108_864, clientMax: null, stallTimeout: 10_000 },
    database: {
      url: null,
      failoverWait: null,
      readUrl: null,
      readMaxLag: 5_000,
      readWait: 50,
      listenUrl: null,
      driver: 'auto',
      poolMax: 10,
      poolTimeout: 2000,
      publicStatementTimeout: 10_000,
      streamMax: null,
      statementTimeout: 30_000,
      readOnly: false,
    },
    maxPayloadSize: 1_048_576,
    maxRelationalDepth: 10,
    operate: {
      ...{ accessLog: 'errors', logAddresses: 'network', slowQuery: 500 },
      metrics: { host: '127.0.0.1', port: null, token: null, seriesMax: 5000 },
      tracesModule: null,
    },
    optimizations: new Set(optimizations),
    maxBatchMutation: null,
    idempotencyTtl: 86_400_000,
    queryLimitDefault: 100,
    queryLimitMax: null,
    geoMaxPositions: 10_000,
    queryRowsMax: 1_000_000,
    queryCostMax: 5_000,
    querystringMaxParseDepth: 10,
    querystringArrayLimit: 500,
    cors: null,
    mail: {
      from: 'no-reply@localhost',
      smtp: null,
      reset: { ttl: 86_400_000, allowed: [] },
      invite: { ttl: 604_800_000, allowed: [] },
    },
    adminToken: null,
    auth: {
      secret: null,
      previousSecret: null,
      accessTokenTtl: 900_000,
      refreshTokenTtl: 604_800_000,
      sessionMaxTtl: 7_776_000_000,
      cookie: { name: 'platform_refresh_token', secure: false, sameSite: 'lax', domain: null },
      passwordMinLength: 8,
      loginStallTime: 500,
      disableDefault: false,
      providers: new Map(),
      trustedProxies: [],
      limits: {
        enabled: true,
        duration: 60_000,
        accountPoints: 10,
        addressPoints: 60,
        mailPoints: 5,
        otpPoints: 5,
      },
      administrator: { email: 'admin@example.com', password: null },
    },
    requestLimits: { client: null, global: null, redis: null },
    graphql: {
      limits: { introspection: true, tokens: 5_000, depth: 15, rootFields: 20, aliases: 100, cost: 5_000 },
      graphiql: false,
    },
    docs: false,
    explain: false,
    systemNameAliasPrefix: null,
    files: {
      locations: [{ name: 'local', driver: 'local', root: null }],
      maxUploadSize: 104_857_600,
      cacheTtl: 2_592_000_000,
      transform: { maxDimension: 6000, maxOperations: 5, timeout: 7500, maxConcurrent: 25 },
      import: { denied: [], allowed: [], maxSize: 52_428_800, timeout: 10_000, ports: [80, 443] },
    },
  });
});

test('the cookie is secure unless the server is reached by http on this machine alone', () => {
  const secure = (variables: Variables): boolean => read(variables).auth.cookie.secure;
  for (const url of ['https://localhost', 'http://example.com', 'http://127.0.0.1.example.com', 'http://10.0.0.1']) {
    expect([url, secure({ PUBLIC_URL: url })]).toEqual([url, true]);
  }
  for (const url of ['http://localhost:1', 'http://127.9.9.9', 'http://[::1]:80', 'http://app.localhost']) {
    expect([url, secure({ PUBLIC_URL: url })]).toEqual([url, false]);
  }
  expect(secure({ HOST: '0.0.0.0' })).toBe(true);
  expect(secure({ HOST: '::1' })).toBe(false);
  expect(secure({ REFRESH_TOKEN_COOKIE_SECURE: 'true' })).toBe(true);
});

test('what browsers would drop, and what protects nothing, is refused', () => {
  const secure = { REFRESH_TOKEN_COOKIE_SECURE: 'true' };
  expect(problems({ SECRET: 'x'.repeat(31) })).toEqual(['SECRET']);
  expect(problems({ SECRET: 'é'.repeat(16) })).toEqual([]);
  expect(problems({ REFRESH_TOKEN_COOKIE_NAME: '__Host-t' })).toEqual(['REFRESH_TOKEN_COOKIE_NAME']);
  expect(problems({ ...secure, REFRESH_TOKEN_COOKIE_NAME: '__Host-t' })).toEqual([]);
  expect(
    problems({ ...secure, REFRESH_TOKEN_COOKIE_NAME: '__Host-t', REFRESH_TOKEN_COOKIE_DOMAIN: 'example.com' }),
  ).toEqual(['REFRESH_TOKEN_COOKIE_NAME']);
  expect(problems({ REFRESH_TOKEN_COOKIE_SAME_SITE: 'none' })).toEqual(['REFRESH_TOKEN_COOKIE_SAME_SITE']);
  expect(problems({ ...secure, REFRESH_TOKEN_COOKIE_SAME_SITE: 'None' })).toEqual([]);
  expect(problems({ ADMIN_EMAIL: 'admin', ADMIN_PASSWORD: '1234567' })).toEqual(['ADMIN_EMAIL', 'ADMIN_PASSWORD']);
  expect(problems({ ACCESS_TOKEN_TTL: '25d', REFRESH_TOKEN_TTL: '400d' })).toEqual(['ACCESS_TOKEN_TTL']);
  for (const list of ['10.0.0.0/33', 'example.com', '::/129', '10.0.0.0/8/8', '1.2.3']) {
    expect(problems({ IP_TRUST_PROXY: list })).toEqual(['IP_TRUST_PROXY']);
  }
  expect(read({ IP_TRUST_PROXY: '10.0.0.0/8, ::1' }).auth.trustedProxies).toEqual(['10.0.0.0/8', '::1']);
});

test('durations and sizes have units', () => {
  const environment = read({ SHUTDOWN_TIMEOUT: '500', REQUEST_TIMEOUT: '15m', MAX_PAYLOAD_SIZE: '2MB' });
  expect(environment.shutdownTimeout).toBe(500);
  expect(environment.requestTimeout).toBe(900_000);
  expect(environment.maxPayloadSize).toBe(2_097_152);
  expect(read({ REQUEST_TIMEOUT: '7d', MAX_PAYLOAD_SIZE: '1000' })).toMatchObject({
    requestTimeout: 604_800_000,
    maxPayloadSize: 1000,
  });
});

test('times that may be none take 0', () => {
  const environment = read({ SHUTDOWN_DELAY: '0', DATABASE_PUBLIC_STATEMENT_TIMEOUT: '0', SLOW_QUERY: '0' });
  expect(environment.shutdownDelay).toBe(0);
  expect(environment.database.publicStatementTimeout).toBe(0);
  expect(environment.operate.slowQuery).toBe(0);
});

test('every wrong value is named, all in one go, in the order of the specification', () => {
  const variables = {
    PORT: '99999',
    PUBLIC_URL: 'ftp://example.com',
    LOG_LEVEL: 'loud',
    REQUEST_TIMEOUT: '1 hour',
    DATABASE_URL: 'oracle://root@host/db',
    DATABASE_DRIVER: 'odbc',
    DATABASE_POOL_MAX: '0',
    MAX_PAYLOAD_SIZE: '-1',
    QUERY_LIMIT_MAX: '1e3',
    CORS_ORIGIN: 'example.com',
    CORS_ENABLED: 'yes',
    ADMIN_TOKEN: 'short',
    PLATFORM_OPTIMIZE: 'everything',
  };
  expect(problems(variables).toSorted()).toEqual(Object.keys(variables).toSorted());
});

test('optimisations are all, none or those that are named', () => {
  expect(read({}).optimizations).toEqual(new Set(optimizations));
  expect(read({ PLATFORM_OPTIMIZE: 'none' }).optimizations).toEqual(new Set());
  expect(read({ PLATFORM_OPTIMIZE: 'fast-path, plan-cache' }).optimizations).toEqual(
    new Set(['fast-path', 'plan-cache']),
  );
  expect(problems({ PLATFORM_OPTIMIZE: 'fast-path,speed' })).toEqual(['PLATFORM_OPTIMIZE']);
});

test('the host of an address may be among its parameters', () => {
  const url = 'postgres://shop:x@/shop?host=/cloudsql/project:region:name';
  expect(read({ DATABASE_URL: url }).database.url).toBe(url);
  expect(problems({ DATABASE_URL: 'mysql://shop:x@/shop' })).toEqual(['DATABASE_URL']);
});

test('addresses of servers that do not go together are refused', () => {
  const url = 'postgres://a,b/db';
  expect(read({ DATABASE_URL: url, DATABASE_READ_URL: 'postgres://b/db' }).database.readUrl).toBe('postgres://b/db');
  for (const [variables, refused, sentence] of [
    [{ DATABASE_URL: url, DATABASE_READ_URL: 'mysql://b/db' }, 'DATABASE_READ_URL', 'another kind of server'],
    [{ DATABASE_URL: url, DATABASE_LISTEN_URL: 'mysql://b/db' }, 'DATABASE_LISTEN_URL', 'another kind of server'],
    [{ DATABASE_READ_URL: 'postgres://b/db' }, 'DATABASE_READ_URL', 'names no server'],
    [
      { DATABASE_URL: url, DATABASE_READ_URL: 'postgres://b/db', DATABASE_READ_ONLY: 'true' },
      'DATABASE_READ_URL',
      'are both set',
    ],
    [{ DATABASE_URL: `${url}?target_session_attrs=fastest` }, 'DATABASE_URL', 'target_session_attrs must be'],
  ] as const) {
    const reading = readEnvironment(variables);
    const expected = { variable: refused, message: expect.stringContaining(sentence) };
    expect(reading).toEqual({ ok: false, problems: [expected] });
  }
});

test('a problem never repeats a secret', () => {
  const reading = readEnvironment({ DATABASE_URL: 'hunter2', ADMIN_TOKEN: 'hunter2', REDIS: 'hunter2' });
  expect(JSON.stringify(reading)).not.toContain('hunter2');
});

test('an empty value is an absent one, and inherited names are no variables', () => {
  expect(read({ PORT: ' ', DATABASE_URL: '' })).toEqual(read({}));
  expect(read(Object.create({ PORT: '1' }))).toEqual(read({}));
});

describe('CORS', () => {
  test('is off although origins are given', () => {
    expect(read({ CORS_ORIGIN: 'https://a.example' }).cors).toBeNull();
  });

  test('takes exact origins, and nothing that only looks like one', () => {
    const cors = read({ CORS_ENABLED: 'true', CORS_ORIGIN: 'https://a.example, http://localhost:3000' }).cors;
    expect(cors?.origins).toEqual(['https://a.example', 'http://localhost:3000']);
    for (const wrong of [
      'https://a.example/',
      'https://A.example',
      'null',
      'https://user@a.example',
      'https://*.example/x',
    ]) {
      expect(problems({ CORS_ORIGIN: wrong })).toEqual(['CORS_ORIGIN']);
    }
  });
});

test('limits of requests are off until they are enabled, and judged in any case', () => {
  expect(read({ RATE_LIMITER_ENABLED: 'true', RATE_LIMITER_GLOBAL_ENABLED: 'true' }).requestLimits).toEqual({
    client: { points: 50, duration: 1000 },
    global: { points: 1000, duration: 1000 },
    redis: null,
  });
  const variables = { RATE_LIMITER_POINTS: '7', RATE_LIMITER_DURATION: '1m', REDIS: 'rediss://:secret@cache:6380/2' };
  expect(read(variables).requestLimits).toEqual({ client: null, global: null, redis: variables.REDIS });
  expect(read({ ...variables, RATE_LIMITER_ENABLED: 'true' }).requestLimits.client).toEqual({
    points: 7,
    duration: 60_000,
  });
  for (const wrong of [
    { RATE_LIMITER_POINTS: '0' },
    { RATE_LIMITER_GLOBAL_DURATION: 'often' },
    { REDIS: 'cache:6379' },
  ]) {
    expect(problems(wrong)).toEqual(Object.keys(wrong));
  }
});

test('the token of the administrator is long, visible, and no JSON web token', () => {
  expect(read({ ADMIN_TOKEN: '0123456789abcdef' }).adminToken).toBe('0123456789abcdef');
  expect(problems({ ADMIN_TOKEN: '0123456789abcde' })).toEqual(['ADMIN_TOKEN']);
  expect(problems({ ADMIN_TOKEN: '0123456789 abcdef' })).toEqual(['ADMIN_TOKEN']);
  expect(problems({ ADMIN_TOKEN: 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln' })).toEqual(['ADMIN_TOKEN']);
});

test('a public address loses its last slash', () => {
  expect(read({ PUBLIC_URL: 'https://api.example.com/' }).publicUrl).toBe('https://api.example.com');
  expect(problems({ PUBLIC_URL: 'https://api.example.com/?x=1' })).toEqual(['PUBLIC_URL']);
});

describe('mail', () => {
  test('has a server only when one is named', () => {
    expect(read({ EMAIL_SMTP_USER: 'me' }).mail).toMatchObject({ from: 'no-reply@localhost', smtp: null });
    const { smtp } = read({ EMAIL_SMTP_HOST: 'mail.example.com', EMAIL_SMTP_PASSWORD: 'secret' }).mail;
    expect(smtp).toMatchObject({ host: 'mail.example.com', port: 587, user: null, password: 'secret', secure: false });
    expect(problems({ EMAIL_SMTP_HOST: 'https://mail.example.com' })).toEqual(['EMAIL_SMTP_HOST']);
  });

  test('has one sender', () => {
    expect(read({ EMAIL_FROM: 'Söhne <a@example.com>' }).mail.from).toBe('Söhne <a@example.com>');
    for (const wrong of ['a', 'a@b, c@d', 'a <b@c> <d@e>', 'A\r\nBcc: x@y <b@c>', '<a@b']) {
      expect(problems({ EMAIL_FROM: wrong })).toEqual(['EMAIL_FROM']);
    }
  });

  test('leads to addresses of http without user, query and fragment', () => {
    const { reset } = read({ PASSWORD_RESET_URL_ALLOW_LIST: 'https://a.example/x, http://localhost:3000' }).mail;
    expect(reset).toEqual({ ttl: 86_400_000, allowed: ['https://a.example/x', 'http://localhost:3000'] });
    for (const wrong of [
      'a.example',
      'ftp://a.example',
      'https://u@a.example',
      'https://a.example?x',
      'https:\\\\a.example',
    ]) {
      expect(problems({ USER_INVITE_URL_ALLOW_LIST: wrong })).toEqual(['USER_INVITE_URL_ALLOW_LIST']);
    }
  });
});
