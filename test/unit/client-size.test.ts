import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { blogSchema } from '../../packages/compiler/src/testing/blog.ts';
import { bundleClient } from '../support/client-bundle.ts';
import { emitClients } from '../support/client-files.ts';

it('the whole client library stays below 10 kB, minified and compressed', async () => {
  const code = await bundleClient({ minify: true });
  expect(code).toContain('createClient');
  expect(gzipSync(code).length).toBeLessThan(10_000);
});

it('scripts of generated clients stay below 1 kB for each collection, compressed as they are', () => {
  const schema = blogSchema();
  const scripts = emitClients(schema).filter(({ path }) => path.endsWith('/index.js'));
  expect(scripts.length).toBeGreaterThan(1);
  for (const { contents } of scripts) {
    expect(gzipSync(contents).length / schema.collections.length).toBeLessThan(1_000);
  }
});
