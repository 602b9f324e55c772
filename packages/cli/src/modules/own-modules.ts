import { registerHooks } from 'node:module';

/** Import of a module of ours by another one of its package. */
const neighbour = /^\.\.?\/[\w./-]+\.[jt]s$/;

/** Other packages of this command: each lies where the package manager puts it, beside packages of other people. */
const packages = ['@tablewright/compiler', '@tablewright/introspect', '@tablewright/runtime'];

/**
 * Has Node find the modules of this command where they say that they are. By itself it asks the file system about each,
 * and about the package that it belongs to. That is a tenth of the time that a server takes to start.
 */
export function findOwnModules(): void {
  const entries = [import.meta.url, ...packages.map((name) => import.meta.resolve(name))];
  const folders = entries.map((entry) => new URL('..', entry).href);
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '' } = context;
      const isOwn = neighbour.test(specifier) && folders.some((folder) => parentURL.startsWith(folder));
      if (!isOwn) return next(specifier, context);
      const { href } = new URL(specifier, parentURL);
      return { url: href, format: href.endsWith('.ts') ? 'module-typescript' : 'module', shortCircuit: true };
    },
  });
}
