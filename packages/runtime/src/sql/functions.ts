import type { FieldDescriptor, FieldFunction } from '../contract/index.ts';

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

/**
 * Applies a field function (API specification, section 5.3) to an expression of the field's type.
 *
 * Timestamps are read in UTC whatever the session's zone. Infinite dates have no parts, so they give null; so do JSON
 * values that are no arrays.
 */
export function printFunction(name: FieldFunction, expression: string, field: FieldDescriptor): string {
  if (name === 'count') return printLength(expression, field);
  const instant = field.type === 'timestamp' ? `(${expression} AT TIME ZONE 'UTC')` : `(${expression})`;
  // date_part would make a timestamp of the date, which does not reach as far.
  const of = field.type === 'date' ? '"extract"' : 'date_part';
  const part = `pg_catalog.floor(pg_catalog.${of}('${parts[name]}', ${instant}))::int4`;
  return field.type === 'time' ? part : `CASE WHEN pg_catalog.isfinite(${instant}) THEN ${part} END`;
}

function printLength(expression: string, field: FieldDescriptor): string {
  if (field.type === 'array') return `pg_catalog.cardinality(${expression})::int8`;
  const form = /^(?:pg_catalog\.)?json$/.test(field.native) ? 'json' : 'jsonb';
  const length = `pg_catalog.${form}_array_length(${expression})::int8`;
  return `CASE pg_catalog.${form}_typeof(${expression}) WHEN 'array' THEN ${length} END`;
}
