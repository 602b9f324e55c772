import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { bundleClient } from '../support/client-bundle.ts';

it('the whole client library stays below 10 kB, minified and compressed', async () => {
  const code = await bundleClient({ minify: true });
  expect(code).toContain('createClient');
  expect(gzipSync(code).length).toBeLessThan(10_000);
});
