/** Budgets of the packages, in bytes. Source: specification of the product, section 9. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What a measured thing may weigh. */
export interface Budget {
  readonly what: string;
  readonly limit: number;
}

const megabyte = 1_000_000;

/** All budgets, in the order in which they are printed. */
export const budgets = {
  command: { what: 'tablewright, installed', limit: 130 * megabyte },
  runtime: { what: '@tablewright/runtime --omit=optional, installed', limit: 65 * megabyte },
  packed: { what: 'own tarballs together, packed', limit: 12 * megabyte },
  client: { what: 'client, minified and compressed', limit: 10_000 },
} as const satisfies Readonly<Record<string, Budget>>;

/** Bytes of all files below a folder; links count for nothing. */
export function sizeOf(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
