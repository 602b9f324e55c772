/** Every change of the model that the API takes, on the sample as `npm start` serves it: its rules have filters. */
import { expect, it } from 'vitest';
import { failure } from '../support/project.ts';
import type { Sample } from '../support/sample.ts';

/** Declares the tests, which leave the model as it was. */
export function changeModel(sampleOf: () => Sample): void {
  async function done(method: string, path: string, body?: unknown) {
    const answer = await sampleOf().admin(path, { method, body });
    const wanted = method === 'DELETE' ? 204 : 200;
    expect([method, path, answer.status, answer.text]).toEqual([method, path, wanted, answer.text]);
    return answer.json?.data;
  }

  it('makes a collection with a relation to one of the sample, and serves both', async () => {
    const id = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
    await done('POST', '/collections', {
      collection: 'pens',
      schema: {},
      fields: [id, { field: 'ink', type: 'string' }],
    });
    await done('POST', '/fields/pens', { field: 'author', type: 'integer', schema: { is_nullable: true } });
    const relation = {
      collection: 'pens',
      field: 'author',
      related_collection: 'authors',
      meta: { one_field: 'pens' },
    };
    await done('POST', '/relations', { ...relation, schema: { on_delete: 'SET NULL' } });
    await done('POST', '/items/pens', { ink: 'blue', author: 1 });
    expect(await done('GET', '/items/pens?fields=ink,author.pens.ink')).toEqual([
      { ink: 'blue', author: { pens: [{ ink: 'blue' }] } },
    ]);
    const query = '{ pens { ink author { pens { ink } } } }';
    const asked = await sampleOf().unchecked.admin('/graphql', { method: 'POST', body: { query } });
    expect(asked.json).toEqual({ data: { pens: [{ ink: 'blue', author: { pens: [{ ink: 'blue' }] } }] } });
    // Rules of the sample hold as before, and give nothing of what is new.
    expect((await sampleOf().ask('/items/articles?limit=1&fields=status')).json.data).toEqual([
      { status: 'published' },
    ]);
    expect(failure(await sampleOf().ask('/items/pens'))).toBe('403 FORBIDDEN');
  });

  it('changes and drops all of it, and a field of a collection of the sample', async () => {
    await done('PATCH', '/collections/pens', { meta: { note: 'Pens.' } });
    await done('PATCH', '/fields/pens/ink', { schema: { max_length: 20 }, meta: { note: 'Its colour.' } });
    await done('PATCH', '/relations/pens/author', { schema: { on_delete: 'CASCADE' } });
    expect((await done('GET', '/relations/pens/author')).schema.on_delete).toBe('CASCADE');
    await done('POST', '/fields/articles', { field: 'mood', type: 'string' });
    expect((await done('PATCH', '/items/articles/1?fields=mood', { mood: 'merry' })).mood).toBe('merry');
    const refused = await sampleOf().admin('/fields/articles/mood', { method: 'DELETE' });
    expect(failure(refused)).toBe('422 UNPROCESSABLE_ENTITY');
    await done('DELETE', '/fields/articles/mood?data=discard');
    await done('DELETE', '/relations/pens/author');
    await sampleOf().restart();
    expect(await done('GET', '/items/pens?fields=ink,author')).toEqual([{ ink: 'blue', author: 1 }]);
    await done('DELETE', '/fields/pens/ink?data=discard');
    await done('DELETE', '/collections/pens?data=discard');
    expect(failure(await sampleOf().admin('/items/pens'))).toBe('403 FORBIDDEN');
    expect((await sampleOf().admin('/server/health')).json.checks.schema).toEqual({ status: 'ok' });
  });
}
