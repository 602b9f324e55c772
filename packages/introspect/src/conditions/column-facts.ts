import { type Dialect, type FieldFunction, isWhole, types, type ValueType } from '@tablewright/runtime/language';
import { collectionsByName, tablesById } from '../passes/lookup.ts';
import { namedField } from '../passes/permissions/filter-names.ts';
import type { Collection, Column, Relation, Schema, Table } from '../schema.ts';

/** Certain facts about the values of one side of a comparison. Uncertain facts are left out. */
export interface ColumnFacts {
  readonly type: ValueType;
  /** True where null is possible. */
  readonly nullable: boolean;
  /** Every value there can be, as text; null when they are not listed. */
  readonly values: readonly string[] | null;
  /** The least and the greatest integer; null when there is no such bound. */
  readonly range: readonly [bigint, bigint] | null;
  /** Characters of a text at most. */
  readonly maxLength: number | null;
  /** True when texts are equal only where each of their characters is. */
  readonly exact: boolean;
}

/** Looks up what a schema promises about fields, functions and relations. */
export interface FactsIndex {
  facts(collection: string, field: string, call: FieldFunction | undefined): ColumnFacts | undefined;
  relation(collection: string, name: string): Relation | undefined;
}

export function indexFacts(schema: Schema): FactsIndex {
  const collections = collectionsByName(schema.collections);
  const tables = tablesById(schema.tables);
  const parents = new Set(schema.tables.flatMap(({ inherits }) => inherits));
  const cachedFacts = new Map<string, ColumnFacts | undefined>();
  const relation = (name: string, relationName: string) =>
    collections.get(name)?.relations.find((candidate) => candidate.name === relationName);
  return {
    relation,
    facts(name, field, call) {
      const key = JSON.stringify([name, field, call]);
      if (cachedFacts.has(key)) return cachedFacts.get(key);
      const collection = collections.get(name);
      const table = tables.get(collection?.table ?? '');
      const promises = table !== undefined && keepsPromises(table) && !parents.has(table.id);
      const found = call
        ? callFacts(call, relation(name, field))
        : collection && fieldFacts(schema.dialect, collection, table, field, promises);
      cachedFacts.set(key, found);
      return found;
    },
  };
}

/** Constraints of foreign tables are not enforced, and a parent also shows the rows of the tables that inherit. */
function keepsPromises({ kind }: Table): boolean {
  return kind === 'table' || kind === 'partitioned';
}

const integers: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int2: [-(2n ** 15n), 2n ** 15n - 1n],
  int4: [-(2n ** 31n), 2n ** 31n - 1n],
  int8: [-(2n ** 63n), 2n ** 63n - 1n],
};

function fieldFacts(
  dialect: Dialect,
  collection: Collection,
  table: Table | undefined,
  name: string,
  promises: boolean,
): ColumnFacts | undefined {
  const field = collection.fields.find((candidate) => candidate.name === name);
  const column = table?.columns.find((candidate) => candidate.name === field?.column);
  if (field === undefined || column === undefined) return undefined;
  const { type } = column;
  // A domain that is not null can be null all the same, in rows made from a query.
  const nullable = !promises || column.nullable || type.domains.some(({ notNull }) => notNull);
  const labels = type.category === 'enum' || promises ? type.values : null;
  return {
    type: namedField(field, type, dialect),
    nullable,
    values:
      type.base === 'bool' && field.type === 'boolean'
        ? ['true', 'false']
        : types[field.type].isListable === true
          ? labels
          : null,
    range: isWhole(field.type) ? (integers[type.base] ?? null) : null,
    maxLength: promises && type.base === 'varchar' ? type.maxLength : null,
    exact: comparesExactly(column),
  };
}

const exactCollations: readonly (string | null)[] = [null, 'C', 'POSIX'];

function comparesExactly({ type, collation }: Column): boolean {
  if (type.category === 'enum' || type.base === 'uuid' || type.base === 'bool') return true;
  return (type.base === 'text' || type.base === 'varchar') && exactCollations.includes(collation);
}

const parts: Readonly<Record<Exclude<FieldFunction, 'count' | 'year'>, readonly [bigint, bigint]>> = {
  month: [1n, 12n],
  week: [1n, 53n],
  day: [1n, 31n],
  weekday: [0n, 6n],
  // A time can be 24:00:00.
  hour: [0n, 24n],
  minute: [0n, 59n],
  second: [0n, 59n],
};

/** A part of a date is null where there is no date; a number of rows is never null. */
function callFacts(call: FieldFunction, relation: Relation | undefined): ColumnFacts {
  const [, maxCount] = integers.int8 ?? [0n, 0n];
  const range = call === 'count' ? ([0n, maxCount] as const) : call === 'year' ? null : parts[call];
  const nullable = call !== 'count' || relation === undefined || relation.kind === 'm2o';
  return { type: { type: 'integer' }, nullable, values: null, range, maxLength: null, exact: false };
}
