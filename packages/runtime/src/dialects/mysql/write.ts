/** Rows of JSON as tables of input, and lists of what many rows hold in the form of PostgreSQL's arrays. */
import type { FieldDescriptor, PortableType } from '../../language/index.ts';
import type { CopiedFields, CopyDialect, FixedValue, InputDialect, InputField } from '../dialect.ts';
import { allOf, cast, castStored, sqlTrue } from '../fragment.ts';
import { inputText, type MysqlServerName } from './texts.ts';

/** Types of the elements of a list that is sent as JSON. */
export const elementTypes: ReadonlyMap<string, string> = new Map([
  ['int4', 'BIGINT'],
  ['uint4', 'BIGINT'],
  ['int8', 'BIGINT'],
  ['uint8', 'BIGINT UNSIGNED'],
  ['numeric', 'DECIMAL(65,30)'],
  ['float4', 'FLOAT'],
  ['float8', 'DOUBLE'],
  ['date', 'DATE'],
  ['time', 'TIME(6)'],
  ['timestamp', 'DATETIME(6)'],
  ['timestamptz', 'DATETIME(6)'],
]);

/** Types as which values are compared. All others are texts, which the servers convert without loss. */
const compared: ReadonlyMap<string, string> = new Map([['int2', 'BIGINT'], ...elementTypes]);

/** The type of a server among some of them; a decimal may tell its digits: `numeric(65,25)`. */
export function typeAmong(types: ReadonlyMap<string, string>, native: string): string | undefined {
  const name = plain(native);
  return name.startsWith('numeric(') ? name.replace('numeric', 'DECIMAL') : types.get(name);
}

/** Types of columns that may be shorter than their input. */
const shortened: ReadonlySet<string> = new Set(['text', 'set']);

/** Inputs on MySQL and MariaDB; `exactly` is the dialect's. */
export function mysqlInput(exactly: (expression: string) => string, server: MysqlServerName): InputDialect {
  const returning = server === 'mariadb';
  // MariaDB copies a column of input into a shorter one without a look at its length, but not what a function gives.
  const stored: InputDialect['stored'] = (input, field) =>
    returning && shortened.has(field.native) ? `CONCAT(${storedValue(input, field)})` : storedValue(input, field);
  return {
    table(shape, { columns, count, alias }) {
      const lists = columns.map(({ list, native }) => ({ index: list, native: plain(native) }));
      const rows = shape({ kind: 'rows', of: lists, ...(count !== undefined && { count }) }, 'rows');
      const typed = columns.map((column, index) => `${column.name} ${typeOf(server, column)} PATH '$[${index}]'`);
      return `JSON_TABLE(${rows}, '$[*]' COLUMNS (${['n FOR ORDINALITY', ...typed].join(', ')})) AS ${alias}`;
    },
    // Left to itself the server reads a small table whole, and locks all of its rows.
    join: ' STRAIGHT_JOIN ',
    lookUp: (table, input, on) => `${input} STRAIGHT_JOIN ${table} ON ${on}`,
    equal(column, input, field) {
      const native = plain(field?.native ?? 'text');
      if (native === 'uuid') return `${column} = CAST(${input} AS UUID)`;
      if (native === 'bytea') return `${cast(column, field?.comparison)} = UNHEX(${input})`;
      if (typeAmong(compared, native) !== undefined || native === 'bool')
        return `${cast(column, field?.comparison)} = ${input}`;
      const same = `${exactly(cast(column, field?.comparison))} = ${exactly(input)}`;
      // The exact comparison implies the plain one, but an index serves only the plain one.
      return field?.collated === undefined ? same : `${column} = ${cast(input, field.collated)} AND ${same}`;
    },
    stored,
    kept: stored,
    sought: (input, field) => indexedValue(storedValue(input, field), field),
    indexed: indexedValue,
    // A text stands beside a text of input, which has another collation; a boolean becomes its number.
    typed(expression, native) {
      if (plain(native) === 'uuid') return exactly(`CAST(${expression} AS CHAR)`);
      if (plain(native) === 'bool') return `(${expression} + 0)`;
      return plain(native) === 'text' || plain(native) === 'json' ? exactly(expression) : expression;
    },
    collectedArray({ value, order, only, settled, field }) {
      const element = `IFNULL(${field === undefined ? value : quoted(value, field)}, 'NULL')`;
      const counted = only === undefined ? element : `CASE WHEN ${only} THEN ${element} END`;
      const by = order ?? settled;
      return `CONCAT('{', GROUP_CONCAT(${counted}${by === undefined ? '' : ` ORDER BY ${by}`}), '}')`;
    },
    returning,
    locksSorted: false,
    // Bits are numbers to HEX, which leaves out zeros in front.
    keyText: (value, { native, precision, comparison }) =>
      textOf(plain(native) === 'bytea' ? cast(value, comparison) : rounded(value, native, precision), native),
    text: (expression) => expression,
    update: (table, column, value, input, on) =>
      `UPDATE ${input} STRAIGHT_JOIN ${table} AS t ON ${on} SET t.${column} = ${value}`,
    updated: 1,
    deferral: null,
    count: (only) => `CAST(${only === undefined ? 'COUNT(*)' : `COUNT(CASE WHEN ${only} THEN 1 END)`} AS CHAR)`,
    // MySQL does not lock what comes from a parameter, so the table is named; MariaDB knows no names there.
    lock(lock, alias) {
      if (returning) return lock === 'KEY SHARE' ? ' LOCK IN SHARE MODE' : ' FOR UPDATE';
      return `${lock === 'KEY SHARE' ? ' FOR SHARE' : ' FOR UPDATE'} OF ${alias}`;
    },
    place: (order) => `, ROW_NUMBER() OVER (${order.trim()}) AS n`,
  };
}

