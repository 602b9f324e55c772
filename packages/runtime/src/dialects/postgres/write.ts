/** Arrays as tables of input, and arrays of what many rows hold. */
import { cast, castStored } from '../casts.ts';
import type { InputDialect } from '../input.ts';

/** That of PostgreSQL. */
export const postgresInput: InputDialect = {
  table(shape, { columns, count, alias, numbered, as }) {
    const arrays = columns.map(({ list, native }) => {
      return `pg_catalog.unnest(${shape({ kind: 'value', index: list }, `${native}[]`)})`;
    });
    const counted = `pg_catalog.generate_series(1, ${count === undefined ? '0' : shape({ kind: 'value', index: count }, 'pg_catalog.int4')})`;
    const names = columns.length === 0 ? ['c'] : columns.map(({ name }) => name);
    const sources = arrays.length === 0 ? counted : arrays.join(', ');
    const called = `${numbered ? ' WITH ORDINALITY' : ''}${as ? ' AS' : ''} ${alias}`;
    return `ROWS FROM (${sources})${called}(${[...names, ...(numbered ? ['n'] : [])].join(', ')})`;
  },
  join: ' JOIN ',
  lookUp: (table, input, on) => `${table} JOIN ${input} ON ${on}`,
  equal: (column, input, field) => `${cast(column, field?.comparison)} = ${input}`,
  stored: (input, field) => (field.type === 'array' || field.stored !== undefined ? castStored(input, field) : input),
  kept: castStored,
  sought: castStored,
  typed: (expression, native) => `${expression}::${native}`,
  collectedArray({ value, order, only }) {
    const all = `pg_catalog.array_agg(${value}${order === undefined ? '' : ` ORDER BY ${order}`})`;
    if (only === undefined) return `${all}::pg_catalog.text`;
    const filtered = `${all} FILTER (WHERE ${only})`;
    return order === undefined ? `${filtered}::pg_catalog.text` : `(${filtered})::pg_catalog.text`;
  },
  returning: true,
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
