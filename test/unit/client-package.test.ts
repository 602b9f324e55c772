/** The package of a generated client, as npm would publish it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, Package } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blogSchema } from '../../packages/compiler/src/testing/blog.ts';
import { type ClientFolder, writeClients } from '../support/client-files.ts';

let clients: ClientFolder;
let folder: string;
beforeAll(async () => {
  clients = await writeClients(blogSchema());
  folder = join(clients.folder, 'client', 'admin');
});
afterAll(() => clients?.remove());

it('says of itself what npm and bundlers need', async () => {
  const { messages } = await publint({ pkgDir: folder, pack: false, strict: true });
  expect(messages).toEqual([]);
});

it('has types where its script is, however it is found', async () => {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.\w+$/.test(path));
  const files = Object.fromEntries(
    paths.map((path) => [
      `/node_modules/platform-client-admin/${path.replaceAll('\\', '/')}`,
      readFileSync(join(folder, path), 'utf8'),
    ]),
  );
  const result = await checkPackage(new Package(files, 'platform-client-admin', '0.1.0'));
  const problems = 'problems' in result ? result.problems : ['it has no types'];
  // Scripts are modules, and nothing else: `require` gives them to whoever has Node 20.19 or newer.
  expect(problems.filter((one) => typeof one === 'string' || one.kind !== 'CJSResolvesToESM')).toEqual([]);
});
