import { registerHooks } from 'node:module';

/**
 * Lets the files of a project import `tablewright` and `@tablewright/…` where neither is installed: they get the packages
 * of this command. A project's own installation comes first.
 */
export function lendPackages(): void {
  registerHooks({
    resolve(specifier, context, next) {
      if (!isOwnPackage(specifier)) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

/** True for an import of `tablewright` or of a package under `@tablewright/`. */
export function isOwnPackage(specifier: string): boolean {
  return /^(@tablewright\/|tablewright(\/|$))/.test(specifier);
}
