/** Collections that are made, changed and dropped. */
import { describe, expect, it } from 'vitest';
import { failure } from '../../support/project.ts';
import type { ModelStage } from './stage.ts';

export function askCollections(stage: ModelStage): void {
  const { done, refused, run, send } = stage;
  describe('collections', () => {
    it('are made with their fields, and serve at once', async () => {
      const made = await done('POST', '/collections', {
        collection: 'books',
        meta: { icon: 'book', note: 'What is read.', sort_field: 'title' },
        schema: { comment: "It's a \\ table" },
        fields: [
          { field: 'id', type: 'uuid', schema: { is_primary_key: true, default_value: 'gen_random_uuid()' } },
          { field: 'title', type: 'string', schema: { max_length: 40, is_nullable: false, is_unique: true } },
          {
            field: 'price',
            type: 'decimal',
            schema: { numeric_precision: 8, numeric_scale: 2, default_value: '9.50' },
          },
          { field: 'tags', type: 'csv', meta: { note: 'Words.' } },
          { field: 'added', type: 'timestamp', schema: { default_value: 'now()' } },
          { field: 'more', type: 'json', schema: { default_value: { "it's": 1 } } },
          { field: 'shelf', type: 'integer' },
        ],
      });
      expect(made).toMatchObject({
        collection: 'books',
        meta: { icon: 'book', note: 'What is read.', sort_field: 'title', hidden: false },
        schema: { name: 'books', schema: 'public', comment: "It's a \\ table", kind: 'table' },
      });
      const item = await done('POST', '/items/books', { title: 'One', tags: ['a', 'b'] });
      expect(item).toMatchObject({ title: 'One', price: '9.50', tags: ['a', 'b'], more: { "it's": 1 }, shelf: null });
      const fields = (await stage.server.admin('/fields/books')).json.data;
      expect(fields.map((one: { field: string; type: string }) => [one.field, one.type])).toEqual([
        ['id', 'uuid'],
        ['title', 'string'],
        ['price', 'decimal'],
        ['tags', 'csv'],
        ['added', 'timestamp'],
        ['more', 'json'],
        ['shelf', 'integer'],
      ]);
      expect(fields[1].schema).toMatchObject({ max_length: 40, is_nullable: false, is_unique: true });
      const query = '{ books { title price } }';
      const asked = await stage.server.admin('/graphql', { method: 'POST', body: { query } });
      expect(asked.json).toEqual({ data: { books: [{ title: 'One', price: '9.50' }] } });
      const paths = (await stage.server.admin('/server/specs/oas')).json.paths;
      expect(Object.keys(paths)).toContain('/items/books');
    });

    it('are made once under a key, as fields and relations are', async () => {
      const requests = [
        ['/collections', { collection: 'jars', schema: {} }],
        ['/fields/jars', { field: 'shelf', type: 'integer' }],
        ['/relations', { collection: 'jars', field: 'shelf', related_collection: 'shelves' }],
        ['/collections', { collection: 'jars', schema: {} }],
      ] as const;
      for (const [index, [path, body]] of requests.entries()) {
        const headers = { 'idempotency-key': `model-${index}` };
        const ask = (sent: unknown) => stage.server.admin(path, { method: 'POST', body: sent, headers });
        const [first, again] = [await ask(body), await ask(body)];
        // The last one makes what there is.
        expect([path, first.status]).toEqual([path, index === 3 ? 400 : 200]);
        expect([again.status, again.text]).toEqual([first.status, first.text]);
        expect(failure(await ask({ ...body, meta: {} }))).toBe('422 UNPROCESSABLE_ENTITY');
      }
      const query = 'mutation { delete_collections_item(collection: "jars", discard: true) { collection } }';
      const drop = () =>
        stage.server.admin('/graphql/system', {
          method: 'POST',
          body: { query },
          headers: { 'idempotency-key': 'drop' },
        });
      const gone = { data: { delete_collections_item: { collection: 'jars' } } };
      expect([(await drop()).json, (await drop()).json]).toEqual([gone, gone]);
    });

    it('have a number where nothing is said, and may be folders', async () => {
      const [plain, folder] = await done('POST', '/collections', [
        { collection: 'plain', schema: {}, meta: { group: null } },
        { collection: 'shop', schema: null, meta: { icon: 'box' } },
      ]);
      expect([plain.schema.kind, folder.schema, folder.meta.icon]).toEqual(['table', null, 'box']);
      expect(await done('POST', '/items/plain', {})).toEqual({ id: 1 });
      await done('PATCH', '/collections', [
        { collection: 'plain', meta: { group: 'shop', hidden: true } },
        { collection: 'shop', meta: { collapse: 'closed' } },
      ]);
      expect((await stage.server.admin('/collections/plain')).json.data.meta).toMatchObject({
        group: 'shop',
        hidden: true,
      });
      expect(await done('PATCH', '/collections/plain', { meta: { singleton: true } })).toMatchObject({
        meta: { singleton: true, group: 'shop' },
      });
      expect((await stage.server.admin('/items/plain')).json.data).toEqual({ id: 1 });
      const marks = [
        { archive_value: 'gone' },
        { archive_field: 'id', archive_value: null },
        { unarchive_value: 'here' },
      ];
      for (const meta of marks) expect(await done('PATCH', '/collections/plain', { meta })).toMatchObject({ meta });
      const marked = { archive_field: 'id', archive_value: null, unarchive_value: 'here' };
      expect((await stage.server.admin('/collections/plain')).json.data.meta).toMatchObject(marked);
      expect(await refused('PATCH', '/collections/plain', { meta: { archive_field: 'nothing' } })).toBe(
        '400 FAILED_VALIDATION platform_collections compile',
      );
      await done('DELETE', '/collections/shop');
      expect((await stage.server.admin('/collections/plain')).json.data.meta.group).toBeNull();
      expect(failure(await stage.server.admin('/collections/shop'))).toBe('403 FORBIDDEN');
    });

    it('refuse what cannot be, and leave nothing of it', async () => {
      const table = (collection: unknown, more: object = {}) => ({ collection, schema: {}, ...more });
      const field = (field: unknown, more: object = {}) =>
        table('more', { fields: [{ field, type: 'integer', ...more }] });
      for (const body of [
        table('books'),
        table('platform_more'),
        table('Platform_More'),
        table('pg"; DROP TABLE books; --'),
        table('a'.repeat(64)),
        table(''),
        table(7),
        { collection: 'more' },
        table('more', { more: 1 }),
        table('more', { meta: { icons: 'x' } }),
        table('more', { meta: { hidden: 'yes' } }),
        table('more', { schema: { schema: 'platform' } }),
        { collection: 'more', schema: null, fields: [{ field: 'a', type: 'integer' }] },
        field('a b'),
        field('a', { type: 'serial' }),
        field('a', { type: 'alias' }),
        field('a', { schema: { default_value: '1; DROP TABLE books' } }),
        field('a', { schema: { data_type: 'integer); DROP TABLE books; --' } }),
        field('a', { schema: { max_length: 0 } }),
        field('a', { schema: { table: 'books' } }),
        field('a', { meta: { validation: { a: { _gt: 1 } } } }),
        field('a', { meta: { special: ['user-created'] } }),
        table('more', {
          fields: [
            { field: 'a', type: 'text' },
            { field: 'a', type: 'text' },
          ],
        }),
        [],
        'more',
      ]) {
        expect([body, await refused('POST', '/collections', body)]).toEqual([body, '400 INVALID_PAYLOAD']);
      }
      // Names that only the database knows: that of a view, which is no collection's, and those that have no place in the API.
      expect(await refused('POST', '/collections', [table('more'), table('lists')])).toBe('400 INVALID_PAYLOAD');
      expect(await refused('POST', '/collections', field('_and'))).toBe('400 INVALID_PAYLOAD');
      const taken = [
        { field: 'a', type: 'timestamp' },
        { field: 'a_func', type: 'text' },
      ];
      expect(await refused('POST', '/collections', table('more', { fields: taken }))).toBe(
        '400 FAILED_VALIDATION platform_collections compile',
      );
      expect(await refused('POST', '/collections', table('more', { meta: { sort_field: 'nothing' } }))).toBe(
        '400 FAILED_VALIDATION platform_collections compile',
      );
      expect(await refused('POST', '/collections', table('more', { meta: { group: 'nothing' } }))).toBe(
        '400 FAILED_VALIDATION more foreign_key',
      );
      expect(failure(await stage.server.admin('/collections/more'))).toBe('403 FORBIDDEN');
      expect(await run("SELECT table_name FROM information_schema.tables WHERE table_name = 'more'")).toEqual([]);
    });

    it('go when they are empty, or when it is said that their items may go', async () => {
      expect(await refused('DELETE', '/collections/books')).toBe('422 UNPROCESSABLE_ENTITY');
      await done('POST', '/collections', { collection: 'brief', schema: {} });
      await done('DELETE', '/collections/brief');
      expect(failure(await stage.server.admin('/items/brief'))).toBe('403 FORBIDDEN');
      await done('POST', '/collections', { collection: 'brief', schema: {} });
      await done('POST', '/items/brief', {});
      await done('DELETE', '/collections/brief?data=discard');
      expect(await refused('DELETE', '/collections/brief')).toBe('403 FORBIDDEN');
      expect(await refused('DELETE', '/collections/lists')).toBe('422 UNPROCESSABLE_ENTITY');
      expect(await refused('DELETE', '/collections/platform_users')).toBe('403 FORBIDDEN');
      expect(await refused('PATCH', '/collections/platform_users', { meta: { hidden: true } })).toBe('403 FORBIDDEN');
      const empty = await send('PATCH', '/collections', []);
      expect([failure(empty), empty.json.errors[0].message]).toEqual([
        '400 INVALID_PAYLOAD',
        'The body must be a list with elements.',
      ]);
    });
  });
}
