/** The questions of `create-tablewright`, answered on a terminal (`script` of util-linux makes one). */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const command = join(import.meta.dirname, '../../packages/create/bin/create-tablewright.cjs');
const hasTerminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'questions-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const folder = 'Folder (my-api)';
const database = 'URL of a PostgreSQL, MySQL or MariaDB database';
const template = 'Template, api or vite-react (api)';
const enter = '\r';

/** Answers each question as soon as it is asked, and resolves to the exit code and all that was on the terminal. */
async function answer(answers: readonly (readonly [question: string, keys: string])[]) {
  const line = `'${process.execPath}' '${command}' --no-install`;
  const terminal = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], { cwd: root });
  const waiting = [...answers];
  let screen = '';
  let place = 0;
  terminal.stdout.on('data', (chunk) => {
    screen += String(chunk);
    const [question, keys] = waiting[0] ?? [];
    if (question === undefined || keys === undefined || !screen.includes(question, place)) return;
    place = screen.length;
    waiting.shift();
    terminal.stdin.write(keys);
  });
  const [code] = await once(terminal, 'close');
  expect(waiting).toEqual([]);
  return { code, screen };
}

describe.skipIf(!hasTerminal)(
  `questions${hasTerminal ? '' : ' (skipped: script of util-linux is not installed)'}`,
  () => {
    test('take the defaults by Enter', async () => {
      const { code } = await answer([folder, database, template].map((question) => [question, enter]));
      expect(code).toBe(0);
      expect(readdirSync(join(root, 'my-api'))).toEqual(expect.arrayContaining(['migrations', 'permissions.yaml']));
      expect(existsSync(join(root, 'my-api/.env'))).toBe(false);
    });

    test('take answers', async () => {
      const url = 'postgresql://me:secret@127.0.0.1/shop';
      const { code } = await answer([
        [folder, `shop${enter}`],
        [database, `${url}${enter}`],
        [template, `vite-react${enter}`],
      ]);
      expect(code).toBe(0);
      expect(readFileSync(join(root, 'shop/.env'), 'utf8')).toContain(`DATABASE_URL='${url}'`);
      expect(readdirSync(join(root, 'shop'))).toContain('vite.config.ts');
    });

    test('are asked again after a wrong answer', async () => {
      const { code, screen } = await answer([
        [folder, `My Shop${enter}`],
        [folder, `shop${enter}`],
        [database, `postgress://me@host/x${enter}`],
        [database, enter],
        [template, `vue${enter}`],
        [template, enter],
      ]);
      expect(code).toBe(0);
      expect(screen).toContain('npm takes no package called "My Shop".');
      expect(screen).toContain('Write postgres:// in front.');
      expect(screen).toContain('There is no template "vue".');
      expect(readdirSync(root)).toEqual(['shop']);
    });

    test.each([
      ['Ctrl-C', '\u0003'],
      ['Ctrl-D', '\u0004'],
    ])('leave nothing after %s', async (_, keys) => {
      const { code, screen } = await answer([
        [folder, `shop${enter}`],
        [database, keys],
      ]);
      expect(code).toBe(130);
      expect(screen).toContain('Stopped: nothing was written.');
      expect(screen).not.toContain('    at ');
      expect(readdirSync(root)).toEqual([]);
    });
  },
);
