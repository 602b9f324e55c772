/** Mistakes about singletons, vectors, enums and relations. */
import { dialectFacts, printTable } from '@tablewright/runtime/language';
import { configPlace } from '../diagnostic.ts';
import { desiredEnums } from '../passes/graphql-enums.ts';
import { type ManyToManyRelation, manyToManysOf, manyToOnesOf, tablesById } from '../passes/lookup.ts';
import { isFieldsOwn } from '../passes/relations/configure-relations.ts';
import type { Collection, ForeignKey, Schema, Table } from '../schema.ts';
import { columnPlace, configuredTables, quotedList, type Rule, tablePlace } from './rule.ts';

/** A singleton is one row of a table with a key; without one it can be read but not written. */
export const singletons: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, collection }) =>
    collection === undefined || !collection.singleton || collection.key.length > 0
      ? []
      : [
          {
            code: 'singleton-without-key',
            severity: 'warning' as const,
            place: configPlace('collections', name, 'singleton'),
            message: `The singleton "${collection.name}" has no key, so it can only be read.`,
            hint: 'Give the table a primary key.',
          },
        ],
  );

/** A server without distances cannot serve vectors. */
export const vectors: Rule = (schema) => {
  const { title, measuresVectors } = dialectFacts[schema.dialect];
  if (measuresVectors) return [];
  const byId = tablesById(schema.tables);
  return schema.collections.flatMap(({ table, fields }) => {
    const columns = byId.get(table)?.columns.filter(({ type }) => type.portable === 'vector') ?? [];
    const served = columns.filter(({ name }) => fields.some(({ column }) => column === name));
    return served.map(({ name }) => ({
      code: 'vector-unsupported',
      severity: 'error' as const,
      place: columnPlace(schema, table, name),
      message: `${title} has no distances of vectors, so "${name}" cannot be served.`,
      hint: 'Leave it out: `hidden: true` for the field in platform.config.ts.',
    }));
  });
};

/** An enum of which GraphQL cannot have every label has none of them: its values are strings. */
export const enumsAsStrings: Rule = (schema, { config }) =>
  desiredEnums(schema, config).flatMap(({ source, refusal }) => {
    if (refusal === null) return [];
    const name = printTable(schema.dialect, source);
    return [
      {
        code: 'enum-as-string',
        severity: 'info' as const,
        place: `enum ${name}`,
        message: `In GraphQL the values of "${name}" are strings: ${refusal}.`,
        hint: null,
      },
    ];
  });

/** A foreign key to a table or over a column that the API does not show is served as plain columns. */
export const hiddenForeignKeys: Rule = (schema) => {
  const byId = tablesById(schema.tables);
  const shown = new Set(schema.collections.map(({ table }) => table));
  return schema.collections.flatMap((collection) => {
    const table = byId.get(collection.table);
    const columns = new Set(collection.fields.map(({ column }) => column));
    return (table?.foreignKeys ?? []).flatMap((key) => {
      const isTargetHidden = !shown.has(key.target);
      if (table === undefined || (!isTargetHidden && key.columns.every((column) => columns.has(column)))) return [];
      return [plainColumns(table, key, isTargetHidden, schema)];
    });
  });
};

function plainColumns(table: Table, key: ForeignKey, isTargetHidden: boolean, schema: Schema) {
  const isKnown = schema.tables.some(({ id }) => id === key.target);
  const reason = isTargetHidden
    ? `"${printTable(schema.dialect, key.target)}" is ${isKnown ? 'left out' : 'outside what is read'}`
    : 'a column is hidden';
  return {
    code: 'foreign-key-not-shown',
    severity: 'info' as const,
    place: tablePlace(schema, table),
    message: `The foreign key "${key.name}" makes no relation, because ${reason}.`,
    hint: null,
  };
}

/** Rows without a key cannot be listed by key, so a collection without one is no target of a to-many relation. */
export const missingInverses: Rule = (schema) =>
  schema.collections.flatMap((collection) => {
    const targets = [...new Set(manyToOnesOf(collection).map(({ target }) => target))];
    if (collection.key.length > 0 || targets.length === 0) return [];
    return [
      {
        code: 'no-inverse',
        severity: 'info' as const,
        place: `table ${printTable(schema.dialect, collection.table)}`,
        message: `The table has no key, so ${quotedList(targets)} cannot read its rows as a relation.`,
        hint: 'Give it a primary key, or a key in the configuration.',
      },
    ];
  });

/** If several foreign keys use one column, the first by name is read through the field. */
export const repeatedForeignKeys: Rule = (schema) =>
  schema.collections.flatMap((collection) => {
    const single = manyToOnesOf(collection).filter(({ on }) => on.length === 1);
    const groups = Map.groupBy(single, ({ on }) => on.map(({ from }) => from).join());
    return [...groups].flatMap(([column, group]) => {
      const first = group.find(isFieldsOwn);
      return group
        .filter((relation) => first !== undefined && relation !== first)
        .map((relation) => ({
          code: 'several-foreign-keys',
          severity: 'info' as const,
          place: columnPlace(schema, collection.table, column),
          message: `The foreign key "${relation.foreignKey}" is read as "${relation.name}"; the field reads "${first?.foreignKey}".`,
          hint: null,
        }));
    });
  });

/** Tells which of several junctions to one collection has the plain name. */
export const ambiguousJunctions: Rule = (schema, { config }) => {
  const named = new Set(Object.values(config.relations ?? {}).flatMap(({ name }) => name ?? []));
  return schema.collections.flatMap((collection) =>
    [...Map.groupBy(manyToManysOf(collection), ({ target }) => target)].flatMap(([target, group]) => {
      const plain = group.find(({ name }) => name === target && !named.has(name));
      return plain === undefined || group.length < 2 ? [] : [plainName(collection, plain, group)];
    }),
  );
};

function plainName(collection: Collection, plain: ManyToManyRelation, group: readonly ManyToManyRelation[]) {
  const others = group.filter((relation) => relation !== plain).map(({ name }) => name);
  return {
    code: 'several-junctions',
    severity: 'info' as const,
    place: `collection ${collection.name}`,
    message: `"${plain.name}" goes through "${plain.junction}"; beside it there is ${quotedList(others)}.`,
    hint: `To choose names: relations: { ${JSON.stringify(`${collection.name}.${plain.name}`)}: { name: … } }.`,
  };
}
