import { readFile } from 'node:fs/promises';
import type { Catalog, SchemaFacts } from '@tablewright/introspect';
import { buildTables, readCatalog } from '@tablewright/introspect';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { catalogOf, codesOf, columnOf, factsOf, fixture, runOn, shuffled, tableOf } from './facts.ts';

let database: TestDatabase;
let catalog: Catalog;
let facts: SchemaFacts;
let sql: string;
beforeAll(async () => {
  sql = await readFile(fixture('everything.sql'), 'utf8');
  database = await createDatabase(sql);
  catalog = await catalogOf(database.url);
  facts = buildTables(catalog);
});
afterAll(() => database.drop());

describe('reading', () => {
  test('takes two statements', async () => {
    let statements = 0;
    await withClient(database.url, async (client) => {
      const run = runOn(client);
      await readCatalog((text, parameters) => {
        statements += 1;
        return run(text, parameters);
      });
    });
    expect(statements).toBe(2);
  });

  test.each([1, 2, 3, 4, 5])('gives the same facts however the rows are ordered, seed %i', (seed) => {
    expect(JSON.stringify(buildTables(shuffled(catalog, seed)))).toBe(JSON.stringify(facts));
  });

  test('gives the same facts whatever the session has set', async () => {
    const settings = `SET search_path = shop, public; SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'German';
      SET IntervalStyle = 'iso_8601'; SET quote_all_identifiers = on; SET bytea_output = escape; SET extra_float_digits = -5`;
    const other = await catalogOf(database.url, {}, settings);
    expect(JSON.stringify(buildTables(other))).toBe(JSON.stringify(facts));
  });

  test('needs no privileges, and tells which are missing', async () => {
    const other = buildTables(await catalogOf(database.url, {}, 'SET ROLE pg_signal_backend'));
    const missing = other.diagnostics.filter(({ code }) => code === 'unreadable-tables');
    expect(missing).toContainEqual(expect.objectContaining({ severity: 'warning', place: 'schema shop' }));
    const ofRole = new Set(['unreadable-tables', 'row-security']);
    const withoutRole = (read: SchemaFacts) => ({
      ...read,
      diagnostics: read.diagnostics.filter(({ code }) => !ofRole.has(code)),
    });
    expect(JSON.stringify(withoutRole(other))).toBe(JSON.stringify(withoutRole(facts)));
  });

  test('tells which rows the role sees of tables under policies', async () => {
    const tables = ['nobody', 'part', 'narrow'];
    const other = await createDatabase(`${tables.map((name) => `CREATE TABLE ${name} (id int);`).join(' ')}
      ${tables.map((name) => `ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY;`).join(' ')}
      CREATE POLICY written ON nobody FOR INSERT TO pg_signal_backend WITH CHECK (true);
      CREATE POLICY others ON nobody TO pg_monitor USING (true);
      CREATE POLICY own ON part FOR SELECT TO pg_signal_backend USING (id > 1);
      CREATE POLICY few ON narrow AS RESTRICTIVE USING (id > 1);`);
    const told = async (settings?: string) => {
      const { diagnostics } = buildTables(await catalogOf(other.url, {}, settings));
      return diagnostics.flatMap(({ code, severity, message }) =>
        code === 'row-security' ? [[severity, message]] : [],
      );
    };
    const bound = await told('SET ROLE pg_signal_backend');
    const free = await told();
    await other.drop();
    const none = 'no policy for reading is for it. Lists of it are empty.';
    expect(bound).toEqual([
      ['warning', `The database role "pg_signal_backend" sees no rows of "narrow": ${none}`],
      ['warning', `The database role "pg_signal_backend" sees no rows of "nobody": ${none}`],
      [
        'warning',
        'The database role "pg_signal_backend" sees only rows of "part" that its policies let through: "own".',
      ],
    ]);
    expect(free).toEqual(
      tables
        .toSorted()
        .map((name) => ['info', expect.stringContaining(`Row-level security of "${name}" does not bind`)]),
    );
  });

  test('tells which columns the role may not read', async () => {
    const other = await createDatabase('CREATE TABLE staff (id int, name text, salary int)');
    const grant = 'GRANT SELECT (id, name) ON staff TO pg_signal_backend; SET ROLE pg_signal_backend';
    const { diagnostics } = buildTables(await catalogOf(other.url, {}, grant));
    await other.drop();
    expect(diagnostics).toEqual([
      expect.objectContaining({
        code: 'unreadable-columns',
        severity: 'warning',
        place: 'table public.staff',
        message: expect.stringContaining('"salary"'),
      }),
    ]);
  });

  test('leaves the settings of the session as they were', async () => {
    const path = await withClient(database.url, async (client) => {
      await client.query('SET search_path = shop');
      await readCatalog(runOn(client));
      return client.query('SHOW search_path');
    });
    expect(path.rows).toEqual([{ search_path: 'shop' }]);
  });

  test('gives the same facts in a database whose objects have other oids', async () => {
    const junk = 'CREATE TABLE junk (a serial, b text); DROP TABLE junk; CREATE TYPE j AS ENUM (); DROP TYPE j;';
    const other = await createDatabase(junk + sql);
    const otherFacts = await factsOf(other.url);
    await other.drop();
    expect(JSON.stringify(otherFacts)).toBe(JSON.stringify(facts));
  });
});

