import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEnvironment } from '../environment.ts';
import { variableText } from './variable-text.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-variables-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('a file stands for its variable, without one line break at its end', () => {
  for (const [text, value] of [
    ['plain', 'plain'],
    ['one\n', 'one'],
    ['windows\r\n', 'windows'],
    ['two\n\n', 'two\n'],
    [' kept ', ' kept '],
  ] as const) {
    expect(variableText({ SECRET_FILE: file('text', text) }, 'SECRET')).toEqual({ value });
  }
  expect(variableText({ SECRET: ' given ', SECRET_FILE: '' }, 'SECRET')).toEqual({ value: 'given' });
  expect(variableText({}, 'SECRET')).toEqual({ value: '' });
});

test('what cannot be used is told by the name of the variable, never by its content', () => {
  const marker = 'marker-of-a-secret';
  for (const [variables, problem] of [
    [{ SECRET: marker, SECRET_FILE: file('both', marker) }, 'SECRET and SECRET_FILE are both set: remove one of them.'],
    [{ SECRET_FILE: join(folder, 'absent') }, 'SECRET_FILE names a file that does not exist.'],
    [{ SECRET_FILE: folder }, 'SECRET_FILE names a file that is a folder.'],
    [{ SECRET_FILE: file('empty', '\n') }, 'SECRET_FILE names a file that is empty.'],
    [{ SECRET_FILE: file('large', marker.repeat(5000)) }, 'SECRET_FILE names a file that is larger than 64 kB.'],
    [{ SECRET_FILE: '/dev/zero' }, 'SECRET_FILE names a file that is larger than 64 kB.'],
  ] as const) {
    expect(variableText(variables, 'SECRET')).toEqual({ problem });
    expect(readEnvironment(variables)).toEqual({ ok: false, problems: [{ variable: 'SECRET', message: problem }] });
  }
});

test('every variable can come from a file; others that end with _FILE are left alone', () => {
  const variables = {
    DATABASE_URL_FILE: file('url', 'postgres://a:b@localhost/c\n'),
    ADMIN_PASSWORD_FILE: file('password', 'long enough\n'),
    PORT_FILE: file('port', '8099'),
    COMPOSE_FILE: '/nowhere/compose.yaml',
  };
  expect(readEnvironment(variables)).toMatchObject({
    ok: true,
    environment: {
      port: 8099,
      database: { url: 'postgres://a:b@localhost/c' },
      auth: { administrator: { password: 'long enough' } },
    },
  });
  expect(readEnvironment({ PORT_FILE: file('port', 'x') })).toMatchObject({ problems: [{ variable: 'PORT' }] });
});
