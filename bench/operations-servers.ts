/**
 * Two servers of one project in one process: `node operations-servers.ts PROJECT VARIABLES VARIABLES [MODULE]`. They run
 * the same compiled code, so that they differ by their variables alone. The module is loaded between their starts.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CompiledApi, serve } from '../packages/runtime/src/index.ts';

const [folder = '', first = '', second = '', module = ''] = process.argv.slice(2);
const generated = pathToFileURL(join(folder, 'generated', 'server.js')).href;
const { api }: { readonly api: CompiledApi } = await import(generated);

async function start(variables: string): Promise<string> {
  const server = await serve(api, { variables: { ...process.env, ...JSON.parse(variables) }, signals: false });
  return server.url;
}

const urls = [await start(first)];
if (module !== '') await import(module);
urls.push(await start(second));
process.send?.(urls);
process.on('message', () => process.exit(0));
