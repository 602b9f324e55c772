/** Foreign keys with their indexes and the names of both sides. */
import { describe, expect, it } from 'vitest';
import { failure } from '../../support/project.ts';
import type { ModelStage } from './stage.ts';

export function askRelations(stage: ModelStage): void {
  const { done, onPostgres, refused, run, send } = stage;
  describe('relations', () => {
    it('are made of fields, with their foreign key and the name of the other side', async () => {
      const made = await done('POST', '/relations', {
        collection: 'books',
        field: 'shelf',
        related_collection: 'shelves',
        schema: { on_delete: 'CASCADE' },
        meta: { one_field: 'contents', sort_field: 'title' },
      });
      expect(made).toMatchObject({
        related_collection: 'shelves',
        schema: { constraint_name: 'books_shelf_fkey', on_delete: 'CASCADE' },
        meta: { one_field: 'contents', sort_field: 'title', one_deselect_action: 'nullify' },
      });
      await done('PATCH', '/items/shelves/1', { contents: [{ title: 'Two' }, { title: 'Three' }] });
      const read = await stage.server.admin('/items/shelves/1?fields=contents.title,contents.shelf.name');
      expect(read.json.data.contents).toEqual([
        { title: 'Three', shelf: { name: 'one' } },
        { title: 'Two', shelf: { name: 'one' } },
      ]);
      const indexes = onPostgres
        ? "SELECT indexname FROM pg_indexes WHERE indexname = 'books_shelf_idx'"
        : "SELECT index_name FROM information_schema.statistics WHERE index_name = 'books_shelf_idx' AND table_schema = database()";
      expect(await run(indexes)).toHaveLength(1);
      const changed = await done('PATCH', '/relations/books/shelf', {
        schema: { on_delete: 'SET NULL' },
        meta: { one_field: 'stock', one_deselect_action: 'delete' },
      });
      expect(changed).toMatchObject({
        schema: { on_delete: 'SET NULL', on_update: 'NO ACTION' },
        meta: { one_field: 'stock', sort_field: 'title', one_deselect_action: 'delete' },
      });
      expect((await stage.server.admin('/items/shelves/1?fields=stock.title')).json.data.stock).toHaveLength(2);
      // The other side has no column, and can be described all the same.
      const side = (await stage.server.admin('/fields/shelves/stock')).json.data;
      const described = await done('PATCH', '/fields/shelves/stock', {
        ...side,
        meta: { ...side.meta, interface: 'list', hidden: true, options: { rows: 5 }, sort: 9 },
      });
      const said = { interface: 'list', hidden: true, options: { rows: 5 }, sort: 9, special: ['o2m'] };
      expect(described).toMatchObject({ field: 'stock', type: 'alias', schema: null, meta: said });
      for (const body of [
        { type: 'text' },
        { schema: {} },
        { meta: { special: ['m2m'] } },
        { meta: { required: true } },
      ]) {
        expect([body, await refused('PATCH', '/fields/shelves/stock', body)]).toEqual([body, '400 INVALID_PAYLOAD']);
      }
      expect(await refused('DELETE', '/fields/shelves/stock')).toBe('400 INVALID_PAYLOAD');
    });

    it('have keys of their own where names are long, and check these when they did', async () => {
      const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
      const collection = 'a'.repeat(40);
      const named = ['first', 'second'].map((end) => `${'of_a_shelf_that_is_the_'.repeat(2)}${end}`);
      const fields = [key, ...named.map((field) => ({ field, type: 'integer' }))];
      await done('POST', '/collections', { collection, schema: {}, fields });
      const relation = (field: string) => ({ collection, field, related_collection: 'shelves' });
      const made = await done('POST', '/relations', named.map(relation));
      const names = made.map((one: { schema: { constraint_name: string } }) => one.schema.constraint_name);
      expect(new Set(names).size).toBe(2);
      await done('DELETE', `/collections/${collection}`);
      if (!onPostgres) return;
      // The usual name is that of an index of another table.
      await run('CREATE INDEX shops_shelf_idx ON shelves (name)');
      const number = { type: 'integer' };
      const places = [key, { field: 'shelf', ...number }, { field: 'code', ...number, schema: { is_unique: true } }];
      await done('POST', '/collections', { collection: 'shops', schema: {}, fields: places });
      for (const name of ['shelf', 'code']) {
        const held = { collection: 'shops', field: name, related_collection: 'shelves' };
        await done('POST', '/relations', held);
        await done('DELETE', `/relations/shops/${name}`);
        await done('POST', '/relations', held);
      }
      const indexes = await run("SELECT indexdef FROM pg_indexes WHERE tablename = 'shops' ORDER BY indexname");
      expect(indexes.map(({ indexdef }) => String(indexdef).replace(/ INDEX .* (?=\()/, ' '))).toEqual([
        'CREATE UNIQUE (code)',
        'CREATE UNIQUE (id)',
        'CREATE (shelf)',
      ]);
      await done('DELETE', '/collections/shops');
      await run('DROP INDEX shops_shelf_idx');
      await done('PATCH', '/relations/coupons/shelf', { schema: { on_delete: 'CASCADE' } });
      expect(
        await run("SELECT confdeltype, condeferred FROM pg_constraint WHERE conname = 'coupons_shelf_fkey'"),
      ).toEqual([{ confdeltype: 'c', condeferred: true }]);
    });

    it('have indexes and types of their own where names of tables and columns come to the same', async () => {
      const kind = { type: 'enum', meta: { options: { choices: [{ text: 'A', value: 'a' }] } } };
      const pairs = [
        { collection: 'tin', field: 'lid_shelf', other: 'lid_kind' },
        { collection: 'tin_lid', field: 'shelf', other: 'kind' },
      ] as const;
      const relations: unknown[] = [];
      for (const { collection, field, other } of pairs) {
        await done('POST', '/collections', { collection, schema: {} });
        await done('POST', `/fields/${collection}`, [
          { field, type: 'integer' },
          { field: other, ...kind },
        ]);
        relations.push(await done('POST', '/relations', { collection, field, related_collection: 'shelves' }));
      }
      expect(relations).toMatchObject(pairs.map(({ collection, field }) => ({ collection, field })));
      const indexes = onPostgres
        ? "SELECT tablename FROM pg_indexes WHERE tablename IN ('tin', 'tin_lid') AND indexdef LIKE '%shelf)'"
        : "SELECT table_name FROM information_schema.statistics WHERE table_schema = database() AND table_name IN ('tin', 'tin_lid') AND column_name LIKE '%shelf'";
      expect(await run(indexes)).toHaveLength(2);
      for (const { collection } of pairs) await done('DELETE', `/collections/${collection}`);
      if (onPostgres) expect(await run("SELECT FROM pg_type WHERE typname LIKE 'tin%enum'")).toEqual([]);
    });

    it('of several fields go, with what is said about them', async () => {
      const [told] = (await stage.server.admin('/relations/lots')).json.data;
      expect(told).toMatchObject({ field: 'boxes', schema: { column: ['row_no', 'place'] } });
      const cascading = { schema: { on_delete: 'CASCADE' } };
      expect(await refused('PATCH', '/relations/lots/boxes', cascading)).toBe('400 INVALID_PAYLOAD');
      await done('PATCH', '/fields/boxes/lots', { meta: { interface: 'list' } });
      await done('DELETE', '/relations/lots/boxes');
      expect(await run("SELECT field FROM platform.platform_fields WHERE collection = 'boxes'")).toEqual([]);
      await done('POST', '/items/lots', { id: 1, row_no: 7, place: 7 });
      expect(await refused('DELETE', '/relations/lots/boxes')).toBe('403 FORBIDDEN');
      await done('DELETE', '/fields/lots/row_no?data=discard');
    });

    it('refuse what does not fit', async () => {
      const relation = { collection: 'books', field: 'price', related_collection: 'shelves' };
      expect(await refused('POST', '/relations', relation)).toBe('400 INVALID_PAYLOAD');
      expect(await refused('POST', '/relations', { ...relation, field: 'shelf' })).toBe('400 INVALID_PAYLOAD');
      expect(await refused('POST', '/relations', { ...relation, related_collection: 'nothing' })).toBe('403 FORBIDDEN');
      expect(await refused('POST', '/relations', { ...relation, related_collection: null })).toBe(
        '400 INVALID_PAYLOAD',
      );
      expect(await refused('POST', '/relations', { ...relation, schema: { on_delete: 'DROP' } })).toBe(
        '400 INVALID_PAYLOAD',
      );
      await done('POST', '/fields/books', { field: 'other', type: 'integer' });
      await done('PATCH', '/items/books', { query: {}, data: { other: 9 } });
      expect(await refused('POST', '/relations', { ...relation, field: 'other' })).toBe(
        '400 FAILED_VALIDATION books other foreign_key',
      );
      expect(await refused('DELETE', '/collections/shelves?data=discard')).toBe('422 UNPROCESSABLE_ENTITY');
    });

    it('set no field to null that is required', async () => {
      const must = { field: 'kept', type: 'integer', schema: { is_nullable: false, default_value: 1 } };
      await done('POST', '/fields/coupons', [must, { field: 'free', type: 'integer' }]);
      const relation = (field: string, schema = {}) => ({
        collection: 'coupons',
        field,
        related_collection: 'shelves',
        schema,
      });
      const reasons = [
        await send('POST', '/relations', relation('kept', { on_delete: 'SET NULL' })),
        await send('POST', '/relations', relation('kept', { on_update: 'SET NULL' })),
      ];
      await done('PATCH', '/items/coupons', { query: {}, data: { kept: 1, free: 1 } });
      expect(await done('POST', '/relations', relation('kept'))).toMatchObject({ schema: { on_delete: 'NO ACTION' } });
      await done('POST', '/relations', relation('free'));
      const required = { schema: { is_nullable: false } };
      reasons.push(
        await send('PATCH', '/relations/coupons/kept', { schema: { on_delete: 'SET NULL' } }),
        await send('PATCH', '/fields/coupons/free', required),
      );
      expect(reasons.map(({ status, json }) => [status, json.errors[0].message])).toEqual(
        ['kept', 'kept', 'kept', 'free'].map((field) => [
          400,
          `"${field}" must not be null where its foreign key has SET NULL: take another action.`,
        ]),
      );
      await done('PATCH', '/relations/coupons/free', { schema: { on_delete: 'CASCADE' } });
      await done('PATCH', '/fields/coupons/free', required);
      for (const field of ['kept', 'free']) await done('DELETE', `/fields/coupons/${field}?data=discard`);
    });

    it.skipIf(onPostgres)('name no field where one of several of a table does not fit', async () => {
      const fields = [
        { field: 'fits', type: 'integer' },
        { field: 'wide', type: 'bigInteger' },
      ];
      await done('POST', '/fields/books', fields);
      const both = fields.map(({ field }) => ({ collection: 'books', field, related_collection: 'shelves' }));
      for (const [relations, name] of [[both, 'books'] as const, [both.slice(1), 'wide'] as const]) {
        const { json } = await send('POST', '/relations', relations);
        expect(json.errors[0].message).toMatch(new RegExp(`^"${name}" cannot lead there`));
      }
      for (const { field } of fields) await done('DELETE', `/fields/books/${field}`);
    });

    it('go, and leave the field', async () => {
      await done('DELETE', '/relations/books/shelf');
      expect((await stage.server.admin('/items/books?fields=shelf&filter[shelf][_nnull]=true')).json.data).toHaveLength(
        2,
      );
      expect(failure(await stage.server.admin('/items/shelves/1?fields=stock'))).toBe('403 FORBIDDEN');
      expect(await refused('DELETE', '/relations/books/shelf')).toBe('403 FORBIDDEN');
    });

    it('may have items of several collections, and lead through junctions', async () => {
      await done('POST', '/collections', [
        {
          collection: 'parts',
          schema: {},
          fields: [
            { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
            { field: 'owner', type: 'integer' },
            { field: 'kind', type: 'string' },
            { field: 'item', type: 'string' },
            { field: 'place', type: 'integer' },
          ],
        },
        {
          collection: 'labels',
          schema: {},
          fields: [
            { field: 'shelf', type: 'integer', schema: { is_primary_key: true } },
            { field: 'plain', type: 'integer', schema: { is_primary_key: true } },
          ],
        },
      ]);
      await done('POST', '/relations', [
        { collection: 'parts', field: 'owner', related_collection: 'shelves' },
        {
          collection: 'labels',
          field: 'shelf',
          related_collection: 'shelves',
          meta: { junction_field: 'plain', one_field: 'plains' },
        },
        { collection: 'labels', field: 'plain', related_collection: 'plain' },
      ]);
      await done('POST', '/relations', {
        collection: 'parts',
        field: 'item',
        related_collection: null,
        meta: {
          one_collection_field: 'kind',
          one_allowed_collections: ['books', 'plain'],
          junction_field: 'owner',
          one_field: 'sections',
          sort_field: 'place',
        },
      });
      const { json } = await send('PATCH', '/items/shelves/1?fields=plains.id,sections.kind,sections.item:plain.id', {
        plains: [1],
        sections: [{ collection: 'plain', item: 1 }],
      });
      expect(json.data).toEqual({ plains: [{ id: 1 }], sections: [{ kind: 'plain', item: { id: 1 } }] });
      // The relation is not told with all that makes it one.
      const told = (await stage.server.admin('/relations/parts/item')).json.data;
      await done('PATCH', '/relations/parts/item', told);
      await done('PATCH', '/relations/parts/item', { ...told, meta: { ...told.meta, sort_field: null } });
      expect((await stage.server.admin('/items/shelves/1?fields=sections.kind')).json.data).toEqual({
        sections: [{ kind: 'plain' }],
      });
    });
  });
}
