/** The short form of a topology as a test: what is lost, stale or refused counts, times of a machine that runs other tests do not. */
import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeDataFolder } from '../support/data-folder.ts';
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
        rmSync(folder, { recursive: true, force: true });
      }
    },
    300_000,
  );
}
