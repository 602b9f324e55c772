/** Fields that are made and changed: their types, limits and constraints. */
import { describe, expect, it } from 'vitest';
import { failure } from '../../support/project.ts';
import type { ModelStage } from './stage.ts';

export function askFields(stage: ModelStage): void {
  const { done, onPostgres, refused, run, send } = stage;
  describe('fields', () => {
    const choices = (...values: unknown[]) => ({ options: { choices: values.map((value) => ({ text: '…', value })) } });

    const arrays = [
      { field: 'words', type: 'array', schema: { default_value: ['a', 'b,"'], is_nullable: false } },
      { field: 'years', type: 'array', schema: { data_type: 'integer[]' } },
    ];

    it('may be enums and arrays, which bring their types along', async () => {
      const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
      await done('POST', '/collections', {
        collection: 'films',
        schema: {},
        fields: [
          key,
          { field: 'state', type: 'enum', meta: choices('draft', "it's out"), schema: { default_value: 'draft' } },
          ...(onPostgres ? arrays : []),
        ],
      });
      expect(await done('POST', '/items/films', onPostgres ? { years: [2020, null] } : {})).toEqual({
        ...{ id: 1, state: 'draft' },
        ...(onPostgres && { words: ['a', 'b,"'], years: [2020, null] }),
      });
      expect(await refused('POST', '/items/films', { state: 'gone' })).toBe('400 FAILED_VALIDATION films state enum');
      const told = (await stage.server.admin('/fields/films/state')).json.data;
      expect(told).toMatchObject({ type: 'enum', meta: choices('draft', "it's out") });
      const strange = ['gone', 'a) b', 'back\\slash', 'two\nlines', '$&', "\\') x"];
      await done('PATCH', '/fields/films/state', {
        ...told,
        meta: choices('draft', "it's out", ...strange.slice(0, 4)),
      });
      await done('PATCH', '/fields/films/state', { ...told, meta: choices('draft', "it's out", ...strange) });
      for (const state of strange)
        expect(await done('PATCH', '/items/films/1?fields=state', { state })).toEqual({ state });
      await done('PATCH', '/fields/films/state', { schema: { default_value: "it's out", is_nullable: false } });
      expect(await done('POST', '/items/films?fields=state', {})).toEqual({ state: "it's out" });
      for (const body of [
        { field: 'mood', type: 'enum' },
        { field: 'mood', type: 'enum', meta: choices() },
        { field: 'mood', type: 'enum', meta: choices('a', 'a') },
        { field: 'mood', type: 'enum', meta: choices(1) },
        { field: 'mood', type: 'enum', meta: choices('x'.repeat(64)) },
        { field: 'mood', type: 'enum', meta: choices('a'), schema: { data_type: 'text' } },
        { field: 'mood', type: 'array', schema: { data_type: 'text' } },
        { field: 'mood', type: 'array', schema: { data_type: 'integer[]', default_value: ['a'] } },
        { field: 'mood', type: 'array', schema: { data_type: 'regclass[]' } },
      ]) {
        expect([body, await refused('POST', '/fields/films', body)]).toEqual([body, '400 INVALID_PAYLOAD']);
      }
      expect(await refused('PATCH', '/fields/films/state', { meta: choices('draft') })).toBe('400 INVALID_PAYLOAD');
      expect(await refused('PATCH', '/fields/films/id', { type: 'enum' })).toBe('400 INVALID_PAYLOAD');
      if (!onPostgres) expect(await refused('POST', '/fields/films', arrays)).toBe('400 INVALID_PAYLOAD');
      const mood = { field: 'mood', type: 'enum', meta: choices('good', 'bad') };
      await done('POST', '/fields/films', mood);
      await done('DELETE', '/fields/films/mood');
      const made = await done('POST', '/fields/films', mood);
      await done('DELETE', '/fields/films/mood');
      // A field is made again of what is told, and another one like it.
      expect(await done('POST', '/fields/films', made)).toEqual(made);
      const copy = { type: made.type, meta: choices('good', 'bad'), schema: { data_type: made.schema.data_type } };
      const capital = await done('POST', '/fields/films', { field: 'Feeling', ...copy });
      expect(capital).toMatchObject({ type: 'enum', meta: copy.meta });
      await done('DELETE', '/fields/films/Feeling');
      expect(await done('POST', '/fields/films', capital)).toEqual(capital);
      await done('DELETE', '/fields/films/Feeling');
      await done('PATCH', '/fields/films/mood', { type: 'string' });
      const types = "SELECT typname FROM pg_type WHERE typname LIKE 'films%enum' ORDER BY 1";
      if (onPostgres) expect(await run(types)).toEqual([{ typname: 'films_state_enum' }]);
      await done('DELETE', '/collections/films?data=discard');
      if (onPostgres) expect(await run(types)).toEqual([]);
      await done('POST', '/fields/shelves', { field: 'kind', type: 'enum', meta: choices('wood') });
    });

    it('are added, and those that items must have only where there are no items', async () => {
      const made = await done('POST', '/fields/shelves', { field: 'room', type: 'string', meta: { note: 'Where.' } });
      expect(made).toMatchObject({ collection: 'shelves', field: 'room', type: 'string', meta: { note: 'Where.' } });
      expect((await stage.server.admin('/items/shelves?fields=room')).json.data).toEqual([
        { room: null },
        { room: null },
      ]);
      const must = { field: 'floor', type: 'integer', schema: { is_nullable: false } };
      expect(await refused('POST', '/fields/shelves', must)).toBe('400 FAILED_VALIDATION shelves floor required');
      await done('POST', '/fields/shelves', { ...must, schema: { is_nullable: false, default_value: 2 } });
      expect((await stage.server.admin('/items/shelves?fields=floor&limit=1')).json.data).toEqual([{ floor: 2 }]);
      expect(await refused('POST', '/fields/shelves', { field: 'room', type: 'text' })).toBe('400 INVALID_PAYLOAD');
      expect(await refused('POST', '/fields/platform_users', { field: 'more', type: 'text' })).toBe('403 FORBIDDEN');
      expect(await refused('POST', '/fields/lists', { field: 'more', type: 'text' })).toBe('422 UNPROCESSABLE_ENTITY');
      expect(await refused('POST', '/fields/nothing', { field: 'more', type: 'text' })).toBe('403 FORBIDDEN');
    });

    it('change their type where no value is lost, or where that is said', async () => {
      await done('PATCH', '/items/shelves/1', { room: 'east' });
      expect(await done('PATCH', '/fields/shelves/room', { schema: { max_length: 4 } })).toMatchObject({
        schema: { max_length: 4 },
      });
      expect(await refused('PATCH', '/fields/shelves/room', { schema: { max_length: 3 } })).toBe(
        '422 UNPROCESSABLE_ENTITY',
      );
      await done('PATCH', '/fields/shelves/room?data=discard', { schema: { max_length: 3 } });
      expect((await stage.server.admin('/items/shelves/1?fields=room')).json.data).toEqual({ room: 'eas' });
      expect(await done('PATCH', '/fields/shelves/floor', { type: 'bigInteger' })).toMatchObject({
        type: 'bigInteger',
        schema: { default_value: '2', is_nullable: false },
      });
      expect((await stage.server.admin('/items/shelves/1?fields=floor')).json.data).toEqual({ floor: '2' });
      expect(await refused('PATCH', '/fields/shelves/name', { type: 'integer' })).toContain('400 FAILED_VALIDATION');
      expect(await refused('PATCH', '/fields/shelves/room', { type: 'uuid' })).toContain('400 FAILED_VALIDATION');
    });

    it('refuse limits that their data type does not have', async () => {
      const body = { field: 'weight', type: 'float' };
      const { schema } = await done('POST', '/fields/shelves', body);
      for (const name of ['numeric_precision', 'numeric_scale', 'max_length']) {
        const limited = { field: 'load', type: 'float', schema: { [name]: 7 } };
        for (const { status, json } of [
          await send('PATCH', '/fields/shelves/weight', { schema: limited.schema }),
          await send('POST', '/fields/shelves', limited),
          await send('POST', '/collections', { collection: 'loads', schema: {}, fields: [limited] }),
        ])
          expect([status, json.errors[0].message]).toEqual([
            400,
            expect.stringMatching(new RegExp(`"schema.${name}" is not for double( precision)?\\.$`)),
          ]);
      }
      for (const more of [{ type: 'integer' }, { type: 'uuid' }, { type: 'enum', meta: choices('a') }]) {
        const limited = { field: 'load', ...more, schema: { max_length: 7 } };
        expect(await refused('POST', '/fields/shelves', limited)).toBe('400 INVALID_PAYLOAD');
      }
      expect(await done('PATCH', '/fields/shelves/weight', { schema })).toMatchObject({ schema });
      await done('DELETE', '/fields/shelves/weight');
    });

    it('change what values must be, and what is said about them', async () => {
      expect(await refused('PATCH', '/fields/shelves/name', { schema: { is_nullable: false } })).toBe(
        '400 FAILED_VALIDATION shelves name required',
      );
      const [before] = (await stage.server.admin('/fields/shelves')).json.data.filter(
        (one: { field: string }) => one.field === 'name',
      );
      expect(await done('PATCH', '/fields/shelves/name', before)).toEqual(before);
      const told = await done('PATCH', '/fields/shelves', [
        { field: 'name', meta: { required: true, width: 'half' }, schema: { is_unique: true, comment: "It's a name" } },
        { field: 'floor', schema: { is_nullable: true, default_value: null } },
      ]);
      expect(told).toMatchObject([
        { meta: { required: true, width: 'half' }, schema: { is_unique: true, comment: "It's a name" } },
        { schema: { is_nullable: true, default_value: null } },
      ]);
      expect(failure(await send('POST', '/items/shelves', { room: 'a' }))).toBe('400 FAILED_VALIDATION');
      expect(await done('PATCH', '/fields/shelves/name', { schema: { is_unique: false } })).toMatchObject({
        schema: { is_unique: false },
      });
      await done('PATCH', '/items/shelves', { keys: [1, 2], data: { room: 'all' } });
      expect(await refused('PATCH', '/fields/shelves/room', { schema: { is_unique: true } })).toBe(
        '400 FAILED_VALIDATION shelves room unique',
      );
      expect(await refused('PATCH', '/fields/shelves/room', { field: 'rooms' })).toBe('400 INVALID_PAYLOAD');
      expect(await refused('PATCH', '/fields/shelves/id', { schema: { is_nullable: true } })).toBe(
        '400 INVALID_PAYLOAD',
      );
    });
  });
}
