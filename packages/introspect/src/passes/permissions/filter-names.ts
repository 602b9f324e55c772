import { type FilterNames, type NamedField, type NamedRelation, rangeElement } from '@tablewright/runtime/language';
import type { Collection, ColumnType, Field, Relation, Table } from '../../schema.ts';
import { collectionsByName, tablesById } from '../lookup.ts';

/** Every field and relation that rules can speak of, for the parser of filters. Those of a collection are listed when it asks. */
export function filterNames(collections: readonly Collection[], tables: readonly Table[]): FilterNames {
  const byId = tablesById(tables);
  const byName = collectionsByName(collections);
  const fields = createListing(byName, (collection) => namedFields(collection, byId.get(collection.table)));
  const relations = createListing(byName, namedRelations);
  return {
    field: (collection, name) => fields(collection)?.get(name),
    relation: (collection, name) => relations(collection)?.get(name),
    key: (collection) => byName.get(collection)?.key ?? [],
  };
}

/** Lists something of a collection once, when its name is first asked for. */
function createListing<Named>(
  byName: ReadonlyMap<string, Collection>,
  list: (collection: Collection) => ReadonlyMap<string, Named>,
): (name: string) => ReadonlyMap<string, Named> | undefined {
  const listed = new Map<string, ReadonlyMap<string, Named>>();
  return (name) => {
    const cached = listed.get(name);
    const collection = byName.get(name);
    if (cached !== undefined || collection === undefined) return cached;
    const made = list(collection);
    listed.set(name, made);
    return made;
  };
}

/** Facts that decide which values a field takes. */
export function namedField(field: Field, type: ColumnType | undefined): NamedField {
  return namedType(field.type, type, field.keepsReference === true);
}

function namedType(portable: NamedField['type'], type: ColumnType | undefined, keepsReference = false): NamedField {
  const values = type?.values ?? type?.element?.values;
  const native = nativeName(type);
  return {
    type: portable,
    ...(native !== undefined && { native }),
    ...(type && portable === 'unknown' && rangeElement(type.base) && { range: type.base }),
    ...(values && { values }),
    ...(type?.element && { element: type.element.portable }),
    ...attributesIn(type?.element ?? type),
    ...(type?.vector && { vector: { metric: 'cosine', ...vectorSize(type.vector) } }),
    ...(type?.geometry && {
      geometry: { form: type.geometry.srid === null || keepsReference ? 'plane' : 'degrees' },
    }),
  };
}

function vectorSize({ dimensions }: NonNullable<ColumnType['vector']>) {
  return dimensions === null ? {} : { dimensions };
}

function attributesIn(type: ColumnType | undefined): Pick<NamedField, 'attributes'> {
  if (type?.attributes === undefined) return {};
  return {
    attributes: type.attributes.map(({ name, type: member }) => {
      const { native = member.base, ...facts } = namedType(member.portable, member);
      return { ...facts, name, native };
    }),
  };
}

/** For an array, the type of its elements, which decides their values. */
function nativeName(type: ColumnType | undefined): string | undefined {
  if (type?.category === 'base') return type.base;
  return type?.element?.category === 'base' ? `${type.element.base}[]` : undefined;
}

function namedFields(collection: Collection, table: Table | undefined): ReadonlyMap<string, NamedField> {
  const types = new Map(table?.columns.map(({ name, type }) => [name, type]));
  return new Map(collection.fields.map((field) => [field.name, namedField(field, types.get(field.column))]));
}

function namedRelations(collection: Collection): ReadonlyMap<string, NamedRelation> {
  return new Map(collection.relations.map((relation) => [relation.name, namedRelation(relation)]));
}

function namedRelation(relation: Relation): NamedRelation {
  const { kind, target } = relation;
  return relation.kind === 'm2a' ? { kind, target, targets: relation.allowed } : { kind, target };
}
