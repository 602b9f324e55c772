import { aggregateKind } from '../../language/descriptors/aggregates.ts';
import {
  type FieldDescriptor,
  type FieldFunction,
  type Operator,
  type PortableType,
  types,
} from '../../language/index.ts';
import type { GeometryForm, VectorMetric } from '../../language/types/definition.ts';
import type { SpatialDialect, SqlDialect, VectorDialect } from '../dialect.ts';
import { cast, orderBy } from '../fragment.ts';
import { postgresJson } from './json.ts';
import { postgresCopies, postgresInput } from './write.ts';

const matches: Readonly<Partial<Record<Operator, string>>> = {
  _contains: 'LIKE',
  _ncontains: 'NOT LIKE',
  _icontains: 'ILIKE',
  _starts_with: 'LIKE',
  _nstarts_with: 'NOT LIKE',
  _istarts_with: 'ILIKE',
  _nistarts_with: 'NOT ILIKE',
  _ends_with: 'LIKE',
  _nends_with: 'NOT LIKE',
  _iends_with: 'ILIKE',
  _niends_with: 'NOT ILIKE',
  _regex: '~',
};

/**
 * Cast of texts that are matched with patterns. It uses the database's own collation, because PostgreSQL matches none
 * with a collation in which different texts are equal. Besides, that of a column may know only the case of ASCII.
 *
 * It leaves values of a subquery without a collation of their own. That of the column they are compared with decides,
 * and two columns never disagree.
 */
const text = '::pg_catalog.text COLLATE pg_catalog."default"';

/** Texts that can be cast to a key's type, so that a stray value in a link row matches nothing instead of failing. */
const castable = {
  integer: '^-?[0-9]{1,18}$',
  bigInteger: '^-?([0-9]{1,18}|[1-8][0-9]{18}|9[01][0-9]{17}|92[01][0-9]{16}|922[0-2][0-9]{15})$',
  uuid: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
};

/** Types that have one order, and those that an array of them compares with as one of them does. */
const plainTypes = /^(?:pg_catalog\.)?(?:int2|int4|int8|uuid)$/;
const linkTypes = /^(?:pg_catalog\.)?(?:int2|int4|int8|uuid|text|varchar)$/;

const parts: Readonly<Record<Exclude<FieldFunction, 'count'>, string>> = {
  year: 'year',
  month: 'month',
  week: 'week',
  day: 'day',
  weekday: 'dow',
  hour: 'hour',
  minute: 'minute',
  second: 'second',
};

function exactly(expression: string): string {
  return cast(expression, ' COLLATE pg_catalog."C"');
}

function keyOf(value: string, type: PortableType, native: string): string | undefined {
  const key = types[type].key;
  const pattern = key && castable[type === 'bigInteger' ? type : key];
  // An integer beyond the column's range is the key of no row, and an index also takes wider integers.
  const wide = type === 'integer' ? 'pg_catalog.int8' : native;
  return pattern === undefined ? undefined : `CASE WHEN ${value} ~ '${pattern}' THEN ${value}::${wide} END`;
}

/** PostGIS. Geographies, which have no box and no proper `st_within`, are told by `boxed`. */
const postgresSpatial: SpatialDialect = {
  intersects: (form, left, right) => `${call(form, 'st_intersects')}(${left}, ${right})`,
  within: (form, left, right) =>
    `${call(form, form.boxed === undefined ? 'st_within' : 'st_coveredby')}(${left}, ${right})`,
  boxes: ({ library = '' }, left, right) => `(${left} OPERATOR(${library}&&) ${right})`,
  near: (form, left, right, distance) =>
    `${call(form, 'st_dwithin')}(${left}, ${right}, (${distance})::pg_catalog.float8)`,
  distance: (form, left, right) => `${call(form, 'st_distance')}(${left}, ${right})`,
};

/**
 * Vectors of pgvector. Other conditions count after the index, so a search goes on until enough rows are left. The setting
 * for that is read once, before the index, and ends with the transaction of the statement.
 */
const postgresVectors: VectorDialect = {
  distance({ library = '', iterative }, metric, left, right) {
    const setting = `pg_catalog.set_config('hnsw.iterative_scan', 'strict_order', true)`;
    const sought = iterative ? `(SELECT ${right} FROM ${setting})` : right;
    return `(${left} OPERATOR(${library}${operators[metric]}) ${sought})`;
  },
  within: (distance, greatest) => `(${distance} <= (${greatest})::pg_catalog.float8)`,
};

