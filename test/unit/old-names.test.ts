/** Names that packages had before belong to others: nothing that is emitted, documented or copied into projects has them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const paths = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
/** The files that tell people what to write instead of old names. */
const telling = /^(?:packages\/cli\/src\/project\/renamed-packages(?:\.test)?\.ts|test\/unit\/old-names\.test\.ts)$/;

test('stand in no file of the repository, emitted ones among them', () => {
  const texts = paths.filter((path) => path !== '' && !telling.test(path) && existsSync(join(root, path)));
  expect(texts.filter((path) => path.startsWith('test/golden/') && path.endsWith('.js'))).not.toEqual([]);
  expect(texts.filter((path) => readFileSync(join(root, path)).includes('@platform/'))).toEqual([]);
});
