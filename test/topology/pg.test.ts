/** The short form of `npm run topology -- pg`: one failover, one kill, reads behind writes, rights behind a pooler. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pg } from './pg.ts';

const { missing } = pg;

it.skipIf(missing !== null)(
  `meets its figures${missing === null ? '' : ` (skipped: ${missing})`}`,
  async () => {
    const folder = mkdtempSync(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'platform-topology-'));
    try {
      const rows = await pg.run(folder, true);
      // Waits of a machine that runs other tests beside are longer; nothing may be stale or lost all the same.
      const failed = rows.filter(({ isMet, measured }) => !isMet && !measured.startsWith('0 stale'));
      expect(failed).toEqual([]);
      expect(rows.length).toBeGreaterThan(5);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  180_000,
);
