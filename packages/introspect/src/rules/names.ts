/** Mistakes in the names of collections, fields and relations. */
import { operators, printTable, reservedPrefix } from '@tablewright/runtime/language';
import { defaultSchema, matchTables, namesIn, tablesById } from '../passes/lookup.ts';
import { collectionName, impossibleName } from '../passes/names.ts';
import { isFieldsOwn } from '../passes/relations/configure-relations.ts';
import { systemOf } from '../passes/system-tables.ts';
import type { Relation } from '../schema.ts';
import { columnPlace, configKey, quotedList, type Rule, tablePlace } from './rule.ts';

/** No two tables have the same API name. */
export const collectionNames: Rule = (schema) => {
  const tables = tablesById(schema.tables);
  const groups = Map.groupBy(schema.collections, ({ name }) => name);
  return [...groups].flatMap(([name, group]) =>
    group.slice(1).map(({ table: id }) => {
      const table = tables.get(id);
      return {
        code: 'name-collision',
        severity: 'error' as const,
        place: table === undefined ? id : tablePlace(schema, table),
        message: `The tables ${quotedList(group.map(({ table }) => printTable(schema.dialect, table)))} would all be the collection "${name}".`,
        hint: `Rename one: collections: { ${JSON.stringify(table === undefined ? id : configKey(schema, table))}: { name: … } }.`,
      };
    }),
  );
};

/** No two columns of a table have the same API name. */
export const fieldNames: Rule = (schema) =>
  schema.collections.flatMap((collection) =>
    [...Map.groupBy(collection.fields, ({ name }) => name)]
      .filter(([, group]) => group.length > 1)
      .map(([name, group]) => ({
        code: 'name-collision',
        severity: 'error' as const,
        place: columnPlace(schema, collection.table, group.at(-1)?.column ?? name),
        message: `The columns ${quotedList(group.map(({ column }) => column))} would all be the field "${name}".`,
        hint: 'Give one of them another name in the configuration.',
      })),
  );

/** No relation has the name of a field that is not its own, nor of another relation. */
export const relationNames: Rule = (schema) =>
  schema.collections.flatMap((collection) => {
    const fields = new Set(collection.fields.map(({ name }) => name));
    const groups = Map.groupBy(collection.relations, ({ name }) => name);
    return [...groups].flatMap(([name, group]) => {
      const hasField = group.some(isFieldsOwn);
      const others = group.filter((relation) => !isFieldsOwn(relation));
      const colliding = hasField || fields.has(name) ? others : others.slice(1);
      return colliding.map((relation) => ({
        code: 'name-collision',
        severity: 'error' as const,
        place: `collection ${collection.name}`,
        message: `The relation to "${relation.target}" (${describe(relation)}) would have the name "${name}", which is in use.`,
        hint: `Name it in the configuration: relations: { ${JSON.stringify(`${collection.name}.${name}`)}: { name: … } }.`,
      }));
    });
  });

function describe(relation: Relation): string {
  switch (relation.kind) {
    case 'm2o':
      return `foreign key "${relation.foreignKey}"`;
    case 'o2m':
      return `inverse of "${relation.target}.${relation.inverse}"`;
    case 'm2m':
      return `through "${relation.junction}"`;
    case 'm2a':
      return 'many-to-any of the configuration';
  }
}

/** Names that begin with `platform_` belong to the platform; tables of others that have one are left out. */
export const reservedNames: Rule = (schema, { config }) => {
  const matches = matchTables(schema.tables, config);
  return schema.tables.flatMap((table) => {
    if (systemOf(table, config) !== undefined) return [];
    const settings = matches.get(table.id) ?? {};
    const name = collectionName(table, settings, defaultSchema(config));
    if (settings.hidden === true || !name.startsWith(reservedPrefix)) return [];
    return [
      {
        code: 'reserved-name',
        severity: 'warning' as const,
        place: tablePlace(schema, table),
        message: `The name "${name}" is reserved, so the table is left out.`,
        hint: `Rename it: collections: { ${JSON.stringify(configKey(schema, table))}: { name: … } }.`,
      },
    ];
  });
};

/** A column whose name no request may have is left out. */
export const impossibleNames: Rule = (schema, { config }) => {
  const matches = matchTables(schema.tables, config);
  return schema.collections.flatMap(({ table: id }) => {
    const table = tablesById(schema.tables).get(id);
    const column = table?.columns.find((candidate) => candidate.name === impossibleName);
    const settings = matches.get(id)?.fields;
    const isNamed = settings !== undefined && Object.hasOwn(settings, impossibleName);
    if (table === undefined || column === undefined || isNamed) return [];
    return [
      {
        code: 'reserved-name',
        severity: 'warning' as const,
        place: columnPlace(schema, id, impossibleName),
        message: `No request may have the name "${impossibleName}", so the column is left out.`,
        hint: `Rename it: collections: { ${JSON.stringify(configKey(schema, table))}: { fields: { ['${impossibleName}']: { name: … } } } }.`,
      },
    ];
  });
};

/** Members that every object has, and that openapi-typescript takes for a part of its own: it ends with a TypeError. */
const inherited: ReadonlySet<string> = new Set([
  ...['hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable', 'toLocaleString', 'valueOf'],
  ...['__defineGetter__', '__defineSetter__', '__lookupGetter__', '__lookupSetter__'],
]);

/** Names that the API takes, but not each tool that reads its documents. */
export const inheritedNames: Rule = (schema) =>
  schema.collections.flatMap((collection) =>
    [...namesIn(collection)]
      .filter((name) => inherited.has(name))
      .map((name) => ({
        code: 'inherited-name',
        severity: 'info' as const,
        place: `collection ${collection.name}`,
        message: `openapi-typescript makes no types of a document with the name "${name}", which every object has.`,
        hint: 'Give it another name in the configuration, or use the generated client, which takes it.',
      })),
  );

const terms: ReadonlySet<string> = new Set([...operators, ...['_and', '_or', '_some', '_none', '*', impossibleName]]);

/** Names with a meaning in queries (operator, path, order) are reached by wildcards only. Source: sections 5.1, 5.2. */
export const unaddressableNames: Rule = (schema) =>
  schema.collections.flatMap((collection) =>
    [...namesIn(collection)]
      .filter((name) => terms.has(name) || name.includes('.') || name.startsWith('-'))
      .map((name) => ({
        code: 'unaddressable-name',
        severity: 'warning' as const,
        place: `collection ${collection.name}`,
        message: `"${name}" cannot be named in queries, where it has another meaning; wildcards still read it.`,
        hint: 'Give it another name in the configuration.',
      })),
  );
