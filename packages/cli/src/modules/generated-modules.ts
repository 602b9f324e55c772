/**
 * Loads the generated files faster than Node does by itself. A thousand collections are a thousand modules. Most of the
 * time to load them goes into removing types, for which a compiler of a whole language reads each. The rest goes into
 * asking the file system where each is. For the platform's own files both is known: where types stand in them, and that
 * an imported file lies beside it. For other tools they stay files of TypeScript that Node loads without help.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { type ResolveFnOutput, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CompiledApi } from '@tablewright/runtime';
import { withoutTypes } from './without-types.ts';

/** Exports of `server.ts`. */
interface Generated {
  readonly api: CompiledApi;
}

/** Imports `server.ts` of a folder of generated files with all that it imports. Rejects as `import` does. */
export async function importGenerated(output: string): Promise<Generated> {
  const folder = realpathSync(output);
  const root = `${pathToFileURL(folder).href}/`;
  let runtime: ResolveFnOutput | undefined;
  const isOwn = (url: string | undefined): boolean => url?.startsWith(root) === true && ownFile.test(url);
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (!isOwn(context.parentURL)) return next(specifier, context);
      if (specifier === '@tablewright/runtime') {
        runtime ??= { ...next(specifier, context), shortCircuit: true };
        return runtime;
      }
      const { href } = new URL(specifier, context.parentURL);
      // Node's own message about a missing file is the best.
      if (!isOwn(href) || !existsSync(fileURLToPath(href))) return next(specifier, context);
      return { url: href, format: 'module', shortCircuit: true };
    },
    load(url, context, next) {
      if (!isOwn(url)) return next(url, context);
      const source = withoutTypes(readFileSync(fileURLToPath(url), 'utf8'));
      if (source === null) return next(url, { ...context, format: 'module-typescript' });
      return { format: 'module', source, shortCircuit: true };
    },
  });
  const { href } = pathToFileURL(join(folder, 'server.ts'));
  try {
    return await import(href);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // A template of the project may print any TypeScript into the lines of a value. Nothing has run yet.
    hooks.deregister();
    return await import(href);
  } finally {
    hooks.deregister();
  }
}

/** Files that hold facts and nothing of the project's own; where a name would have to be escaped, Node resolves it. */
const ownFile = /\/(server|fingerprint|(routes|access)\/[\w-]+)\.ts$/;
