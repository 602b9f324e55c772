/** Budgets of the packages, in bytes. Source: specification of the product, section 9. */
import { readdirSync, type Stats, statSync } from 'node:fs';
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

/** Bytes of all files below a folder, as registries state an unpacked size: the measure of the budgets. Links count for nothing. */
export function sizeOf(folder: string): number {
  return filesBelow(folder).reduce((sum, { size }) => sum + size, 0);
}

/** Bytes of the blocks that the files take, as `du` states them: they differ by file system. */
export function sizeOnDisk(folder: string): number {
  return filesBelow(folder).reduce((sum, { blocks }) => sum + blocks * 512, 0);
}

function filesBelow(folder: string): readonly Stats[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => statSync(join(entry.parentPath, entry.name)));
}
