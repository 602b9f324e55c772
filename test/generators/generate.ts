/**
 * Runs one generator of clients, or Spectral, over documents: `node generate.ts orval document.json folder …`, a folder for
 * the output behind each document. A process of its own, because they keep much in memory and some print.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Reads a document and writes into a folder. */
type Tool = (document: string, folder: string) => Promise<unknown>;

const tools: Readonly<Record<string, Tool>> = {
  async 'openapi-typescript'(document, folder) {
    const { default: generate, astToString } = await import('openapi-typescript');
    writeFileSync(
      join(folder, 'api.ts'),
      astToString(await generate(readFileSync(document, 'utf8'), { silent: true })),
    );
  },
  async 'directus-typescript-gen'(document, folder) {
    const { generateTypeScript } = await import('directus-typescript-gen');
    const types = await generateTypeScript(JSON.parse(readFileSync(document, 'utf8')), { typeName: 'Collections' });
    writeFileSync(join(folder, 'api.ts'), types);
  },
  async orval(document, folder) {
    const { generate } = await import('orval');
    return generate({ input: { target: document }, output: { target: join(folder, 'api.ts'), client: 'fetch' } });
  },
  async 'swagger-typescript-api'(document, folder) {
    const { generateApi } = await import('swagger-typescript-api');
    return generateApi({ input: document, output: folder, fileName: 'api.ts', silent: true });
  },
  async 'hey-api'(document, folder) {
    const { createClient } = await import('@hey-api/openapi-ts');
    return createClient({
      input: document,
      output: { path: join(folder, 'api'), module: { extension: '.ts' } },
      logs: { level: 'silent' },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    });
  },
  async spectral(document, folder) {
    const [{ default: core }, { default: rulesets }] = await Promise.all([
      import('@stoplight/spectral-core'),
      import('@stoplight/spectral-rulesets'),
    ]);
    const spectral = new core.Spectral();
    spectral.setRuleset(new core.Ruleset({ extends: [[rulesets.oas, 'recommended']] }));
    const found = await spectral.run(readFileSync(document, 'utf8'));
    const lines = found.map(({ severity, code, path }) => ({ severity, code, path: path.join('/') }));
    writeFileSync(join(folder, 'found.json'), JSON.stringify(lines));
  },
};

const [name = '', ...places] = process.argv.slice(2);
const tool = tools[name];
if (tool === undefined) throw new Error(`There is no generator "${name}".`);
for (let at = 0; at + 1 < places.length; at += 2) {
  const folder = resolve(places[at + 1] ?? '');
  mkdirSync(folder, { recursive: true });
  await tool(resolve(places[at] ?? ''), folder);
}
// Some of them watch files, or keep workers.
process.exit(0);
