/** Fields without a column: those that structure forms, and sides of relations. */
import { describe, expect, it } from 'vitest';
import { failure } from '../../support/project.ts';
import type { ModelStage } from './stage.ts';

export function askVirtualFields(stage: ModelStage): void {
  const { done, refused } = stage;
  describe('fields without a column', () => {
    const told = async (path: string) => (await stage.model.admin(path)).json.data;
    const side = (field: string, special: string, more: object = {}) => ({
      field,
      type: 'alias',
      schema: null,
      meta: { interface: 'list', special: [special], ...more },
    });

    it('structure forms, and are in no items', async () => {
      await done('POST', '/collections', {
        collection: 'pages',
        schema: {},
        fields: [
          { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
          { field: 'body', type: 'text', meta: { group: 'more' } },
          { field: 'more', type: 'alias', meta: { special: ['alias', 'no-data', 'group'], interface: 'accordion' } },
        ],
      });
      const [hint, line] = await done('POST', '/fields/pages', [
        { field: 'hint', type: 'alias', meta: { note: 'Read me.', group: 'more', options: { text: 'Hm.' }, sort: 1 } },
        { field: 'line', type: 'alias', schema: null, meta: null },
      ]);
      const said = {
        special: ['alias', 'no-data'],
        note: 'Read me.',
        group: 'more',
        options: { text: 'Hm.' },
        sort: 1,
      };
      expect(hint).toMatchObject({ collection: 'pages', field: 'hint', type: 'alias', schema: null, meta: said });
      expect(line.meta).toMatchObject({ special: ['alias', 'no-data'], note: null, hidden: false, width: 'full' });
      const fields = await told('/fields/pages');
      expect(fields.map(({ field }: { field: string }) => field)).toEqual(['id', 'body', 'hint', 'line', 'more']);
      expect(await done('POST', '/items/pages', { body: 'x' })).toEqual({ id: 1, body: 'x' });
      expect(failure(await stage.server.admin('/items/pages?fields=more'))).toBe('403 FORBIDDEN');
      const query = '{ __type(name: "pages") { fields { name } } }';
      const { json } = await stage.server.admin('/graphql', { method: 'POST', body: { query } });
      expect(JSON.stringify(json)).not.toMatch(/more|hint|line/);
      expect(
        await done('PATCH', '/fields/pages/line', { meta: { special: ['alias', 'no-data', 'group'] } }),
      ).toMatchObject({ meta: { special: ['alias', 'no-data', 'group'] } });
      // Fields of a group that goes lie in none.
      await done('DELETE', '/fields/pages/more');
      expect((await told('/fields/pages/body')).meta.group).toBeNull();
      expect((await told('/fields/pages/hint')).meta.group).toBeNull();
      expect(failure(await stage.server.admin('/fields/pages/more'))).toBe('403 FORBIDDEN');
    });

    it('are refused where they cannot be', async () => {
      const field = (name: string, more: object = {}) => ({ field: name, type: 'alias', ...more });
      for (const body of [
        field('line'),
        field('body'),
        field('a b'),
        field('a', { schema: {} }),
        field('a', { meta: { required: true } }),
        field('a', { meta: { special: ['o2m', 'm2m'] } }),
        field('a', { meta: { special: ['o2m', 'no-data'] } }),
        field('a', { meta: { special: ['hash'] } }),
        [field('a'), field('a')],
        { field: 'line', type: 'integer' },
      ]) {
        expect([body, await refused('POST', '/fields/pages', body)]).toEqual([body, '400 INVALID_PAYLOAD']);
      }
      expect(await refused('POST', '/fields/nothing', field('a'))).toBe('403 FORBIDDEN');
      expect(await refused('POST', '/fields/platform_users', field('a'))).toBe('403 FORBIDDEN');
      expect(await refused('PATCH', '/fields/pages/line', { type: 'text' })).toBe('400 INVALID_PAYLOAD');
      expect(await refused('PATCH', '/fields/pages/line', { meta: { required: true } })).toBe('400 INVALID_PAYLOAD');
    });

    it('are sides of relations, said before these are made or after', async () => {
      const before = await done('POST', '/fields/pages', side('remarks', 'o2m', { hidden: true }));
      expect(before).toMatchObject({ type: 'alias', meta: { special: ['o2m'], interface: 'list', hidden: true } });
      expect(failure(await stage.server.admin('/items/pages?fields=remarks'))).toBe('403 FORBIDDEN');
      await done('POST', '/collections', { collection: 'remarks', schema: {} });
      await done(
        'POST',
        '/fields/remarks',
        ['page', 'about'].map((name) => ({ field: name, type: 'integer' })),
      );
      const relation = (name: string, one: string) => ({
        collection: 'remarks',
        field: name,
        related_collection: 'pages',
        meta: { one_field: one },
      });
      expect(await refused('POST', '/relations', relation('page', 'line'))).toBe('400 INVALID_PAYLOAD');
      // Names of sides are names of fields.
      for (const name of ['two words', '1st', '_some', 'a.b', 'a,b', 'ä', '$NOW', '__proto__', 'x'.repeat(64)]) {
        expect([name, await refused('POST', '/relations', relation('page', name))]).toEqual([
          name,
          '400 INVALID_PAYLOAD',
        ]);
        const link = { one_collection_field: 'kind', one_allowed_collections: ['pages'], junction_field: 'about' };
        const any = {
          collection: 'remarks',
          field: 'page',
          related_collection: null,
          meta: { ...link, one_field: name },
        };
        expect([name, await refused('POST', '/relations', any)]).toEqual([name, '400 INVALID_PAYLOAD']);
      }
      // Only a relation to items of several collections has these; null is how a relation to one collection shows them.
      const several = { one_collection_field: 'kind', one_allowed_collections: ['pages'] };
      const none = { one_collection_field: null, one_allowed_collections: null };
      const plain = relation('page', 'remarks');
      for (const [name, value] of Object.entries(several)) {
        const wrong = { ...plain, meta: { ...plain.meta, [name]: value } };
        expect([name, await refused('POST', '/relations', wrong)]).toEqual([name, '400 INVALID_PAYLOAD']);
      }
      await done('POST', '/relations', [{ ...plain, meta: { ...plain.meta, ...none } }, relation('about', 'replies')]);
      for (const [name, value] of Object.entries(several)) {
        const wrong = { meta: { [name]: value } };
        expect([name, await refused('PATCH', '/relations/remarks/page', wrong)]).toEqual([name, '400 INVALID_PAYLOAD']);
      }
      await done('PATCH', '/relations/remarks/page', { meta: none });
      expect((await told('/fields/pages/remarks')).meta).toMatchObject({ special: ['o2m'], hidden: true });
      expect(await refused('POST', '/fields/pages', side('remarks', 'o2m'))).toBe('400 INVALID_PAYLOAD');
      expect(await refused('POST', '/fields/pages', side('replies', 'm2m'))).toBe('400 INVALID_PAYLOAD');
      expect((await done('POST', '/fields/pages', side('replies', 'o2m'))).meta.interface).toBe('list');
      expect(await refused('POST', '/fields/pages', side('replies', 'o2m'))).toBe('400 INVALID_PAYLOAD');
      const item = await done('PATCH', '/items/pages/1?fields=remarks,replies.page', { remarks: [{}], replies: [{}] });
      expect(item).toEqual({ remarks: [1], replies: [{ page: null }] });
      // Facts of a side have its name, and go with its relation.
      expect(await refused('PATCH', '/relations/remarks/about', { meta: { one_field: 'the answers' } })).toBe(
        '400 INVALID_PAYLOAD',
      );
      await done('PATCH', '/relations/remarks/about', { meta: { one_field: 'answers' } });
      expect((await told('/fields/pages/answers')).meta.interface).toBe('list');
      expect(failure(await stage.server.admin('/fields/pages/replies'))).toBe('403 FORBIDDEN');
      await done('DELETE', '/relations/remarks/page');
      expect(failure(await stage.server.admin('/fields/pages/remarks'))).toBe('403 FORBIDDEN');
      await done('DELETE', '/collections/remarks?data=discard');
      expect(failure(await stage.server.admin('/fields/pages/answers'))).toBe('403 FORBIDDEN');
    });

    it('lead through junctions that are made after them, in any order', async () => {
      await done('POST', '/fields/pages', side('topics', 'm2m'));
      await done('POST', '/collections', [
        { collection: 'topics', schema: {} },
        {
          collection: 'pages_topics',
          schema: {},
          meta: { hidden: true },
          fields: [
            { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
            { field: 'page', type: 'integer' },
            { field: 'topic', type: 'integer' },
          ],
        },
      ]);
      const relation = (field: string, related: string, meta: object) => ({
        ...{ collection: 'pages_topics', field, related_collection: related, meta },
      });
      await done('POST', '/relations', relation('page', 'pages', { one_field: 'topics', junction_field: 'topic' }));
      await done('POST', '/relations', relation('topic', 'topics', { junction_field: 'page' }));
      expect(await told('/fields/pages/topics')).toMatchObject({ meta: { special: ['m2m'], interface: 'list' } });
      const item = await done('PATCH', '/items/pages/1?fields=topics.id', { topics: [{}] });
      expect(item).toEqual({ topics: [{ id: 1 }] });
      await done('DELETE', '/collections/pages_topics?data=discard');
      expect(failure(await stage.server.admin('/fields/pages/topics'))).toBe('403 FORBIDDEN');
    });

    it('are translations where they say so, once their child leads to languages', async () => {
      await done('POST', '/fields/pages', side('texts', 'translations'));
      await done('POST', '/collections', [
        {
          collection: 'languages',
          schema: {},
          fields: [{ field: 'code', type: 'string', schema: { is_primary_key: true, max_length: 5 } }],
        },
        {
          collection: 'pages_texts',
          schema: {},
          fields: [
            { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
            { field: 'page', type: 'integer' },
            { field: 'language', type: 'string', schema: { max_length: 5 } },
            { field: 'title', type: 'string' },
          ],
        },
      ]);
      const relation = (field: string, related: string, meta: object) => ({
        ...{ collection: 'pages_texts', field, related_collection: related, meta },
      });
      await done('POST', '/relations', relation('page', 'pages', { one_field: 'texts', junction_field: 'language' }));
      await done('POST', '/relations', relation('language', 'languages', { junction_field: 'page' }));
      expect(await told('/fields/pages/texts')).toMatchObject({
        meta: { special: ['translations'], interface: 'list' },
      });
      await done('POST', '/items/languages', [{ code: 'en' }]);
      const texts = [{ language: 'en', title: 'One' }];
      expect(await done('PATCH', '/items/pages/1?fields=texts.language,texts.title', { texts })).toEqual({ texts });
      await done('DELETE', '/collections/pages_texts?data=discard');
      expect(failure(await stage.server.admin('/fields/pages/texts'))).toBe('403 FORBIDDEN');
    });
  });
}
