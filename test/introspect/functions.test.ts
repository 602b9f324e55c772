/** Functions and procedures as PostgreSQL has them: what is read, in how many statements, and what cannot be served. */
import { buildTables, readCatalog } from '@tablewright/introspect';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';

const sql = `
CREATE DOMAIN percent AS integer CHECK (VALUE BETWEEN 0 AND 100);
CREATE TYPE pair AS (a integer, b text);
CREATE TABLE things (id integer PRIMARY KEY, name varchar(20));
CREATE FUNCTION plain(percent, x text DEFAULT 'a') RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION named(p percent, x text DEFAULT 'a') RETURNS percent LANGUAGE sql STABLE AS 'SELECT 1::percent';
CREATE FUNCTION rows_of() RETURNS SETOF things LANGUAGE sql STABLE AS 'SELECT * FROM things';
CREATE FUNCTION a_pair() RETURNS pair LANGUAGE sql IMMUTABLE AS $$ SELECT (1, 'b')::pair $$;
CREATE FUNCTION a_table() RETURNS TABLE (n integer) LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION nothing() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS 'SELECT 1';
CREATE FUNCTION any_record() RETURNS record LANGUAGE sql AS 'SELECT 1, 2';
CREATE FUNCTION any_element(x anyelement) RETURNS anyelement LANGUAGE sql AS 'SELECT x';
CREATE FUNCTION cursor_of() RETURNS refcursor LANGUAGE plpgsql AS $$ DECLARE c refcursor; BEGIN RETURN c; END $$;
CREATE FUNCTION many(VARIADIC x integer[]) RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION on_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN NEW; END $$;
CREATE FUNCTION lists() RETURNS SETOF integer[] LANGUAGE sql AS 'SELECT ARRAY[1]';
CREATE AGGREGATE total(integer) (sfunc = int4pl, stype = integer);
CREATE PROCEDURE work(OUT word text, INOUT n integer DEFAULT 0) LANGUAGE plpgsql AS $$ BEGIN word := 'a'; END $$;
CREATE PROCEDURE price(OUT flags boolean[], OUT price numeric) LANGUAGE plpgsql AS $$ BEGIN price := 1.5; END $$;`;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(sql);
});
afterAll(() => database?.drop());

async function read(functions: boolean) {
  const texts: string[] = [];
  const catalog = await withClient(database.url, (client) =>
    readCatalog(
      async (text, values) => {
        texts.push(text);
        const types = { getTypeParser: () => (value: string) => value };
        return (await client.query<(string | null)[]>({ text, values: [...values], rowMode: 'array', types })).rows;
      },
      { functions },
    ),
  );
  return { statements: texts.length, ...buildTables(catalog) };
}

test('take a third statement, and none where they are not asked for', async () => {
  const [without, withThem] = [await read(false), await read(true)];
  expect([without.statements, without.routines]).toEqual([2, undefined]);
  expect(withThem.statements).toBe(3);
});

test('have arguments, results and volatility', async () => {
  const { routines = [] } = await read(true);
  const shown = routines
    .filter(({ unsupported }) => unsupported === undefined)
    .map(({ signature, kind, reads, definer, arguments: args, returns }) => [
      ...[signature, kind, reads, definer ?? ''],
      args.map(({ name, type, optional }) => `${name}${optional ? '?' : ''}: ${type.portable}`).join(', '),
      'table' in returns ? returns.table : returns.kind,
    ]);
  expect(shown).toEqual([
    ['public.a_pair()', 'function', true, '', '', 'public.pair'],
    ['public.a_table()', 'function', true, '', '', 'objects'],
    ['public.named(public.percent, text)', 'function', true, '', 'p: integer, x?: text', 'value'],
    ['public.nothing()', 'function', false, 'fixed', '', 'nothing'],
    ['public.rows_of()', 'function', true, '', '', 'public.things'],
    ['public.work(integer)', 'procedure', false, '', 'n?: integer', 'objects'],
  ]);
});

test('say why they cannot be served', async () => {
  const { routines = [] } = await read(true);
  const reasons = routines.flatMap(({ name, unsupported }) => (unsupported === undefined ? [] : [[name, unsupported]]));
  expect(Object.fromEntries(reasons)).toEqual({
    any_element: 'returns "anyelement"',
    any_record: 'returns "record"',
    cursor_of: 'returns "refcursor"',
    lists: 'returns a set of arrays',
    many: 'is variadic',
    on_change: 'returns "trigger"',
    plain: 'has an argument without a name',
    price: 'gives a value of type "numeric", which CALL does not give as text',
    total: 'is an aggregate or a window function',
  });
});