/** PostgreSQL, embedded or not. Functions are qualified, because anybody can make one of the same name. */
export const postgres: SqlDialect = {
  name: 'postgres',
  systemName: 'postgresql',
  positional: false,
  placeholder: (native, placeholder) => `${placeholder('text')}::${native}`,
  boundType: 'pg_catalog.int8',
  noLimit: '',
  fence: ' OFFSET 0',
  nulls: 'last',
  oneGroup: ' GROUP BY ()',
  noColumns: '',
  countRows: 'pg_catalog.count(*)',
  asText: '::pg_catalog.text',
  exactText: (expression) => cast(expression, '::pg_catalog.text'),
  placeOf: () => undefined,
  datePart: { kind: 'i4' },
  average: { kind: 'number', cast: '::float8::pg_catalog.text' },
  pages: 'needed',
  namesArguments: true,
  selectsLast: false,
  rankedRows: 250,
  looksUp: true,
  returnsWrites: true,
  defersConstraints: true,
  namedLock: {
    name: 'w_lock',
    text: 'SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::pg_catalog.text, 0))',
  },
  keepsForeignKeys: true,
  // An equality would tell PostgreSQL that all rows have the same, so that an index without the column has the order, too.
  pageLink: (reached, start, native) =>
    linkTypes.test(native ?? '') ? `${reached} = ANY (ARRAY[${start}])` : undefined,
  // Texts may differ in their collations.
  sortsAlike: (native) => plainTypes.test(native ?? ''),
  nothing: (native) => `NULL::${native}`,
  flag: (predicate) => predicate,
  exactly,
  grouped: (expression) => expression,
  matches: (operator, left, pattern) => `${cast(left, text)} ${matches[operator]} ${pattern}`,
  wordSearch(document, sought, language) {
    const query = `pg_catalog.websearch_to_tsquery('${language}'::pg_catalog.regconfig, ${sought})`;
    // In the match the server estimates by the words. In the rank it would read them again for each row.
    return { matches: `${document} @@ ${query}`, rank: `pg_catalog.ts_rank(${document}, (SELECT ${query}))` };
  },
  patternOf(before, value, after) {
    const escaped = `pg_catalog.regexp_replace(${cast(value, '::pg_catalog.text')}, '([\\\\%_])', '\\\\\\1', 'g')`;
    return [before && `'${before}'`, escaped, after && `'${after}'`].filter((part) => part).join(' || ');
  },
  among: (left, list, _, negated) => (negated ? `${left} <> ALL (${list})` : `${left} = ANY (${list})`),
  byKeyList: (left, native, shape) => `${left} = ANY (${shape(`${native}[]`)})`,
  rowAmong(columns, keys) {
    const unnested = keys.map(({ list }) => `pg_catalog.unnest(${list})`).join(', ');
    const names = keys.map((_, index) => `k${index}`);
    const elements = keys.map((key, index) => `${names[index]}${key.cast}`);
    const rows = `SELECT ${elements.join(', ')} FROM ROWS FROM (${unnested}) k(${names.join(', ')})`;
    return `(${columns.join(', ')}) IN (${rows})`;
  },
  pathText: (value) => cast(value, text),
  // No value is as good as no list: NULL, so that no comparison holds.
  pathValues: (select) => `NULLIF(ARRAY(${select}), '{}')`,
  amongPath: (left, values, negated) => (negated ? `${left} <> ALL (${values})` : `${left} = ANY (${values})`),
  now(offset, type, native) {
    const instant = `(pg_catalog.now() + ${offset})`;
    if (type === 'timestamp') return instant;
    // A time with its own zone is the same moment of the day in every zone.
    return native.endsWith('timetz') ? `${instant}::${native}` : `(${instant} AT TIME ZONE 'UTC')::${native}`;
  },
  field: printFunction,
  aggregate(name, argument) {
    const distinct = name.endsWith('Distinct') ? 'DISTINCT ' : '';
    return `pg_catalog.${aggregateKind(name)}(${distinct}${argument ?? '*'})`;
  },
  keyOf,
  record: (values) => `ROW(${values.map(({ expression }) => expression).join(', ')})`,
  list: ({ element, from, where, order, bounds }) =>
    `ARRAY(SELECT ${element.expression} FROM ${from}${where}${orderBy(order)}${bounds})`,
  single: ({ expression }, rows) => `ARRAY(SELECT ${expression} FROM ${rows})`,
  spatial: postgresSpatial,
  vectors: postgresVectors,
  json: postgresJson,
  input: postgresInput,
  copies: postgresCopies(keyOf, exactly),
  answer: ({ expression }) => expression,
};

/** A function of a field (section 5.3), of timestamps in UTC. Infinite dates and JSON without elements give null. */
function printFunction(name: FieldFunction, expression: string, field: FieldDescriptor): string {
  if (name === 'count') return printLength(expression, field);
  const instant = field.type === 'timestamp' ? `(${expression} AT TIME ZONE 'UTC')` : `(${expression})`;
  // date_part would make a timestamp of the date, which does not reach as far.
  const extract = field.type === 'date' ? '"extract"' : 'date_part';
  const part = `pg_catalog.floor(pg_catalog.${extract}('${parts[name]}', ${instant}))::int4`;
  return field.type === 'time' ? part : `CASE WHEN pg_catalog.isfinite(${instant}) THEN ${part} END`;
}

function printLength(expression: string, field: FieldDescriptor): string {
  if (field.type === 'array') return `pg_catalog.cardinality(${expression})::int8`;
  const form = /^(?:pg_catalog\.)?json$/.test(field.native) ? 'json' : 'jsonb';
  const length = `pg_catalog.${form}_array_length(${expression})::int8`;
  return `CASE pg_catalog.${form}_typeof(${expression}) WHEN 'array' THEN ${length} END`;
}

function call({ library = '' }: GeometryForm, name: string): string {
  return library + name;
}

const operators: Readonly<Record<VectorMetric, string>> = { cosine: '<=>', l2: '<->', inner: '<#>', l1: '<+>' };
