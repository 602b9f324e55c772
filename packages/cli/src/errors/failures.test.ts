import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CommandError, knownFailure, ownCodeError } from './failures.ts';

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function failed(message: string, more: object): Error {
  return Object.assign(new Error(message), more);
}

test('what the file system refuses names the file and is no bug', () => {
  expect(knownFailure(thrown(() => readFileSync('.')))).toMatchObject({ exitCode: 2 });
  expect(knownFailure(thrown(() => readdirSync('package.json')))).toMatchObject({
    message: expect.stringMatching(/^The file system refuses: ENOTDIR: .*package\.json'\.$/),
  });
});

test('what a database refuses or cannot do now is no bug, whichever driver says so', () => {
  const denied = failed('permission denied for table a', { code: '42501', severity: 'ERROR' });
  for (const error of [
    denied,
    new Error('The service is temporarily unavailable.', { cause: denied }),
    failed('permission denied for table a', { sqlstate: '42501' }),
    failed('SELECT command denied', { code: 'ER_TABLEACCESS_DENIED_ERROR', errno: 1142, sqlState: '42000' }),
    failed('canceling statement due to user request', { code: '57014' }),
  ]) {
    const failure = knownFailure(error);
    expect(failure).toBeInstanceOf(CommandError);
    expect(failure).toMatchObject({ exitCode: 3, message: expect.stringMatching(/^The database refuses: .*\.$/) });
  }
});

test('a database that ends the connection is no bug, and says so whichever driver tells', () => {
  for (const error of [
    failed('terminating connection due to administrator command', { code: '57P01' }),
    failed('read ECONNRESET', { code: 'ECONNRESET', errno: -104, syscall: 'read' }),
    failed('Server shutdown in progress', { code: 'ER_SERVER_SHUTDOWN', errno: 1053, sqlState: '08S01' }),
    new Error('The service is temporarily unavailable.', { cause: new Error('Connection terminated unexpectedly') }),
  ]) {
    const message = 'The database cannot be used: it ended the connection.';
    expect(knownFailure(error)).toMatchObject({ exitCode: 3, message });
  }
});

test('a stack that ends says where, and is no bug', () => {
  const descend = (): number => descend() + 1;
  expect(knownFailure(thrown(descend))).toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(/nests too deeply, or leads back to itself \(in descend\)\.$/),
  });
});

test.each(['./prices', 'no-such-package'])(
  'an import that leads nowhere is told by the file that has it: %s',
  async (name) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'platform-import-')));
    const path = join(folder, 'hooks.mjs');
    writeFileSync(path, `import '${name}';\n`);
    const error: unknown = await import(path).catch((reason: unknown) => reason);
    expect(ownCodeError(error, { folder, output: join(folder, 'generated') }, 4)).toMatchObject({
      exitCode: 4,
      message: expect.stringMatching(/^hooks\.mjs cannot be loaded: Cannot find (?:module|package) '.*'\.$/),
      hint: expect.stringMatching(/^Install the package .* `\.\/prices\.ts`\.$/),
    });
    // Generated files that are missing are for `platform generate` to write.
    expect(ownCodeError(error, { folder, output: folder }, 4)).toBe(error);
    rmSync(folder, { recursive: true });
  },
);

test('everything else stays what it is', () => {
  for (const error of [
    failed('syntax error at or near "FORM"', { code: '42601' }),
    failed('You have an error in your SQL syntax', { code: 'ER_PARSE_ERROR', errno: 1064, sqlState: '42000' }),
    failed('no such file', { code: 'ENOENT', syscall: 'open' }),
    new TypeError('undefined is not a function'),
    new CommandError(1, 'EISDIR'),
    'a text',
  ]) {
    expect(knownFailure(error)).toBe(error);
  }
});
