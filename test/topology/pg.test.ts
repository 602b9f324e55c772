/** The short form of `npm run topology -- pg`: one failover, one kill, reads behind writes, rights behind a pooler. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pg } from './pg.ts';
import type { CaseRow } from './report.ts';

const { missing } = pg;

it.skipIf(missing !== null)(
  `meets its figures${missing === null ? '' : ` (skipped: ${missing})`}`,
  async () => {
    const folder = mkdtempSync(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'platform-topology-'));
    try {
      const rows = await pg.run(folder, true);
      // Times of a machine that runs other tests beside are those of the command alone; nothing may be stale or lost here.
      const isTimed = ({ name, measured }: CaseRow): boolean =>
        /^(?:first write|right withdrawn|write against)/.test(name) || measured.startsWith('0 stale');
      const failed = rows.filter((row) => !row.isMet && !isTimed(row));
      expect(failed).toEqual([]);
      expect(rows.length).toBeGreaterThan(5);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  180_000,
);
