/** The sample with its rules in tables, as somebody has it who sets `permissionSource` in its configuration. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { failure } from '../support/project.ts';
import { type Sample, startSample } from '../support/sample.ts';

let sample: Sample;
beforeAll(async () => {
  sample = await startSample({
    async prepare({ project }) {
      const file = join(project, 'platform.config.ts');
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace("output: 'generated',", "output: 'generated', permissionSource: 'tables',"));
    },
  });
});
afterAll(() => sample?.close());

it('a rule is made, changed and taken away, and holds at once and after a start', async () => {
  expect(failure(await sample.ask('/items/orders'))).toBe('403 FORBIDDEN');
  const rule = { role: null, collection: 'orders', action: 'read', fields: ['id'], permissions: { id: { _lte: 2 } } };
  const made = await sample.admin('/permissions', { method: 'POST', body: rule });
  expect(made.status).toBe(200);
  const path = `/permissions/${made.json.data.id}`;
  expect((await sample.ask('/items/orders')).json.data).toHaveLength(2);
  const narrowed = { permissions: { id: { _eq: 1 } } };
  expect((await sample.admin(path, { method: 'PATCH', body: narrowed })).status).toBe(200);
  expect((await sample.ask('/items/orders')).json.data).toHaveLength(1);
  await sample.restart();
  expect((await sample.ask('/items/orders')).json.data).toHaveLength(1);
  expect((await sample.admin(path, { method: 'DELETE' })).status).toBe(204);
  expect(failure(await sample.ask('/items/orders'))).toBe('403 FORBIDDEN');
});
