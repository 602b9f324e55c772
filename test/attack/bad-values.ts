/** Values that have ever broken something, and types of columns to break with them. */

/** Types of columns, with types of the test's own (`createTypes`). */
export const types = [
  ...['smallint', 'integer', 'bigint', 'numeric', 'numeric(5,2)', 'money', 'real', 'double precision', 'boolean'],
  ...['text', 'varchar(3)', 'char(4)', '"char"', 'name', 'uuid', 'json', 'jsonb', 'bytea', 'xml', 'tsvector'],
  ...['date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'interval year to month', 'time(0)'],
  ...['inet', 'cidr', 'macaddr', 'bit(3)', 'varbit', 'point', 'int4range', 'oid', 'regclass', 'pg_lsn', 'xid'],
  ...['mood', 'positive', 'short_name', 'mood_domain', 'stamp', 'pair', 'text COLLATE blind'],
  ...['integer[]', 'text[]', 'mood[]', 'positive[]', 'smallint[]', 'real[]', 'timestamptz[]', 'json[]', 'inet[]'],
  ...['int8range', 'numrange', 'tstzrange', 'daterange', 'datemultirange', 'int4_domain'],
];

/** As text of a query string, percent-encoded where it must be. */
export const texts = [
  ...['', 'null', 'true', 'abc', 'NaN', 'Infinity', '-Infinity', '1e400', '-1e400', '1e-400', '-0', '0x1', ' 1', '１'],
  ...['1', '-1', '1.5', '1e3', '32768', '2147483648', '9223372036854775808', '9'.repeat(400), `0.${'1'.repeat(400)}`],
  ...[
    '2023-02-30',
    '2023-13-01',
    '0000-01-01',
    '-4711-01-01',
    '10000-01-01',
    '294276-12-31',
    '294277-01-01',
    'infinity',
  ],
  ...['24:00', '24:00:00', '23:59:60', '25:00', '2024-03-31T02:30:00', '2024-03-31T02:30:00+25:00', 'epoch', 'now'],
  ...['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.1234567891Z', 'P1D', 'P', 'P9999999Y9999999M9999999W9999999D'],
  ...[
    'PT999999999H',
    'P-1Y',
    '3.4028235e38',
    '3.4028236e38',
    '1e-45',
    '7e-46',
    '1e-46',
    '1 day',
    '$NOW',
    '$NOW(-1 day)',
    '$NOW(4000 years)',
    '$NOW(x)',
    '$CURRENT_USER',
    '$X',
  ],
  ...['$CURRENT_USER.id', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'YQ=', 'YQ=='],
  ...[
    '%',
    '_',
    '\\',
    "'",
    '"',
    '{',
    '{1,2}',
    '1,2',
    'a,b',
    ',',
    '\\x00',
    'happy',
    "x'); DROP TABLE samples;--",
    '192.168.0.1',
  ],
  ...['%00', '%ed%a0%80', '%ff', '%F0%9F%98%80', 'x'.repeat(2000), '[1,2]', '{"a":1}', '1, 2'],
];

/** As JSON. */
const json = [
  ...['null', '""', '[]', '{}', 'true', 'false', '0', '-0', '1', '-1', '1.5', '1e3', '1E400', '-1e400', '1e-400'],
  ...[
    '32768',
    '2147483648',
    '9007199254740993',
    '9223372036854775808',
    '9'.repeat(400),
    '0.1000000000000000055511151231257827',
  ],
  ...['[null]', '[1,null]', '[[1]]', '[{}]', '[1,2]', '["a","b"]', '[true,false]', '["2024-01-01","$NOW"]', '{"a":1}'],
  ...['"\\u0000"', '"\\ud800"', '"\\udc00x"', '{"_eq":1}', '{"$gt":""}', '[1,1,1]', '["",""]', '"\\u2028"'],
];

/** The same and more as JSON text. */
export const inJson: ReadonlySet<string> = new Set([
  ...json,
  ...texts.filter((text) => !/^%..?/.test(text)).map((text) => JSON.stringify(text)),
]);

/** A text of `texts` as it stands in an address. */
export function encoded(text: string): string {
  return /^%..?/.test(text) ? text : encodeURIComponent(text);
}

/** Makes the types that `types` names beside those of PostgreSQL. */
export const createTypes = `
  CREATE TYPE mood AS ENUM ('happy', 'so so', '', 'null', '1');
  CREATE DOMAIN positive AS integer NOT NULL CHECK (VALUE > 0);
  CREATE DOMAIN int4_domain AS int4range;
  CREATE DOMAIN short_name AS varchar(2) CHECK (VALUE <> 'no');
  CREATE DOMAIN mood_domain AS mood CHECK (VALUE <> 'happy');
  CREATE DOMAIN stamp AS timestamptz(0);
  CREATE TYPE pair AS (a integer, b text);
  CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);`;