describe('types', () => {
  const shapeOf = (name: string): string => {
    const { nativeType, type } = columnOf(facts, 'shop.types', name);
    const limits = [type.maxLength, type.precision, type.scale].map((limit) => limit ?? '').join('/');
    return [nativeType, type.portable, type.category, type.base, limits].join(' | ');
  };

  test.each([
    ['c_int2', 'smallint | integer | base | int2 | //'],
    ['c_int4', 'integer | integer | base | int4 | //'],
    ['c_int8', 'bigint | bigInteger | base | int8 | //'],
    ['c_numeric', 'numeric | decimal | base | numeric | //'],
    ['c_numeric_ps', 'numeric(10,2) | decimal | base | numeric | /10/2'],
    ['c_money', 'money | decimal | base | money | //'],
    ['c_float4', 'real | float | base | float4 | //'],
    ['c_float8', 'double precision | float | base | float8 | //'],
    ['c_text', 'text | text | base | text | //'],
    ['c_varchar', 'character varying | string | base | varchar | //'],
    ['c_varchar_n', 'character varying(7) | string | base | varchar | 7//'],
    ['c_char', 'character(3) | string | base | bpchar | 3//'],
    ['c_citext', 'public.citext | text | extension | public.citext | //'],
    ['c_bool', 'boolean | boolean | base | bool | //'],
    ['c_date', 'date | date | base | date | //'],
    ['c_time', 'time without time zone | time | base | time | //'],
    ['c_time_p', 'time(3) without time zone | time | base | time | /3/'],
    ['c_timetz', 'time with time zone | time | base | timetz | //'],
    ['c_timestamp', 'timestamp without time zone | dateTime | base | timestamp | //'],
    ['c_timestamp_p', 'timestamp(3) without time zone | dateTime | base | timestamp | /3/'],
    ['c_timestamptz', 'timestamp(0) with time zone | timestamp | base | timestamptz | /0/'],
    ['c_interval', 'interval | interval | base | interval | //'],
    ['c_interval_p', 'interval day to second(2) | interval | base | interval | /2/'],
    ['c_uuid', 'uuid | uuid | base | uuid | //'],
    ['c_json', 'json | json | base | json | //'],
    ['c_jsonb', 'jsonb | json | base | jsonb | //'],
    ['c_bytea', 'bytea | binary | base | bytea | //'],
    ['c_inet', 'inet | string | base | inet | //'],
    ['c_cidr', 'cidr | string | base | cidr | //'],
    ['c_macaddr', 'macaddr | string | base | macaddr | //'],
    ['c_macaddr8', 'macaddr8 | string | base | macaddr8 | //'],
    ['c_bit', 'bit(4) | unknown | base | bit | 4//'],
    ['c_varbit', 'bit varying(9) | unknown | base | varbit | 9//'],
    ['c_xml', 'xml | text | base | xml | //'],
    ['c_tsvector', 'tsvector | unknown | base | tsvector | //'],
    ['c_point', 'point | unknown | base | point | //'],
    ['c_hstore', 'public.hstore | unknown | extension | public.hstore | //'],
    ['c_ltree', 'public.ltree | unknown | extension | public.ltree | //'],
    ['c_qchar', '"char" | string | base | char | 1//'],
    ['c_name', 'name | string | base | name | 63//'],
    ['c_oid', 'oid | unknown | base | oid | //'],
    ['c_regclass', 'regclass | unknown | base | regclass | //'],
    ['c_int2vector', 'int2vector | unknown | base | int2vector | //'],
    ['c_enum', 'shop.status | enum | enum | shop.status | //'],
    ['c_domain', 'shop.short | string | base | varchar | 20//'],
    ['c_domain_array', 'shop.labels | array | array | _text | //'],
    ['c_range', 'int4range | unknown | range | int4range | //'],
    ['c_own_range', 'shop.price_range | unknown | range | shop.price_range | //'],
    ['c_multirange', 'int8multirange | unknown | multirange | int8multirange | //'],
    ['c_composite', 'shop.address | composite | composite | shop.address | //'],
    ['c_ints', 'integer[] | array | array | _int4 | //'],
    ['c_enums', 'shop._status | array | array | shop._status | //'],
  ])('%s', (name, shape) => {
    expect(shapeOf(name)).toBe(shape);
  });

  test.each([
    ['c_matrix', 'integer', 'int4'],
    ['c_varchars', 'string', 'varchar'],
    ['c_moneys', 'decimal', 'money'],
    ['c_enums', 'enum', 'shop.status'],
    ['c_domains', 'string', 'varchar'],
    ['c_domain_array', 'text', 'text'],
    ['c_arrays_of_domain', 'array', '_text'],
    ['c_stamps', 'timestamp', 'timestamptz'],
    ['c_hstores', 'unknown', 'public.hstore'],
  ])('the elements of %s', (name, portable, base) => {
    expect(columnOf(facts, 'shop.types', name).type.element).toMatchObject({ portable, base });
  });

  test('the elements of an array have the limits of its modifier', () => {
    expect(columnOf(facts, 'shop.types', 'c_varchars').type.element?.maxLength).toBe(5);
    expect(columnOf(facts, 'shop.types', 'c_numerics').type.element).toMatchObject({ precision: 6, scale: 3 });
  });

  test('domains are followed from the outside in', () => {
    expect(columnOf(facts, 'shop.types', 'c_domain2')).toMatchObject({
      nullable: false,
      type: {
        domains: [
          { name: 'shop.shorter', notNull: true, checks: ["((VALUE)::text <> 'xx'::text)"] },
          { name: 'shop.short', notNull: false, checks: ['(length((VALUE)::text) > 1)'] },
        ],
        maxLength: 20,
      },
    });
  });

  test('a list in a domain gives the values, its default the fill', () => {
    const column = columnOf(facts, 'shop.types', 'c_size');
    expect(column.type.values).toEqual(['s', 'm', 'l']);
    expect(column.fill).toEqual({ kind: 'default', expression: "'m'::text" });
  });

  test('enums are those of the schemas and those in use', () => {
    expect(facts.enums).toEqual([
      { schema: 'Odd.Schema', name: 'Enum Type', labels: [''], comment: null },
      { schema: 'hidden', name: 'mood', labels: ['calm', 'loud'], comment: null },
      {
        schema: 'shop',
        name: 'status',
        labels: ['draft', 'review', 'published', 'it\'s "odd"', 'archived'],
        comment: 'Life of an article',
      },
      { schema: 'shop', name: 'unused_enum', labels: ['a'], comment: null },
    ]);
  });

  test('only collations other than that of the type are named', () => {
    const collations = ['c_text', 'c_folded', 'c_collated'].map(
      (name) => columnOf(facts, 'shop.types', name).collation,
    );
    expect(collations).toEqual([null, 'shop.folded', 'C']);
  });
});

