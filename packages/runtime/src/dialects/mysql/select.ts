/**
 * MySQL and MariaDB. Sessions read identifiers in double quotes (`ANSI_QUOTES`) and keep their clock in UTC; see
 * `driver/session.ts`.
 *
 * Records and lists are texts that name their kind, which the driver takes apart. A list is `[…]`, a record `(…)`, a
 * missing value `~`, and a value beyond the limit of the server `!`. A number is `=…;`, and a time as the server writes
 * it `@…;` or `&…;`. Every other value is its length in bytes, a colon, and the bytes. So no character needs an escape,
 * and values keep the form in which they were selected. Nothing is aggregated as JSON, which the servers do slowly.
 */
import { isPathForm, keysMark, type Statement } from '../../database/database.ts';
import { aggregateKind } from '../../language/descriptors/aggregates.ts';
import { type FieldFunction, isWhole, type Operator, type PortableType } from '../../language/index.ts';
import type { ListedType, ListTerm, SpatialDialect, SqlDialect, VectorDialect } from '../dialect.ts';
import { cast, type OrderedTerm, orderBy } from '../fragment.ts';
import { encoded, mysqlJson, rawColumn, within } from './json.ts';
import { nestedColumn } from './rows/nested.ts';
import { exactCollation, inputText, type MysqlServerName } from './texts.ts';
import { elementTypes, mysqlCopies, mysqlInput, textOf, typeAmong } from './write.ts';

const asText = 'CAST({} AS CHAR)';

/** Names of locks are short, and of the whole server. It waits for a year, which the timeout of statements cuts. */
const sessionLock: Statement = {
  name: 'w_lock',
  text: 'SELECT GET_LOCK(SHA2(CONCAT(DATABASE(), ?), 256), 31536000)',
  locksSession: true,
};

/** Types of parameters that are cast from a text; any other is one. */
const casts: ReadonlyMap<string, string> = new Map([
  ...elementTypes,
  ['int4', 'SIGNED'],
  ['uint4', 'SIGNED'],
  ['int8', 'SIGNED'],
  ['bool', 'SIGNED'],
  ['uint8', 'UNSIGNED'],
]);

/** SQL of the operators that match text: `{}` stands for the text, `$` for the pattern. */
const matches: Readonly<Partial<Record<Operator, string>>> = {
  _contains: '{} LIKE $',
  _ncontains: '{} NOT LIKE $',
  _icontains: 'LOWER({}) LIKE LOWER($)',
  _starts_with: '{} LIKE $',
  _nstarts_with: '{} NOT LIKE $',
  _istarts_with: 'LOWER({}) LIKE LOWER($)',
  _nistarts_with: 'LOWER({}) NOT LIKE LOWER($)',
  _ends_with: '{} LIKE $',
  _nends_with: '{} NOT LIKE $',
  _iends_with: 'LOWER({}) LIKE LOWER($)',
  _niends_with: 'LOWER({}) NOT LIKE LOWER($)',
  _regex: '{} REGEXP $',
};

const parts: Readonly<Record<Exclude<FieldFunction, 'count'>, string>> = {
  year: 'YEAR({})',
  month: 'MONTH({})',
  week: 'WEEK({}, 3)',
  day: 'DAYOFMONTH({})',
  weekday: '(DAYOFWEEK({}) - 1)',
  hour: 'HOUR({})',
  minute: 'MINUTE({})',
  second: 'SECOND({})',
};

const calls: Pick<SqlDialect, 'now' | 'field' | 'aggregate'> = {
  now(offset, type) {
    const [, months = '0', microseconds = '0'] = /^MONTH, (CAST\(\S+ AS SIGNED\)), (.*)$/.exec(offset) ?? [];
    // Years before the first fail in writes and are null in reads. No value lies before the earliest moments of both kinds.
    const day = `GREATEST(${microseconds}, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), '0001-01-01'))`;
    const month = `GREATEST(${months}, -12 * CAST(YEAR(UTC_TIMESTAMP()) AS SIGNED))`;
    const moved = `TIMESTAMPADD(MONTH, ${month}, TIMESTAMPADD(MICROSECOND, ${day}, UTC_TIMESTAMP(6)))`;
    if (type === 'date') return `DATE(${moved})`;
    return type === 'time' ? `TIME(${moved})` : moved;
  },
  field(call, expression) {
    if (call !== 'count') return cast(expression, parts[call]);
    return `CASE WHEN JSON_TYPE(${expression}) = 'ARRAY' THEN JSON_LENGTH(${expression}) END`;
  },
  aggregate(call, argument, field) {
    const kind = aggregateKind(call);
    // As a number with a point and not as a decimal, whose digits after the point would be cut.
    const value = kind === 'avg' && field?.type === 'integer' ? `${argument} + 0e0` : argument;
    return `${kind.toUpperCase()}(${call.endsWith('Distinct') ? 'DISTINCT ' : ''}${value ?? '*'})`;
  },
};

