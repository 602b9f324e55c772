/** The enums of the GraphQL API: enum types, and columns that have labels or a list of values of their own. */
import { graphqlName, graphqlTypeNames } from '@tablewright/runtime/language';
import type { PlatformConfig } from '../config/config.ts';
import { sortedBy } from '../order.ts';
import type { Collection, ColumnType, GraphqlEnum, RoutineValue, Schema, Table } from '../schema.ts';
import { tableId } from '../table-names.ts';
import { defaultSchema, tablesById } from './lookup.ts';

/** An enum as the configuration wants it; `refusal` tells why its values stay strings, as the end of a sentence. */
interface DesiredEnum extends GraphqlEnum {
  readonly refusal: string | null;
}

type Sources = Pick<Schema, 'collections' | 'tables' | 'functions' | 'enums'>;

/** Finds the enums of an API, sorted by name. */
export function graphqlEnums(sources: Sources, config: PlatformConfig): readonly GraphqlEnum[] {
  return desiredEnums(sources, config).flatMap(({ refusal, ...found }) => (refusal === null ? [found] : []));
}

/** The same with those whose values stay strings. */
export function desiredEnums(sources: Sources, config: PlatformConfig): readonly DesiredEnum[] {
  const { enums = false } = typeof config.graphql === 'object' ? config.graphql : {};
  if (enums === false) return [];
  const candidates = [...typesUsed(sources, config), ...columnsWithValues(sources, enums === 'all')];
  const byName = Map.groupBy(candidates, ({ name }) => name);
  const taken = new Set(sources.collections.flatMap(({ name }) => Object.values(graphqlTypeNames(name))));
  const judged = candidates.map((candidate) => {
    const isTaken = taken.has(candidate.name) || (byName.get(candidate.name) ?? []).length > 1;
    return { ...candidate, refusal: refusalOf(candidate, isTaken) };
  });
  return sortedBy(
    judged,
    ({ name }) => name,
    ({ source }) => source,
  );
}

function refusalOf({ name, labels }: GraphqlEnum, isTaken: boolean): string | null {
  const misfit = labels.find((label) => !isEnumLabel(label));
  if (misfit !== undefined) return `${JSON.stringify(misfit)} is no name in GraphQL`;
  if (labels.length === 0) return 'it has no labels';
  return isTaken ? `another type would be called "${name}", too` : null;
}

/** Names with two underscores in front are GraphQL's own, and three words mean something else. */
function isEnumLabel(label: string): boolean {
  return /^(?!__|(?:true|false|null)$)[A-Za-z_]\w*$/.test(label);
}

function typesUsed({ collections, tables, functions = [], enums }: Sources, config: PlatformConfig) {
  const used = new Set([
    ...columnsOf(collections, tables).flatMap(({ type }) => enumIn(type)),
    ...functions.flatMap(({ routine: { arguments: args, returns } }) =>
      [...args, ...membersOf(returns)].flatMap(({ type }) => enumIn(type)),
    ),
  ]);
  const schema = defaultSchema(config);
  return enums.flatMap((type): readonly GraphqlEnum[] => {
    const source = tableId(type.schema, type.name);
    const name = nameOf(type.schema === schema ? type.name : `${type.schema}_${type.name}`);
    return used.has(source) ? [{ name, source, labels: type.labels }] : [];
  });
}

/** `article_status_enum`: the names of all enums end so. */
function nameOf(name: string): string {
  return graphqlName(name.endsWith('_enum') ? name : `${name}_enum`);
}

function membersOf(returns: NonNullable<Schema['functions']>[number]['routine']['returns']): readonly RoutineValue[] {
  if (returns.kind === 'value') return [returns.value];
  return returns.kind === 'objects' ? returns.members : [];
}

function enumIn({ enum: name, element }: ColumnType): readonly string[] {
  return [name, element?.enum ?? null].filter((found) => found !== null);
}

/** Columns of servers that have no enum types, and with `lists` those whose values a check lists. */
function columnsWithValues({ collections, tables }: Sources, lists: boolean): readonly GraphqlEnum[] {
  return columnsOf(collections, tables).flatMap(({ collection, field, source, type }) => {
    const isListed = type.portable === 'enum' || (lists && ['string', 'text'].includes(type.portable));
    if (!isListed || type.enum !== null || type.values === null) return [];
    return [{ name: nameOf(`${collection}_${field}`), source, labels: [...new Set(type.values)] }];
  });
}

/** Columns that are read as what they are, but for those of the platform's own collections. */
function columnsOf(collections: readonly Collection[], tables: readonly Table[]) {
  const byId = tablesById(tables);
  return collections.flatMap(({ name: collection, system, table: id, fields }) => {
    const table = byId.get(id);
    if (system !== undefined || table === undefined) return [];
    return fields.flatMap((field) => {
      const type = table.columns.find(({ name }) => name === field.column)?.type;
      if (type === undefined || type.portable !== field.type) return [];
      return [{ collection, field: field.name, source: enumColumn(id, field.column), type }];
    });
  });
}

/** The source of an enum that is a column's own. */
function enumColumn(table: string, column: string): string {
  return `${table}.${column}`;
}
