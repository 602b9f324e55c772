/**
 * Composite types → objects: how their values are read and written. Each member has the form that a column of its type
 * has. Values are read as JSON that the database makes, and written as the text of the type.
 */
import type { ColumnType } from '@tablewright/introspect/schema';
import {
  type Attribute,
  type FieldDescriptor,
  quoteLiteral,
  quoteName,
  quoteQualified,
  splitQualified,
  type WireKind,
} from '@tablewright/runtime/language';

type FormOf = (type: ColumnType) => NativeForm;

/** True if values are composite, or arrays of such. */
export function isComposite(type: ColumnType): boolean {
  return type.attributes !== undefined || (type.element !== null && isComposite(type.element));
}

/** True if the text of a composite value takes what the API takes: no geography, nor degrees of another reference. */
export function takesMembers({ attributes = [], element }: ColumnType): boolean {
  const members = element === null ? attributes.map(({ type }) => type) : [element];
  return members.every((member) => takesText(member) && takesMembers(member));
}

function takesText({ base, geometry }: ColumnType): boolean {
  if (geometry === undefined) return true;
  return (geometry.srid === null || geometry.srid === 4326) && splitQualified(base).name !== 'geography';
}

/** The form of a column of a composite type, or of an array of such. */
export function compositeForm(type: ColumnType, formOf: FormOf): NativeForm {
  const native = nativeOf(type);
  // Lists of values are lists of texts: the database takes a list of composite values apart.
  return {
    native: 'text',
    stored: native,
    wire: {
      kind: 'json',
      cast: `(SELECT ${printValue('cv.v', type, formOf, 0)} FROM (SELECT ({})::${native} AS v) cv)`,
    },
    attributes: attributesOf(type, formOf),
    ...sourceOf(type),
  };
}

function nativeOf(type: ColumnType): string {
  if (type.element !== null) return `${nativeOf(type.element)}[]`;
  const { schema, name } = splitQualified(type.base);
  return quoteQualified(schema, name);
}

/** Lists within lists have no type of their own. */
function sourceOf(type: ColumnType): Pick<NativeForm, 'composite'> {
  const { attributes, base } = type.element ?? type;
  return attributes === undefined ? {} : { composite: base };
}

function attributesOf(type: ColumnType, formOf: FormOf): readonly Attribute[] {
  const { attributes = [] } = type.element ?? type;
  return attributes.map(({ name, type: member }) => {
    const { native, comparison } = formOf(member);
    const values = member.values ?? member.element?.values;
    return {
      name,
      type: member.portable,
      native,
      ...(comparison !== undefined && { comparison }),
      ...(member.element && { element: member.element.portable }),
      ...(values && { values }),
      ...(isComposite(member) && { attributes: attributesOf(member, formOf), ...sourceOf(member) }),
    };
  });
}

/** Prints an expression of JSON, or of a type that reads in JSON as the API has it. */
function printValue(value: string, type: ColumnType, formOf: FormOf, depth: number): string {
  if (type.attributes !== undefined) return printObject(value, type.attributes, formOf, depth);
  if (type.element === null) return printScalar(value, formOf(type).wire);
  const index = `i${depth}`;
  const element = printValue(`(${value})[${index}]`, type.element, formOf, depth + 1);
  const list = `SELECT COALESCE(pg_catalog.json_agg(${element} ORDER BY ${index}), '[]')`;
  return `CASE WHEN ${value} IS NOT NULL THEN (${list} FROM pg_catalog.generate_subscripts(${value}, 1) ${index}) END`;
}

/** A value whose members are all null is there. */
function printObject(
  value: string,
  attributes: NonNullable<ColumnType['attributes']>,
  formOf: FormOf,
  depth: number,
): string {
  const members = attributes.map(({ name, type }) => {
    const member = `(${value}).${quoteName(name)}`;
    return `${quoteLiteral(name)}, ${printValue(member, type, formOf, depth)}`;
  });
  return `CASE WHEN ${value} IS DISTINCT FROM NULL THEN pg_catalog.json_build_object(${members.join(', ')}) END`;
}

/** Kinds that JSON of the database has in the form of the API. */
const plain: ReadonlySet<WireKind> = new Set([
  'bool',
  'i2',
  'i4',
  'number',
  'json',
  'jsonb',
  'date',
  'time',
  'timestamp',
]);

function printScalar(value: string, { kind, cast }: NativeForm['wire']): string {
  if (kind === 'json' && cast !== undefined)
    return cast.includes('{}') ? cast.replaceAll('{}', value) : `${value}${cast}`;
  if (plain.has(kind)) return value;
  if (kind === 'bytes') return `pg_catalog.replace(pg_catalog.encode(${value}, 'base64'), pg_catalog.chr(10), '')`;
  if (kind === 'timestamptz') {
    // Braces stand for the value, so no text may have them.
    const local = `pg_catalog.to_json(${value} AT TIME ZONE 'UTC')::pg_catalog.text`;
    const utc = `pg_catalog.btrim(${local}, '"') || '+00:00'`;
    return `CASE WHEN pg_catalog.isfinite(${value}) THEN ${utc} ELSE (${value})::pg_catalog.text END`;
  }
  return cast === undefined || cast.includes('{}') ? `(${value})::pg_catalog.text` : `(${value})${cast}`;
}

/** Facts about a column's type that reach SQL. */
export type NativeForm = Pick<
  FieldDescriptor,
  'native' | 'comparison' | 'stored' | 'collated' | 'wire' | 'geometry' | 'vector' | 'attributes' | 'composite'
>;