test.each([
  ['serial_id', { kind: 'serial', sequence: 'shop.fills_serial_id_seq' }],
  ['big_id', { kind: 'serial', sequence: 'shop.fills_big_id_seq' }],
  ['by_default', { kind: 'identity', always: false }],
  ['free', { kind: 'default', expression: "nextval('shop.free_sequence'::regclass)" }],
  ['stamp', { kind: 'default', expression: "'2020-01-01 08:00:00+00'::timestamp with time zone" }],
  ['now', { kind: 'default', expression: 'now()' }],
  ['state', { kind: 'default', expression: "'draft'::shop.status" }],
  ['doubled', { kind: 'generated', expression: '(by_default * 2)', stored: true }],
  ['plain', { kind: 'none' }],
])('what fills %s', (name, fill) => {
  const column = columnOf(facts, 'shop.fills', name);
  expect(column.fill).toEqual(fill);
  expect(column.updatable).toBe(name !== 'doubled');
});

describe('keys', () => {
  test('primary keys keep the order of the key', () => {
    expect(tableOf(facts, 'shop.accounts').primaryKey).toEqual({
      name: 'accounts_pkey',
      columns: ['tax_country', 'tax_number'],
      deferrable: false,
      nullsNotDistinct: false,
    });
    expect(tableOf(facts, 'shop.no_key').primaryKey).toBeNull();
  });

  test('unique constraints and plain unique indexes are keys', () => {
    expect(tableOf(facts, 'shop.people').uniques.map((key) => [key.name, key.columns, key.deferrable])).toEqual([
      ['people_email_key', ['email'], false],
      ['people_late', ['nick', 'tax_country'], true],
      ['people_nick', ['nick'], false],
      ['people_tax', ['tax_country', 'tax_number'], false],
    ]);
  });

  test('foreign keys', () => {
    expect(tableOf(facts, 'shop.people').foreignKeys).toEqual([
      {
        name: 'people_account',
        columns: ['account_country', 'account_number'],
        target: 'shop.accounts',
        targetColumns: ['tax_country', 'tax_number'],
        onDelete: 'set default',
        onUpdate: 'no action',
        deferrable: false,
        initiallyDeferred: false,
        validated: false,
      },
      expect.objectContaining({
        name: 'people_boss_id_fkey',
        target: 'shop.people',
        onDelete: 'set null',
        validated: true,
      }),
    ]);
    expect(tableOf(facts, 'shop.accounts').foreignKeys).toEqual([
      expect.objectContaining({ targetColumns: ['email'], onDelete: 'restrict', onUpdate: 'cascade' }),
      expect.objectContaining({
        columns: ['tax_number', 'tax_country'],
        targetColumns: ['tax_number', 'tax_country'],
        onDelete: 'cascade',
        deferrable: true,
        initiallyDeferred: true,
      }),
    ]);
  });

  test('indexes', () => {
    const indexes = tableOf(facts, 'shop.people').indexes;
    const index = (name: string): unknown => indexes.find((candidate) => candidate.name === name);
    expect(index('people_nick')).toEqual({
      name: 'people_nick',
      method: 'btree',
      columns: ['nick'],
      include: ['email'],
      unique: true,
      predicate: null,
    });
    expect(index('people_partial')).toMatchObject({ unique: true, predicate: '(nick IS NULL)' });
    expect(index('people_expression')).toMatchObject({ columns: ['(lower(email))', 'id'] });
    expect(index('people_operator')).toMatchObject({ columns: ['((nick || email))'], unique: false });
  });
});

