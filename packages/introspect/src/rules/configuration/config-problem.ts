import { configPlace } from '../../config/place.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';

/** A name in the configuration that means nothing, with the nearest one that does. */
export function unknownName(
  path: readonly (string | number)[],
  message: string,
  name: string,
  candidates: Iterable<string>,
): Diagnostic {
  return configError(path, 'unknown-name', message, suggest(name, candidates));
}

/** Something in the configuration that cannot be done. */
export function configError(
  path: readonly (string | number)[],
  code: string,
  message: string,
  hint: string | null = null,
): Diagnostic {
  return { code, severity: 'error', place: configPlace(...path), message, hint };
}
