/** The requests of README.md, on the sample as `npm start` serves it. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readText } from '../architecture/files.ts';
import { type Sample, startSample } from '../support/sample.ts';

let sample: Sample;
beforeAll(async () => {
  sample = await startSample();
});
afterAll(() => sample?.close());

it('answers every request of the page', async () => {
  const [, section = ''] = readText('README.md').split(/^## Ten minutes with the sample$/m);
  const [, commands = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(section) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'readme-'));
  try {
    await mkdir(join(folder, '.platform'));
    await writeFile(join(folder, '.platform', 'admin-token'), sample.adminToken);
    const status = `curl() { command curl -sS -o /dev/null -w '%{http_code}\\n' "$@"; }`;
    const script = `${status}\n${commands.replaceAll('http://127.0.0.1:8055', sample.url)}`;
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], { cwd: folder });
    // The fourth one asks for what the public may not see.
    expect(stdout.trim().split('\n')).toEqual(['200', '200', '200', '403', '200', '200', '200']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
