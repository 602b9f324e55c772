/** The client library as a browser gets it: one module. */
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const entry = fileURLToPath(new URL('../../packages/client/src/index.ts', import.meta.url));

/** Bundles it. */
export async function bundleClient({ minify }: { readonly minify: boolean }): Promise<string> {
  const bundle = await rolldown({ input: entry, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', minify });
  await bundle.close();
  return output[0].code;
}
