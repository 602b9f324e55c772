/** Changes that somebody has agreed to, as a file of the pull request names them. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/**
 * The names in a file, one a line; what stands behind a `#` is for people. Names can have such a sign themselves: of what a
 * line can mean, that is taken which is the name of a change. A file that is not there names nothing.
 */
export async function readAcknowledged(
  path: string | undefined,
  changes: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (path === undefined) return new Set();
  const text = await readFile(resolve(path), 'utf8').catch(() => '');
  const names = text.split('\n').map((line) => nameIn(line, changes));
  return new Set(names.filter((name) => name !== ''));
}

function nameIn(line: string, changes: ReadonlySet<string>): string {
  const whole = line.replace(/^\ufeff?\s*[-*] /, '').trim();
  const signs = [...whole.matchAll(/(?:^|\s)#/g)].map(({ index }) => index);
  const readings = [whole.length, ...signs.reverse()].map((end) => whole.slice(0, end).trim());
  return readings.find((reading) => changes.has(reading)) ?? readings.at(-1) ?? '';
}
