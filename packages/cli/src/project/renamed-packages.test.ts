import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSettings } from './settings.ts';

test('names file, line and the line to write, and loads nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'renamed-'));
  mkdirSync(join(folder, 'extensions/lib'), { recursive: true });
  const config =
    "// Old.\nimport { defineConfig } from '@platform/cli/config';\nthrow new Error('this must not run');\n";
  writeFileSync(join(folder, 'platform.config.ts'), config);
  writeFileSync(join(folder, 'extensions/lib/a.mts'), 'import type { Json } from "@platform/runtime";\n');
  const failure = loadSettings(folder);
  await expect(failure).rejects.toMatchObject({
    exitCode: 1,
    diagnostics: [
      {
        code: 'renamed-package',
        place: 'platform.config.ts:2',
        hint: "Write: import { defineConfig } from 'tablewright/config';",
      },
      { place: 'extensions/lib/a.mts:1', hint: 'Write: import type { Json } from "@tablewright/runtime";' },
    ],
  });
  await expect(failure).rejects.toThrow('platform.config.ts:2');
  rmSync(folder, { recursive: true });
});
