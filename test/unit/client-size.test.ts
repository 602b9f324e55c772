import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { blogSchema } from '../../packages/compiler/src/testing/blog.ts';
import { bundleClient } from '../support/client-bundle.ts';
import { bytesPerCollection, emitClients } from '../support/client-files.ts';

it('the whole client library stays below 10 kB, minified and compressed', async () => {
  const code = await bundleClient({ minify: true });
  expect(code).toContain('createClient');
  expect(gzipSync(code).length).toBeLessThan(10_000);
});

it('scripts of generated clients stay below 1 kB for each collection, compressed as they are', () => {
  const sizes = bytesPerCollection(emitClients(blogSchema()));
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThan(1_000);
});
