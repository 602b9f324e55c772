/** Arrays as tables of input, and arrays of what many rows hold. */
import { arrayLiteral, type FieldDescriptor, type PortableType, types } from '../../language/index.ts';
import type { CopyDialect, InputDialect } from '../dialect.ts';
import { anyOf, cast, castStored, keyColumn } from '../fragment.ts';
import { fitsMembers } from './json.ts';

export const postgresInput: InputDialect = {
  table(shape, { columns, count, alias, numbered, as }) {
    const arrays = columns.map(({ list, native }) => {
      return `pg_catalog.unnest(${shape({ kind: 'value', index: list }, `${native}[]`)})`;
    });
    const counted = `pg_catalog.generate_series(1, ${count === undefined ? '0' : shape({ kind: 'value', index: count }, 'pg_catalog.int4')})`;
    const names = columns.length === 0 ? ['c'] : columns.map(({ name }) => name);
    const sources = arrays.length === 0 ? counted : arrays.join(', ');
    const called = (outer: string): string => `${as ? ' AS' : ''} ${outer}`;
    const number = numbered ? ['n'] : [];
    const listed = `ROWS FROM (${sources})${numbered ? ' WITH ORDINALITY' : ''}`;
    const plain = (outer: string): string => `${listed}${called(outer)}(${[...names, ...number].join(', ')})`;
    if (columns.every((column) => column.cast === undefined)) return plain(alias);
    const each = columns.map((column) =>
      column.cast === undefined ? `t.${column.name}` : `t.${column.name}::${column.cast} AS ${column.name}`,
    );
    return `(SELECT ${[...each, ...number].join(', ')} FROM ${plain('t')})${called(alias)}`;
  },
  join: ' JOIN ',
  lookUp: (table, input, on) => `${table} JOIN ${input} ON ${on}`,
  equal: (column, input, field) => `${field === undefined ? column : keyColumn(column, field)} = ${input}`,
  stored: (input, field) => (field.type === 'array' || field.stored !== undefined ? castStored(input, field) : input),
  kept: castStored,
  sought: castStored,
  indexed: castStored,
  typed: (expression, native) => `${expression}::${native}`,
  collectedArray({ value, order, only, field }) {
    // Arrays of one array would be its dimensions.
    const element = field?.type === 'array' ? `(${value})::pg_catalog.text` : value;
    const all = `pg_catalog.array_agg(${element}${order === undefined ? '' : ` ORDER BY ${order}`})`;
    if (only === undefined) return `${all}::pg_catalog.text`;
    const filtered = `${all} FILTER (WHERE ${only})`;
    return order === undefined ? `${filtered}::pg_catalog.text` : `(${filtered})::pg_catalog.text`;
  },
  returning: true,
  locksSorted: true,
  keyText: (value, { comparison }) => `(${cast(value, comparison)})::pg_catalog.text`,
  text: (expression) => `(${expression})::pg_catalog.text`,
  update: (table, column, value, input, on) =>
    `WITH w AS (UPDATE ${table} AS t SET ${column} = ${value} FROM ${input} WHERE ${on} RETURNING 1) SELECT pg_catalog.count(*)::pg_catalog.text FROM w`,
  updated: 0,
  deferral: 'SET CONSTRAINTS ALL DEFERRED',
  count: (only) => `pg_catalog.count(*)${only === undefined ? '' : ` FILTER (WHERE ${only})`}::pg_catalog.text`,
  lock: (lock, alias) => ` FOR ${lock} OF ${alias}`,
  place: () => '',
};

const asText = '::pg_catalog.text';

const asJson = '::pg_catalog.jsonb';

/** An array, a composite value or JSON as that of answers, which may write it with other spaces. */
function jsonOf(column: string, { type, wire }: FieldDescriptor): string {
  if (type === 'json') return cast(column, asJson);
  if (wire.kind === 'json') return cast(cast(column, wire.cast), asJson);
  const list = wire.kind === 'i8' ? `${column}::pg_catalog.text[]` : cast(column, wire.cast);
  return `pg_catalog.array_to_json(${list})${asJson}`;
}

/** Copies on PostgreSQL; the functions are the dialect's. Values keep their texts, and members their order. */
export function postgresCopies(
  keyOf: (text: string, type: PortableType, native: string) => string | undefined,
  exactly: (expression: string) => string,
): CopyDialect {
  const keyMatches: CopyDialect['keyMatches'] = (column, text, field) => {
    const value = keyOf(text, field.type, field.native);
    if (value !== undefined) return `${column} = ${value}`;
    const compared = cast(column, field.comparison);
    if (types[field.type].comparison !== 'text') return `${cast(compared, asText)} = ${text}`;
    const same = `${compared} = ${cast(text, `::${field.native}`)}`;
    // The exact comparison implies the plain one, but an index serves only the plain one.
    return field.folds === true ? `(${same} AND ${exactly(compared)} = ${text})` : same;
  };
  return {
    memberMatches(fixed, contents, column, field) {
      const isJson = field.type === 'array' || field.type === 'composite' || field.type === 'json';
      const member = `${contents} ${isJson ? '->' : '->>'} ${fixed(field.name, 'pg_catalog.text')}`;
      const value = `(CASE WHEN ${fitsMembers(cast(contents, asText))} THEN ${member} END)`;
      return isJson ? `${jsonOf(column, field)} = ${value}${asJson}` : keyMatches(column, value, field);
    },
    keyMatches,
    reduced({ fixed, collection, contents, readable }) {
      const list = (names: readonly string[]): string => fixed(arrayLiteral(names), 'pg_catalog.text[]');
      const branches = readable.map(({ collection: name, always }) => {
        return `WHEN ${fixed(name, 'pg_catalog.text')} THEN ${list(always)}`;
      });
      if (branches.length === 0) return 'NULL::json';
      const some = readable.flatMap(({ collection: name, sometimes }) =>
        sometimes.map(({ fields, predicate }) => {
          return `(${collection} = ${fixed(name, 'pg_catalog.text')} AND e.key = ANY (${list(fields)}) AND ${predicate})`;
        }),
      );
      const members = `pg_catalog.string_agg(pg_catalog.to_json(e.key)::pg_catalog.text || ':' || e.value::pg_catalog.text, ',' ORDER BY e.n)`;
      const names = `(SELECT CASE ${collection} ${branches.join(' ')} END AS names OFFSET 0) a`;
      const from = `${names}, pg_catalog.json_each(${contents}) WITH ORDINALITY e(key, value, n)`;
      const kept = anyOf(['e.key = ANY (a.names)', ...some]);
      const object = `(SELECT ('{' || COALESCE(${members}, '') || '}')::json FROM ${from} WHERE ${kept})`;
      return `CASE WHEN ${fitsMembers(cast(contents, asText))} THEN ${object} END`;
    },
  };
}