/** Records and lists as the driver takes them apart. */
const records: Pick<SqlDialect, 'record' | 'list' | 'single'> = {
  record: (values) => `CONCAT(_binary'(', ${values.map((value) => `${within(value)}, `).join('')}')')`,
  list({ element: value, from, where, order, bounds }) {
    const all = `GROUP_CONCAT(${encoded(value)}${orderBy(order.flatMap(withNulls))} SEPARATOR ''${bounds})`;
    return `(SELECT IFNULL(CONCAT(_binary'[', IFNULL(${all}, ''), ']'), '!') FROM ${from}${where})`;
  },
  single: (value, rows) =>
    `IFNULL((SELECT IFNULL(CONCAT(_binary'[', ${value.expression}, ']'), '!') FROM ${rows}), '[]')`,
};

/** Spatial functions of MySQL and MariaDB: an index serves comparisons of boxes, so the exact ones have one before them. */
const mysqlSpatial: SpatialDialect = {
  intersects: (_, left, right) => `(MBRIntersects(${left}, ${right}) AND ST_Intersects(${left}, ${right}))`,
  within: (_, left, right) => `(MBRIntersects(${left}, ${right}) AND ST_Within(${left}, ${right}))`,
  boxes: (_, left, right) => `MBRIntersects(${left}, ${right})`,
  near: (_, left, right, distance) => `(ST_Distance(${left}, ${right}) <= CAST(${distance} AS DOUBLE))`,
  distance: (_, left, right) => `ST_Distance(${left}, ${right})`,
};

/** Vectors of MariaDB, which has two metrics. */
const mysqlVectors: VectorDialect = {
  distance: (_, metric, left, right) =>
    `VEC_DISTANCE_${metric === 'cosine' ? 'COSINE' : 'EUCLIDEAN'}(${left}, ${right})`,
  within: (distance, greatest) => `(${distance} <= CAST(${greatest} AS DOUBLE))`,
};

/** The dialect of MariaDB, which limits lists inside of its aggregate. */
export const mariadb: SqlDialect = dialectOf('mariadb');

/** The dialect of MySQL, whose subqueries in FROM see the row around them. */
export const mysql: SqlDialect = dialectOf('mysql');

function dialectOf(name: MysqlServerName): SqlDialect {
  const binary = exactCollation(name);
  const exactly = (expression: string): string => `CONVERT(${expression} USING utf8mb4) COLLATE ${binary}`;
  const input = mysqlInput(exactly, name);
  return {
    name,
    systemName: name,
    positional: true,
    placeholder: (native, placeholder) => printParameter(name, native, placeholder),
    boundType: 'limit',
    noLimit: ' LIMIT 18446744073709551615',
    fence: '',
    nulls: 'first',
    oneGroup: ' HAVING COUNT(*) >= 0',
    noColumns: '1',
    countRows: 'COUNT(*)',
    asText,
    exactText,
    // Orders go by the number of a label, or of several, comparisons by its text.
    placeOf: (cell, { type, native }) =>
      type === 'enum' || native === 'set' ? `CAST(${cell} AS UNSIGNED)` : undefined,
    datePart: { kind: 'number', cast: asText },
    average: { kind: 'number', cast: asText },
    pages: name === 'mariadb' ? 'never' : 'always',
    namesArguments: false,
    selectsLast: true,
    looksUp: false,
    returnsWrites: false,
    defersConstraints: false,
    namedLock: sessionLock,
    keepsForeignKeys: false,
    pageLink: (reached, start) => (name === 'mysql' ? `${reached} = ${start}` : undefined),
    sortsAlike: () => true,
    nothing: () => 'NULL',
    flag: (predicate) => `ELT((${predicate}) + 1, _binary X'00', _binary X'01')`,
    exactly,
    ...textsOf(exactly),
    ...listsOf(binary, exactly),
    ...calls,
    keyOf,
    ...records,
    spatial: mysqlSpatial,
    vectors: mysqlVectors,
    json: mysqlJson(name, exactly),
    input,
    copies: mysqlCopies(name, input, keyOf),
    answer: ({ expression, nested }) =>
      nested ? `${expression} AS "${nestedColumn}"` : (rawColumn(expression) ?? expression),
  };
}

/**
 * A term of the order within GROUP_CONCAT, which takes null for the zero or the empty text of its type. So presence goes
 * first, in the direction of the term: MySQL gives that of a constant, which it may be, to the term after it.
 */
function withNulls(term: ListTerm): readonly OrderedTerm[] {
  if (term.value?.nullable === false) return [term];
  return [{ expression: `(${term.expression}) IS NOT NULL`, direction: term.direction }, term];
}

/** A value with all digits: the server writes six of a float. */
function exactText(expression: string, native = 'text'): string {
  return textOf(native.startsWith('float') ? `CAST(${expression} AS DOUBLE)` : expression, native);
}

