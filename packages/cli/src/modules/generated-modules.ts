/** Loads the generated files faster than Node does by itself, which asks the file system about each import. */
import { existsSync, realpathSync } from 'node:fs';
import { type ResolveFnOutput, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CompiledApi } from '@tablewright/runtime';

/** Exports of `server.js`. */
interface Generated {
  readonly api: CompiledApi;
}

/** Imports `server.js` of a folder of generated files with all that it imports. Rejects as `import` does. */
export async function importGenerated(output: string): Promise<Generated> {
  const folder = realpathSync(output);
  const root = `${pathToFileURL(folder).href}/`;
  let runtime: ResolveFnOutput | undefined;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (context.parentURL?.startsWith(root) !== true) return next(specifier, context);
      if (specifier === '@tablewright/runtime') {
        runtime ??= { ...next(specifier, context), shortCircuit: true };
        return runtime;
      }
      const { href } = new URL(specifier, context.parentURL);
      // Node's own message about a missing file is the best.
      const isBeside = href.startsWith(root) && href.endsWith('.js') && existsSync(fileURLToPath(href));
      return isBeside ? { url: href, format: 'module', shortCircuit: true } : next(specifier, context);
    },
  });
  try {
    return await import(pathToFileURL(join(folder, 'server.js')).href);
  } finally {
    hooks.deregister();
  }
}
