import { pathToFileURL } from 'node:url';
import { CommandError } from './exit-codes.ts';

/**
 * Converts an error that keeps the project's own code from being loaded to a failure with its place, an exit code and a
 * hint. Any other error stays as it is, because it is not a mistake in that code.
 */
export function ownCodeError(error: unknown, folder: string, exitCode: number, hint?: string): unknown {
  if (!(error instanceof Error) || error instanceof CommandError) return error;
  const root = `${pathToFileURL(folder).href}/`;
  const frames = (error.stack ?? '').matchAll(/(file:\/\/[^\s?()]+?)(?:\?[^\s:()]*)?:(\d+)/g);
  for (const [, url = '', line] of frames) {
    if (!url.startsWith(root) || url.includes('/node_modules/')) continue;
    const path = decodeURIComponent(url.slice(root.length));
    return new CommandError(exitCode, `${path}:${line} cannot be loaded: ${error.message}`, hint);
  }
  return error;
}
