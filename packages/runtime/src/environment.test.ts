import { describe, expect, test } from 'vitest';
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
    host: '127.0.0.1',
    port: 8055,
    publicUrl: null,
    logLevel: 'info',
    shutdownTimeout: 10_000,
    requestTimeout: 60_000,
    database: { url: null, driver: 'auto', poolMax: 10, poolTimeout: 2000, statementTimeout: 30_000 },
    maxPayloadSize: 1_048_576,
    maxRelationalDepth: 10,
    maxBatchMutation: null,
    idempotencyTtl: 86_400_000,
    queryLimitDefault: 100,
    queryLimitMax: null,
    queryRowsMax: 1_000_000_000,
    querystringMaxParseDepth: 10,
    querystringArrayLimit: 500,
    cors: null,
    adminToken: null,
  });
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

test('every wrong value is named, all in one go, in the order of the specification', () => {
  const variables = {
    PORT: '99999',
    PUBLIC_URL: 'ftp://example.com',
    LOG_LEVEL: 'loud',
    REQUEST_TIMEOUT: '1 hour',
    DATABASE_URL: 'mysql://root@host/db',
    DATABASE_DRIVER: 'odbc',
    DATABASE_POOL_MAX: '0',
    MAX_PAYLOAD_SIZE: '-1',
    QUERY_LIMIT_MAX: '1e3',
    CORS_ORIGIN: 'example.com',
    CORS_ENABLED: 'yes',
    ADMIN_TOKEN: 'short',
  };
  expect(problems(variables).toSorted()).toEqual(Object.keys(variables).toSorted());
});

test('a problem never repeats a secret', () => {
  const reading = readEnvironment({ DATABASE_URL: 'hunter2', ADMIN_TOKEN: 'hunter2' });
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
