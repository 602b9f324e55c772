/** Changes of fields and the facts that they keep, copies made of what is told, and fields that go. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { failure } from '../../support/project.ts';
import type { ModelStage } from './stage.ts';

export function askKeptFields(stage: ModelStage): void {
  const { done, onPostgres, refused, run, send } = stage;
  describe('fields', () => {
    it('are changed by nothing that they are already', async () => {
      await done('POST', '/collections', {
        collection: 'stays',
        schema: {},
        fields: [
          { field: 'id', type: 'integer', schema: { is_primary_key: true } },
          { field: 'count', type: 'integer', schema: { default_value: 5, comment: 'How many.' } },
          { field: 'label', type: 'string', schema: { max_length: 255 }, meta: { options: { a: [1] } } },
          { field: 'ready', type: 'boolean', schema: { default_value: false } },
          { field: 'price', type: 'decimal', schema: { default_value: '1.50000' } },
          { field: 'words', type: 'csv', schema: { default_value: ['a', 'b'] } },
          { field: 'data', type: 'json', schema: { default_value: { a: [1] } } },
          { field: 'since', type: 'timestamp', schema: { default_value: 'now()' } },
          { field: 'at', type: 'dateTime', schema: { numeric_precision: 3, default_value: 'now()' } },
          { field: 'daily', type: 'time', schema: { numeric_precision: 0 } },
          { field: 'from', type: 'time', schema: { default_value: '10:00' } },
          { field: 'until', type: 'timestamp', schema: { default_value: '2030-01-02T03:04:05.5Z' } },
          { field: 'due', type: 'dateTime', schema: { default_value: '2030-01-02' } },
          { field: 'day', type: 'date', schema: { default_value: '2030-01-02' } },
          { field: 'ratio', type: 'float', schema: { default_value: '1.50' } },
          { field: 'shelf', type: 'integer' },
        ],
      });
      await done('POST', '/relations', { collection: 'stays', field: 'shelf', related_collection: 'shelves' });
      const ledger = () => run('SELECT name FROM platform.platform_project_migrations');
      const before = await ledger();
      const told: readonly { readonly field: string }[] = (await stage.server.admin('/fields/stays')).json.data;
      const type = (data_type: string) => ({ schema: { data_type } });
      for (const [field, body] of [
        ['count', type('int')],
        ['count', type('INTEGER')],
        ['count', { schema: { data_type: null, default_value: '5', comment: 'How many.' } }],
        ['label', type('varchar')],
        ['label', { type: 'string', schema: { max_length: null } }],
        ['ready', type('boolean')],
        ['ready', { schema: { default_value: 'false', comment: '' } }],
        ['price', { schema: { data_type: 'numeric', numeric_precision: null, numeric_scale: 5 } }],
        ['price', { schema: { default_value: '01.5' } }],
        ['from', { schema: { default_value: '10:00:00.0' } }],
        ['until', { schema: { default_value: '2030-01-02T03:04:05.50+00:00' } }],
        ['due', { schema: { default_value: '2030-01-02T00:00' } }],
        ['ratio', { schema: { default_value: 1.5 } }],
        ['words', { schema: { default_value: ['a', 'b'] } }],
        ['data', { schema: { default_value: { a: [1] } } }],
        ['data', type(onPostgres ? 'jsonb' : 'json')],
        ['since', { schema: { data_type: 'timestamptz', default_value: 'now()' } }],
        ...told.map((field) => [field.field, field] as const),
      ] as const) {
        const now = told.find((one) => one.field === field);
        expect([field, body, await done('PATCH', `/fields/stays/${field}`, body)]).toEqual([field, body, now]);
      }
      expect(await done('PATCH', '/fields/stays', told)).toEqual(told);
      for (const path of ['/collections/stays', '/relations/stays/shelf']) {
        const now = (await stage.server.admin(path)).json.data;
        expect(await done('PATCH', path, now)).toEqual(now);
      }
      expect(await ledger()).toEqual(before);
      // A field is made again of what is told.
      const { schema } = (await stage.server.admin('/fields/stays/data')).json.data;
      await done('POST', '/fields/stays', {
        field: 'more',
        type: 'json',
        schema: { default_value: schema.default_value },
      });
      for (const [name, digits] of [
        ['at', 3],
        ['daily', 0],
      ] as const) {
        const { type, schema } = (await stage.server.admin(`/fields/stays/${name}`)).json.data;
        expect(schema.numeric_precision).toBe(digits);
        const again = { ...schema, name: `${name}_again` };
        expect((await done('POST', '/fields/stays', { field: again.name, type, schema: again })).schema).toEqual(again);
      }
      const finer = { field: 'finer', type: 'time', schema: { numeric_precision: 7 } };
      expect(await refused('POST', '/fields/stays', finer)).toBe('400 INVALID_PAYLOAD');
      const none = { field: 'none', type: 'decimal', schema: { numeric_precision: 0 } };
      expect(await refused('POST', '/fields/stays', none)).toBe('400 INVALID_PAYLOAD');
      const fine = { field: 'fine', type: 'decimal', schema: { numeric_scale: 2, default_value: '0.001' } };
      expect(await refused('POST', '/fields/stays', fine)).toBe('400 FAILED_VALIDATION stays fine range');
      await done('PATCH', '/fields/stays/count', { type: 'string' });
      await done('PATCH', '/fields/stays/ready?data=discard', { type: 'string' });
      const made = { count: '5', ready: onPostgres ? 'false' : expect.stringMatching(/^(false|0)$/), more: { a: [1] } };
      expect(await done('POST', '/items/stays?fields=count,ready,more', { id: 1 })).toEqual(made);
      const long = { schema: { comment: 'x'.repeat(5000) } };
      if (onPostgres) await done('PATCH', '/fields/stays/count', long);
      else expect(await refused('PATCH', '/fields/stays/count', long)).toBe('400 INVALID_PAYLOAD');
      await done('DELETE', '/collections/stays?data=discard');
    });

    it('are made again under another name of what is told, in all types of the database', async () => {
      type Told = { readonly field: string; readonly type: string; readonly meta: object; readonly schema: object };
      const told: readonly Told[] = (await stage.server.admin('/fields/kinds')).json.data.slice(1);
      const copies = told.map(({ field, meta, schema, ...others }) => {
        const name = `${field}_again`;
        return { ...others, field: name, meta: { ...meta, field: name }, schema: { ...schema, name } };
      });
      // An enum of PostgreSQL has a type of its own.
      const facts = (fields: readonly Told[]) =>
        fields.map(({ schema, ...field }) => ({
          ...{ ...field, meta: null },
          schema: field.type === 'enum' ? { ...schema, data_type: null } : schema,
        }));
      expect(facts(await done('POST', '/fields/kinds', copies))).toEqual(facts(copies));
      const item = await done('POST', '/items/kinds', { id: 1 });
      for (const { field } of told) expect([field, item[`${field}_again`]]).toEqual([field, item[field]]);
      const { schema } = (await stage.server.admin('/fields/kinds/bytes')).json.data;
      expect(Buffer.from(schema.default_value, 'base64').toString('latin1')).toBe(onPostgres ? '\xffa' : 'ab');
      expect(item.bytes).toBe(schema.default_value);
      if (onPostgres) return;
      await done('PATCH', '/fields/kinds/raw', { schema: { comment: 'Two bytes.' } });
      expect(await done('PATCH', '/fields/kinds/bytes', { schema: { max_length: 20 } })).toMatchObject({
        schema: { data_type: 'varbinary', max_length: 20, default_value: schema.default_value },
      });
      expect(await done('PATCH', '/fields/kinds/price', { schema: { numeric_precision: 9 } })).toMatchObject({
        schema: { data_type: 'decimal unsigned', numeric_precision: 9, default_value: '1.50' },
      });
      await done('PATCH', '/fields/kinds/active', { schema: { default_value: false } });
      expect(await done('POST', '/items/kinds?fields=active,bytes,raw', { id: 2 })).toEqual({
        active: false,
        bytes: item.bytes,
        raw: '/2E=',
      });
    });

    it('are described where the database computes them, and are made there', async () => {
      const { schema, ...told } = (await stage.server.admin('/fields/sums/twice')).json.data;
      const copy = { ...told, field: 'more', meta: null, schema: { ...schema, name: 'more' } };
      const { status, json } = await send('POST', '/fields/sums', copy);
      expect([status, json.errors[0].message]).toEqual([400, expect.stringMatching(/^"more" would be computed/)]);
      const described = { ...schema, comment: "Twice 'as' much?" };
      expect(await done('PATCH', '/fields/sums/twice', { schema: described })).toMatchObject({ schema: described });
      expect(await refused('PATCH', '/fields/sums/twice', { schema: { default_value: 1 } })).toBe(
        '400 INVALID_PAYLOAD',
      );
      expect(await done('POST', '/items/sums', { id: 1, one: 4 })).toEqual({ id: 1, one: 4, twice: 8 });
    });

    it('keep what a change does not name', async () => {
      const wider = (field: string) => ({ field, schema: { max_length: 60 } });
      const { type } = (await stage.server.admin('/fields/coupons/made')).json.data;
      await done('PATCH', '/fields/coupons', [
        ...[wider('code'), wider('note')],
        { field: 'made', type: type === 'timestamp' ? 'dateTime' : 'timestamp' },
        { field: 'rate', type: 'text' },
      ]);
      if (onPostgres) await done('PATCH', '/fields/coupons/data', { schema: { data_type: 'jsonb' } });
      expect(await done('POST', '/items/coupons?fields=code,note,shelf,made,rate', {})).toEqual({
        ...{ code: 'new', note: null, shelf: null },
        ...{ made: expect.any(String), rate: expect.stringMatching(/^0\.50?$/) },
      });
      if (onPostgres)
        expect((await stage.server.admin('/items/coupons/1?fields=data')).json.data).toEqual({ data: {} });
      const told = (await stage.server.admin('/fields/books/id')).json.data;
      expect(await done('PATCH', '/fields/books/id', told)).toEqual(told);
    });

    it.skipIf(onPostgres)(
      'keep on MySQL and MariaDB what updates set, and take any characters after identifiers',
      async () => {
        const changed = await done('PATCH', '/fields/clocks', [
          { field: 'seen', type: 'dateTime' },
          { field: 'told', type: 'string' },
          { field: 'due', schema: { default_value: 'now()' } },
        ]);
        expect(changed).toMatchObject([{ type: 'dateTime' }, { type: 'string' }, { type: 'dateTime' }]);
        expect(await done('POST', '/items/clocks?fields=due', { id: 1, one: 1 })).toEqual({ due: expect.any(String) });
        expect(await done('PATCH', '/items/clocks/1?fields=told', { told: 'never' })).toEqual({ told: 'never' });
        const printed = JSON.stringify(await run('SHOW CREATE TABLE clocks'));
        expect(printed).toMatch(/seen[^,]* DEFAULT current_timestamp\(6\) ON UPDATE current_timestamp\(6\)/i);
        // MySQL refuses a key that would set null where a check looks.
        const relation = { collection: 'clocks', field: 'one', related_collection: 'shelves' };
        const { status } = await send('POST', '/relations', relation);
        expect([200, 400]).toContain(status);
        // Only MariaDB and MySQL 8 compare other columns in the check of a column that goes.
        expect([204, 422]).toContain((await send('DELETE', '/fields/clocks/until')).status);
        await done('POST', '/fields/clocks', { field: 'code', type: 'uuid' });
        await done('PATCH', '/fields/clocks/code', { type: 'string' });
        expect(await done('PATCH', '/items/clocks/1?fields=code', { code: 'Zürich' })).toEqual({ code: 'Zürich' });
        await done('PATCH', '/fields/clocks/mood', { schema: { is_nullable: true } });
        const { meta } = (await stage.server.admin('/fields/clocks/state')).json.data;
        const more = { meta: { options: { choices: [...meta.options.choices, { text: 'C', value: 'c' }] } } };
        expect(await done('PATCH', '/fields/clocks/state', { meta })).toMatchObject({ meta });
        expect(await done('PATCH', '/fields/clocks/state', more)).toMatchObject(more);
        expect(await done('POST', '/items/clocks?fields=mood', { id: 3, one: 1 })).toEqual({ mood: '😁?' });
        const most = { data_type: 'bigint unsigned', default_value: '18446744073709551614' };
        await done('POST', '/fields/clocks', { field: 'most', type: 'bigInteger', schema: most });
        await done('PATCH', '/fields/clocks/most', { schema: { default_value: '18446744073709551615' } });
        expect(await done('POST', '/items/clocks?fields=most', { id: 2, one: 1 })).toEqual({
          most: '18446744073709551615',
        });
        expect(await refused('PATCH', '/fields/clocks/most', { schema: { default_value: '-1' } })).toBe(
          '400 INVALID_PAYLOAD',
        );
      },
    );

    it.skipIf(onPostgres)('of a table whose history MariaDB keeps stay as they are', async () => {
      const isKept = JSON.stringify(await run('SHOW CREATE TABLE ages')).includes('WITH SYSTEM VERSIONING');
      const changes = [
        await send('POST', '/fields/ages', { field: 'more', type: 'text' }),
        await send('PATCH', '/fields/ages/name', { schema: { max_length: 20 } }),
      ];
      expect(changes.map(({ status }) => status)).toEqual(isKept ? [422, 422] : [200, 200]);
      await done('POST', '/items/ages', { id: 1, name: 'iron' });
    });

    it('are unique no more where an index made them so, and always as a key', async () => {
      expect((await stage.server.admin('/fields/coupons/code')).json.data.schema.is_unique).toBe(true);
      const loose = { schema: { is_unique: false } };
      expect(await done('PATCH', '/fields/coupons/code', loose)).toMatchObject(loose);
      if (onPostgres) expect(await run("SELECT FROM pg_constraint WHERE conname = 'coupons_code'")).toHaveLength(1);
      expect(await refused('PATCH', '/fields/coupons/id', loose)).toBe('400 INVALID_PAYLOAD');
      expect(await refused('PATCH', '/fields/coupons/id', { schema: { default_value: 5 } })).toBe(
        '400 INVALID_PAYLOAD',
      );
      if (!onPostgres) return;
      const details = randomBytes(6000).toString('base64');
      await done('POST', '/items/coupons', { details });
      expect(await refused('PATCH', '/fields/coupons/details', { schema: { is_unique: true } })).toBe(
        '400 FAILED_VALIDATION coupons details max_length',
      );
      await done('DELETE', '/fields/coupons/two%0Alines');
    });

    it('go when they are empty, or when it is said that their values may go', async () => {
      expect(await refused('DELETE', '/fields/shelves/room')).toBe('422 UNPROCESSABLE_ENTITY');
      await done('DELETE', '/fields/shelves/room?data=discard');
      expect(failure(await stage.server.admin('/items/shelves?fields=room'))).toBe('403 FORBIDDEN');
      expect(await refused('DELETE', '/fields/shelves/id')).toBe('400 INVALID_PAYLOAD');
      // A view shows it.
      expect(await refused('DELETE', '/fields/shelves/name?data=discard')).toBe('422 UNPROCESSABLE_ENTITY');
      expect(await refused('DELETE', '/collections/shelves?data=discard')).toBe('422 UNPROCESSABLE_ENTITY');
      await done('DELETE', `/fields/shelves/${encodeURIComponent('odd"name')}`);
    });
  });
}