test.each([
  ['c_in', ['a', 'b', "it's"]],
  ['c_varchar', ['x', 'y']],
  ['c_any', ['p', 'q']],
  ['c_or', ['m', 'n']],
  ['c_one', ['only']],
  ['c_and', ['u', 'v']],
  ['c_kind', ['k', 'l']],
  ['c_two', ['2', '3']],
  ['c_int', ['1', '2', '-3']],
  ['c_big', ['1', '9007199254740993']],
  ['c_small', ['4', '5']],
  ['c_enum', ['draft', 'review', 'published', 'it\'s "odd"', 'archived']],
  ['c_char', ['de', 'fr']],
  ['c_backslash', ['a\\b', '"q"']],
  ['VALUE', ['v']],
  ['n_short', null],
  ['n_null', null],
  ['n_citext', null],
  ['n_folded', null],
  ['n_numeric', null],
  ['n_date', null],
  ['n_cast', null],
  ['n_lower', null],
  ['n_pair', null],
  ['n_other', null],
  ['n_range', null],
  ['n_late', null],
  ['n_parent', null],
])('values of %s', (name, values) => {
  expect(columnOf(facts, 'shop.checks', name).type.values).toEqual(values);
});

describe('views', () => {
  /** Each column as `name < source`, with a question mark when nullable. */
  const columns = (id: string): string[] =>
    tableOf(facts, id).columns.map((column) => {
      const source = column.source ? ` < ${column.source.table}.${column.source.column}` : '';
      return `${column.name}${column.nullable ? '?' : ''}${source}`;
    });
  const key = (id: string): unknown => tableOf(facts, id).primaryKey?.columns ?? null;

  test.each([
    [
      'v_simple',
      ['id'],
      ['id < shop.people.id', 'E-Mail < shop.people.email', 'nick? < shop.people.nick', 'next_boss?'],
    ],
    ['v_of_view', [':id'], ['mail < shop.people.email', ':id < shop.people.id']],
    ['v_left', null, ['id < shop.people.id', 'boss? < shop.people.id', 'boss_email? < shop.people.email']],
    ['v_full', null, ['id?', 'email? < shop.people.email', 'owner_email? < shop.accounts.owner_email']],
    ['v_inner', null, ['id < shop.people.id', 'tax_number < shop.accounts.tax_number']],
    ['v_sub', null, ['id < shop.people.id', 'email < shop.people.email']],
    ['v_group', null, ['tax_country < shop.people.tax_country', 'people?']],
    ['v_sets', null, ['tax_country? < shop.people.tax_country', 'nick? < shop.people.nick', 'people?']],
    ['v_union', null, ['id?']],
    ['v_unnest', null, ['id < shop.people.id', 'n?']],
    ['v_partition', ['id', 'at'], ['id < shop.events.id', 'at < shop.events.at']],
    ['v_vehicles', null, ['id < shop.vehicles.id']],
    ['m_countries', ['tax_country'], ['tax_country < shop.people.tax_country', 'people?']],
    ['m_people', ['id'], ['id < shop.people.id', 'email < shop.people.email']],
  ])('%s', (name, primaryKey, expected) => {
    expect(columns(`shop.${name}`)).toEqual(expected);
    expect(key(`shop.${name}`)).toEqual(primaryKey);
  });

  test('a view that PostgreSQL can update is writable, column by column', () => {
    const view = tableOf(facts, 'shop.v_simple');
    expect(view.writable).toEqual({ insert: true, update: true, delete: true });
    expect(view.columns.map((column) => column.updatable)).toEqual([true, true, true, false]);
    expect(tableOf(facts, 'shop.v_left').writable).toEqual({ insert: false, update: false, delete: false });
    expect(tableOf(facts, 'shop.m_people').columns.map((column) => column.updatable)).toEqual([false, false]);
  });

  test('a view with a trigger is writable in what the trigger is for', () => {
    const view = tableOf(facts, 'shop.v_trigger');
    expect(view.writable).toEqual({ insert: true, update: false, delete: false });
    expect(view.columns.map((column) => column.updatable)).toEqual([true, true]);
  });

  test('columns of a writable view are filled as those of its table, unless it has defaults of its own', () => {
    const fills = tableOf(facts, 'shop.v_fills').columns.map((column) => [column.fill.kind, column.updatable]);
    expect(fills).toEqual([
      ['identity', true],
      ['default', true],
      ['generated', false],
      ['default', true],
      ['default', true],
    ]);
  });

  test('lists of values hold in a view, too', () => {
    expect(tableOf(facts, 'shop.v_lists').columns[0]?.type.values).toEqual(['a', 'b', "it's"]);
  });
});

