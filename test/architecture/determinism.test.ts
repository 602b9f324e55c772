/** What is compiled is the same on every machine: nothing on the way knows a locale, a clock, a time zone or chance. */
import { expect, test } from 'vitest';
import { listFiles, readText } from './files.ts';

const local =
  /\blocaleCompare\b|\.toLocale\w+|\bIntl\.|\bnew Date\(\s*\)|\bDate\.now\b|\bMath\.random\b|\brandomUUID\b|\bprocess\.env\b/;

function violations(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !/\.test\.ts$|\/testing\//.test(path) && local.test(readText(path)));
}

test('introspect and compiler ask nothing of the machine', () => {
  const paths = listFiles('packages/introspect/src/**/*.ts', 'packages/compiler/src/**/*.ts');
  expect(paths.length).toBeGreaterThan(200);
  expect(violations(paths)).toEqual([]);
});

test('the law itself finds what does', () => {
  expect(violations(['packages/cli/src/output/staged-files.ts'])).toEqual(['packages/cli/src/output/staged-files.ts']);
});
