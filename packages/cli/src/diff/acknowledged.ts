/** Accepted changes, as a file of the pull request names them. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/**
 * The names in a file, one a line; text after a `#` is for people. Names can contain such a sign themselves: among the
 * possible readings of a line, the one that is the name of a change is taken. A missing file names nothing.
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