describe('relations', () => {
  test('a partitioned table stands for its partitions and has each foreign key once', () => {
    const names = facts.tables.map((table) => table.name);
    expect(names.filter((name) => name.startsWith('events'))).toEqual(['events']);
    expect(tableOf(facts, 'shop.events')).toMatchObject({ kind: 'partitioned', inherits: [] });
    expect(tableOf(facts, 'shop.events').foreignKeys.map((foreignKey) => foreignKey.target)).toEqual(['shop.people']);
  });

  test('a foreign key to a partition leads to its table when the table has the key', () => {
    expect(tableOf(facts, 'shop.event_notes').foreignKeys.map(({ name, target }) => [name, target])).toEqual([
      ['event_notes_event_id_event_at_fkey', 'shop.events'],
      ['to_partition', 'shop.events'],
    ]);
    expect(codesOf(facts)).toContain('foreign-key-to-partition table shop.event_notes');
  });

  test('inheritance', () => {
    expect(tableOf(facts, 'shop.cars')).toMatchObject({ inherits: ['shop.vehicles'], primaryKey: null });
    expect(codesOf(facts)).toContain('inheritance-parent table shop.vehicles');
  });

  test('a foreign table whose wrapper has no code is read', () => {
    const table = tableOf(facts, 'shop.f_table');
    expect(table).toMatchObject({ kind: 'foreign', writable: { insert: false, update: false, delete: false } });
    expect(table.columns.map((column) => column.nullable)).toEqual([false, true]);
  });

  test('comments, owner and row-level security', () => {
    const table = tableOf(facts, 'shop.people');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a comment that would be code in a template
    expect(table.comment).toBe('People */ process.exit(1) /* and ${names}');
    expect(columnOf(facts, 'shop.people', 'email').comment).toBe('Line one\nline two');
    expect(table.rowSecurity).toEqual({
      ...{ enabled: true, forced: true },
      policies: [
        { name: 'people_policy', permissive: true, command: 'all', roles: ['public'], using: 'true', check: null },
      ],
    });
    expect(table.owner).not.toBe('');
  });

  test('names of any spelling are kept', () => {
    expect(tableOf(facts, '"Odd.Schema".select').columns.map((column) => column.name)).toEqual([
      'from',
      'order by',
      'MixedCase',
      'a.b',
      'say "hi"',
      '1st',
      'naïve 日本 🙂',
      '__proto__',
      'constructor',
      'then',
      'toString',
      'back\\slash',
      "semi;colon'--",
      '{brace}(paren)',
      '<>',
      'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk',
    ]);
    expect(tableOf(facts, '"Odd.Schema".__proto__').foreignKeys[0]).toMatchObject({ columns: ['__proto__'] });
    expect(tableOf(facts, '"Odd.Schema"."with ""quotes"" and.dots"').columns[0]?.type.values).toEqual(['A']);
    expect(columnOf(facts, '"Odd.Schema".table', '__proto__').type.values).toEqual(['constructor']);
    expect(columnOf(facts, '"Odd.Schema".table', 'e').type.element?.values).toEqual(['']);
  });

  test('a view may rename columns to anything', () => {
    expect(tableOf(facts, '"Odd.Schema".view').columns.map((column) => [column.name, column.source?.column])).toEqual([
      ['{', 'from'],
      [':resno', 'order by'],
      ['\\', 'say "hi"'],
      ['<>', '<>'],
      ['  ', 'back\\slash'],
    ]);
  });

  test('what has no place in the schema is told', () => {
    expect(codesOf(facts)).toEqual(
      expect.arrayContaining([
        'aggregate-not-served schema shop',
        'check-not-validated table shop.checks',
        'collation-not-served schema shop',
        'exclusion-constraint table shop.bookings',
        'extended-statistics-object-not-served table shop.people',
        'extension-relation table public.pg_stat_statements',
        'foreign-key-detail table shop.people',
        'foreign-key-of-partition table shop.events',
        'function-not-served schema shop',
        'no-columns table shop.no_columns',
        'partitions table shop.events',
        'procedure-not-served schema shop',
        'rewrite-rule-not-served table shop.no_key',
        'row-level-security-policy-not-served table shop.people',
        'sequence-not-served schema shop',
        'trigger-not-served table shop.people',
        'trigger-not-served table shop.v_trigger',
        'type-unknown type public.ltree',
        'type-unused schema shop',
      ]),
    );
  });
});

