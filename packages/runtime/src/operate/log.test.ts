import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Writes lines that are short, long, and longer than what is written at once, in letters and in bytes. */
const script = `
  import { logLines } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
  for (let index = 0; index < 3_000; index++) {
    const line = index % 500 === 7 ? '漢é'.repeat(20_000) : 'line ' + index + (index % 3 === 0 ? 'x'.repeat(300) : 'é');
    if (index % 50 === 49) logLines.write(line + '\\n');
    else logLines.gather((add) => add(line + '\\n'));
  }`;

it('lines reach their reader whole and in turn, however long they are', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    maxBuffer: 2 ** 24,
  });
  expect(stderr).toBe('');
  const lines = stdout.split('\n');
  expect(lines).toHaveLength(3_001);
  const expected = (index: number): string =>
    index % 500 === 7 ? '漢é'.repeat(20_000) : `line ${index}${index % 3 === 0 ? 'x'.repeat(300) : 'é'}`;
  expect(lines.slice(0, -1).findIndex((line, index) => line !== expected(index))).toBe(-1);
});
