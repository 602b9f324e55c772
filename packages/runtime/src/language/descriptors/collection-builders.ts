/** One-line calls of which generated files of collections consist: they state only what differs from the usual. */
import { type Dialect, defaultDialect, dialectFacts } from '../dialects.ts';
import { types } from '../types/index.ts';
import type { CollectionDescriptor, FieldDescriptor, RelationDescriptor } from './collection.ts';

/** Facts of a field that differ from the usual. */
export interface FieldFacts extends Partial<Omit<FieldDescriptor, 'name' | 'type' | 'comparison'>> {
  /** Null: none, where it is usual for the type. */
  readonly comparison?: string | null;
}

/** A field as generated files state it. */
export interface StatedField extends Pick<FieldDescriptor, 'name' | 'type'>, FieldFacts {}

/** Facts of a collection that decide what is usual for its fields. */
export interface UsualFacts {
  /** Server whose forms the columns have. Default: that of embedded databases. */
  readonly dialect?: Dialect;
  /** Default: true. */
  readonly writable?: boolean;
}

/** A collection as generated files state it. */
export interface CollectionFacts
  extends UsualFacts,
    Omit<CollectionDescriptor, 'name' | 'table' | 'singleton' | 'writable' | 'fields' | 'relations'> {
  /** Default: false. */
  readonly singleton?: boolean;
  readonly fields: readonly StatedField[];
  /** Default: none. */
  readonly relations?: readonly RelationDescriptor[];
}

/**
 * States a collection of a table, which is quoted for SQL.
 * @example collection('tags', '"public"."tags"', { key: ['id'], fields: [field('id', 'integer'), field('name', 'text')] })
 */
export function collection(name: string, table: string, facts: CollectionFacts): CollectionDescriptor {
  const { dialect, singleton = false, writable = true, fields, relations = [], ...others } = facts;
  const usual = { writable, ...(dialect && { dialect }) };
  const constraints = writable && { constraints: [] };
  return {
    ...{ name, table, singleton, writable, ...constraints, ...others },
    ...{ fields: fields.map((stated) => completeField(stated, usual)), relations },
  };
}

/**
 * States a field of a collection.
 * @example field('title', 'string', { maxLength: 255 })
 */
export function field(name: string, type: FieldDescriptor['type'], facts: FieldFacts = {}): StatedField {
  return { name, type, ...facts };
}

/** Makes a field of a type as it is usual: never null, written, and in a column of its name. */
export function usualField(
  { name, type }: Pick<FieldDescriptor, 'name' | 'type'>,
  { dialect = defaultDialect, writable = true }: UsualFacts,
): FieldDescriptor {
  const form = types[type].forms[dialectFacts[dialect].binaryRows ? 'binary' : 'text'];
  return { name, column: quoted(name), type, ...form, nullable: false, writable };
}

function completeField({ comparison, ...stated }: StatedField, usual: UsualFacts): FieldDescriptor {
  const { comparison: usualComparison, ...form } = usualField(stated, usual);
  const compared = comparison === undefined ? usualComparison : comparison;
  return { ...form, ...stated, ...(typeof compared === 'string' && { comparison: compared }) };
}

/** The name of a column, quoted for SQL. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