describe('selection', () => {
  test('an allow-list leaves out other schemas and tells what led there', async () => {
    const part = await factsOf(database.url, { schemas: ['shop', 'pg_catalog', 'nowhere'] });
    expect([...new Set(part.tables.map((table) => table.schema))]).toEqual(['shop']);
    expect(tableOf(part, 'shop.outside').foreignKeys).toEqual([]);
    expect(codesOf(part)).toEqual(
      expect.arrayContaining([
        'foreign-key-outside table shop.outside',
        'partition-without-table table shop.stray',
        'schema-unknown schema nowhere',
        'schema-unknown schema pg_catalog',
        'schemas-not-listed database',
        'view-source-outside table shop.v_hidden',
      ]),
    );
  });

  test('views keep what they know of tables outside of the allow-list', async () => {
    const part = await factsOf(database.url, { schemas: ['shop'] });
    const view = tableOf(part, 'shop.v_hidden');
    expect(view.columns.map(({ nullable, source }) => ({ nullable, source }))).toEqual([
      { nullable: false, source: null },
      { nullable: false, source: null },
    ]);
    expect(view.primaryKey?.columns).toEqual(['id']);
    expect(part.enums.map((type) => type.name)).toEqual(['mood', 'status', 'unused_enum']);
  });

  test('patterns include and exclude', async () => {
    const part = await factsOf(database.url, { include: ['shop.v_*', 'people'], exclude: ['*.v_s*', 'nothing_*'] });
    const names = part.tables.map((table) => table.name);
    expect(names).toContain('people');
    expect(names).toContain('v_left');
    expect(names).not.toContain('v_simple');
    expect(names).not.toContain('accounts');
    expect(codesOf(part)).toContain('pattern-without-match platform.config.ts');
    expect(codesOf(part)).toContain('relation-excluded table shop.accounts');
  });
});