/** A parameter of a type, from the form in which it is sent. */
function printParameter(
  server: MysqlServerName,
  native: string,
  placeholder: Parameters<SqlDialect['placeholder']>[1],
): string {
  const plain = native.replace(/^pg_catalog\./, '');
  if (plain === 'limit') return placeholder('integer');
  if (plain === 'rows') return placeholder('text');
  if (isPathForm(plain)) return placeholder(plain);
  if (plain === 'interval')
    return `MONTH, CAST(${placeholder('months')} AS SIGNED), CAST(${placeholder('microseconds')} AS SIGNED)`;
  if (plain.endsWith('[]'))
    return jsonTable(server, plain.slice(0, -2), placeholder(`${formOf(plain.slice(0, -2))}[]`));
  if (plain === 'bytea') return bytesOf(placeholder('text'));
  // A type that cuts no digit of a wide column may cut those of the value beside it, so its parts come apart.
  if (/^numeric\(65,[12]?\d\)$/.test(plain))
    return `(CAST(${placeholder('whole')} AS DECIMAL(65,0)) + CAST(${placeholder('fraction')} AS DECIMAL(30,30)))`;
  const type = typeAmong(casts, plain);
  if (type === undefined) return placeholder('text');
  const value = placeholder(formOf(plain));
  // MySQL takes a parameter for what it is cast to, as far as that goes: to BIGINT, or to a time of day.
  const isCut = server === 'mysql' && (plain === 'uint8' || plain === 'time');
  return `CAST(${isCut ? cast(value, asText) : value} AS ${type})`;
}

/** SQL of texts, which are compared byte by byte. */
function textsOf(
  exactly: (expression: string) => string,
): Pick<SqlDialect, 'grouped' | 'matches' | 'wordSearch' | 'patternOf'> {
  return {
    grouped: (expression, field) => (field.folds === true ? exactly(expression) : expression),
    matches: (operator, left, pattern) =>
      (matches[operator] ?? '').replace(/\{\}|\$/g, (marker) => (marker === '{}' ? exactly(left) : pattern)),
    wordSearch(document, sought) {
      const fits = `MATCH (${document}) AGAINST (${sought} IN NATURAL LANGUAGE MODE)`;
      return { matches: fits, rank: fits };
    },
    patternOf(before, value, after) {
      const escaped = ['\\\\', '%', '_'].reduce(
        (inner, sign) => `REPLACE(${inner}, '${sign}', '\\\\${sign}')`,
        cast(value, asText),
      );
      return `CONCAT('${before}', ${escaped}, '${after}')`;
    },
  };
}

/** SQL of lists of parameters, and of what is found by a path. */
function listsOf(
  binary: string,
  exactly: (expression: string) => string,
): Pick<SqlDialect, 'among' | 'byKeyList' | 'rowAmong' | 'pathText' | 'pathValues' | 'amongPath'> {
  const element = ({ native, collated }: ListedType): string => {
    if (native === 'bytea') return bytesOf('j.v');
    return isText(native) ? cast('j.v', collated ?? `{} COLLATE ${binary}`) : 'j.v';
  };
  return {
    among: (left, list, type, negated) =>
      `${left} ${negated ? 'NOT IN' : 'IN'} (SELECT ${element(type)} FROM ${list} j)`,
    // Sends a number as a number: converting a text for each key takes longer than finding the row.
    byKeyList: (left, native, shape) =>
      `${left} IN (${keysMark.replace('?', shape(isText(native) ? native : 'limit'))})`,
    rowAmong(columns, keys) {
      const selected = keys.map((key, index) => element(key).replace('j.', `j${index}.`));
      const joined = keys.map(({ list }, index) => `${list} j${index}${index === 0 ? '' : ` ON j${index}.n = j0.n`}`);
      return `(${columns.join(', ')}) IN (SELECT ${selected.join(', ')} FROM ${joined.join(' JOIN ')})`;
    },
    pathText: (value) => exactly(cast(value, asText)),
    pathValues: (select) => select,
    // Without a value no comparison holds.
    amongPath: (left, values, negated) =>
      negated ? `(EXISTS (${values}) AND ${left} NOT IN (${values}))` : `${left} IN (${values})`,
  };
}

function keyOf(value: string, type: PortableType): string | undefined {
  if (!isWhole(type)) return undefined;
  return `CASE WHEN ${value} REGEXP '^-?[0-9]{1,18}$' THEN CAST(${value} AS SIGNED) END`;
}

/** Bytes, by PostgreSQL's text of them. */
function bytesOf(text: string): string {
  return `UNHEX(SUBSTR(${text}, 3))`;
}

function isText(native: string): boolean {
  return typeAmong(elementTypes, native) === undefined;
}

function formOf(native: string): 'text' | 'boolean' | 'instant' {
  if (native === 'bool') return 'boolean';
  return native === 'timestamp' || native === 'timestamptz' ? 'instant' : 'text';
}

function jsonTable(server: MysqlServerName, native: string, placeholder: string): string {
  const type = typeAmong(elementTypes, native) ?? inputText(server);
  return `JSON_TABLE(${placeholder}, '$[*]' COLUMNS (n FOR ORDINALITY, v ${type} PATH '$'))`;
}
