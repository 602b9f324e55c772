/** The short form of a topology as a test: what is lost, stale or refused counts, times of a machine that runs other tests do not. */
import { expect, it } from 'vitest';
import { makeDataFolder, removeDataFolder } from '../support/data-folder.ts';
import type { Topology } from './report.ts';

/** Declares it. */
export function testShort({ missing, run }: Topology, minRows: number): void {
  it.skipIf(missing !== null)(
    `meets its figures${missing === null ? '' : ` (skipped: ${missing})`}`,
    async () => {
      const folder = makeDataFolder('topology');
      try {
        const rows = await run(folder, true);
        expect(rows.filter(({ isMet, isLate }) => !isMet && isLate !== true)).toEqual([]);
        expect(rows.length).toBeGreaterThanOrEqual(minRows);
      } finally {
        removeDataFolder(folder);
      }
    },
    300_000,
  );
}