function storedValue(input: string, { native, stored }: Pick<FieldDescriptor, 'native' | 'stored'>): string {
  if (stored !== undefined) return castStored(input, { native, stored });
  return native === 'bytea' ? `UNHEX(${input})` : input;
}

/** Bits compare as a number, so bytes become one. Zeros in front add nothing to it; no column has more than eight bytes. */
function indexedValue(value: string, { native, comparison, collated }: FieldDescriptor): string {
  if (collated !== undefined) return cast(value, collated);
  if (plain(native) === 'uuid') return `CAST(${value} AS UUID)`;
  if (plain(native) === 'bool') return `(${value} + 0)`;
  const isBits = plain(native) === 'bytea' && comparison !== undefined;
  if (!isBits) return value;
  const fits = `LENGTH(TRIM(LEADING X'00' FROM ${value})) <= 8`;
  return `IF(${fits}, CAST(CONV(HEX(${value}), 16, 10) AS UNSIGNED), NULL)`;
}

/** A moment with as many digits as the column keeps. */
function rounded(value: string, native: string, precision: number | undefined): string {
  const type = moments.get(plain(native));
  return type === undefined || precision === undefined ? value : `CAST(${value} AS ${type}(${precision}))`;
}

const moments: ReadonlyMap<string, string> = new Map([
  ['time', 'TIME'],
  ['timestamp', 'DATETIME'],
  ['timestamptz', 'DATETIME'],
]);

/** A value as a text that a parameter of its type is read from. */
export function textOf(value: string, native: string): string {
  if (plain(native) === 'bool') return `ELT((${value} <> 0) + 1, 'false', 'true')`;
  return plain(native) === 'bytea' ? `CONCAT('\\\\x', LOWER(HEX(${value})))` : `CAST(${value} AS CHAR)`;
}

/** The text of a value between quotes, as an element of an array. */
function quoted(value: string, field: Pick<FieldDescriptor, 'type' | 'native' | 'maxLength' | 'values'>): string {
  const { type, native, values = [] } = field;
  const maxLength = type === 'enum' ? Math.max(...values.map(({ length }) => length)) : field.maxLength;
  // MySQL cuts what REPLACE makes longer than it expects of a short column: each character may become two.
  const text = maxLength === undefined ? textOf(value, native) : `CAST(${value} AS CHAR(${2 * maxLength + 2}))`;
  if (plain(native) === 'bytea') return `CONCAT('"\\\\\\\\x', LOWER(HEX(${value})), '"')`;
  return `CONCAT('"', REPLACE(REPLACE(${text}, '\\\\', '\\\\\\\\'), '"', '\\\\"'), '"')`;
}

function typeOf(server: MysqlServerName, { native, stored }: InputField): string {
  if (plain(native) === 'bool') return 'BIGINT';
  return (stored === true ? undefined : typeAmong(compared, native)) ?? inputText(server);
}

function plain(native: string): string {
  return native.replace(/^pg_catalog\./, '');
}

/** Copies on MySQL and MariaDB. Members come in the order of their fields. */
export function mysqlCopies(
  name: 'mysql' | 'mariadb',
  { equal }: InputDialect,
  keyOf: (text: string, type: PortableType, native: string) => string | undefined,
): CopyDialect {
  const json = (text: string): string => (name === 'mysql' ? `CAST(${text} AS JSON)` : text);
  const keyMatches: CopyDialect['keyMatches'] = (column, text, field) => {
    const value = keyOf(text, field.type, field.native);
    return value !== undefined ? `${column} = ${value}` : equal(column, text, field);
  };
  return {
    memberMatches: (fixed, contents, column, field) =>
      keyMatches(column, `JSON_UNQUOTE(JSON_EXTRACT(${contents}, ${fixed(pathTo(field.name), 'text')}))`, field),
    keyMatches,
    reduced({ fixed, collection, contents, readable }) {
      const branches = readable.map((copied) => {
        const members = membersOf(fixed, contents, copied);
        const object = `CONCAT('{', ${members.length === 0 ? "''" : `CONCAT_WS(',', ${members.join(', ')})`}, '}')`;
        return `WHEN ${fixed(copied.collection, 'text')} THEN ${object}`;
      });
      if (branches.length === 0) return 'NULL';
      return `CASE WHEN ${contents} IS NOT NULL THEN ${json(`CASE ${collection} ${branches.join(' ')} END`)} END`;
    },
  };
}

/** Members, each null where it is not there, or must not be. */
function membersOf(fixed: FixedValue, contents: string, { always, sometimes }: CopiedFields): readonly string[] {
  const cases = [{ fields: always, predicate: sqlTrue }, ...sometimes];
  return cases.flatMap(({ fields, predicate }) =>
    fields.map((field) => {
      const path = fixed(pathTo(field), 'text');
      const there = allOf([`JSON_CONTAINS_PATH(${contents}, 'one', ${path})`, predicate]);
      const name = fixed(`${JSON.stringify(field)}:`, 'text');
      return `CASE WHEN ${there} THEN CONCAT(${name}, JSON_EXTRACT(${contents}, ${path})) END`;
    }),
  );
}

/** A path of the servers to a member of any name. */
function pathTo(name: string): string {
  return `$.${JSON.stringify(name)}`;
}
