import type { Collection, Column, ColumnFill, Field, GraphqlEnum, Table } from '@tablewright/introspect/schema';
import {
  type Dialect,
  dialectFacts,
  type FieldDescriptor,
  isTextual,
  narrowIntegers,
  quoteLiteral,
  quoteName,
  quoteQualified,
  quoteTable,
  rangeElement,
  splitQualified,
  systemCollection,
} from '@tablewright/runtime/language';
import type { ApiEnum, ApiField, CollectionNames } from '../api.ts';
import { isComposite, takesMembers } from './composite-form.ts';
import { withMetric } from './geometry-form.ts';
import { nameValues } from './names.ts';
import { impliedColumn, type SchemaIndex } from './schema-index.ts';
import { constantDefault, storedColumn } from './stored.ts';
import { nativeForm, textForm } from './value-form.ts';

/** Resolves the fields of a collection, in column order; `names` are those of the collection in generated code. */
export function resolveFields(
  collection: Collection,
  table: Table,
  index: SchemaIndex,
  names: CollectionNames,
): readonly ApiField[] {
  const relations = new Set(
    collection.relations.flatMap((relation) => (relation.kind === 'm2o' && relation.field ? [relation.field] : [])),
  );
  const fields = collection.fields.map((field) => {
    const column = index.column(table, field.column);
    const values = valuesOf(field, column);
    return { field, column, values, enumType: values && enumTypeOf(field, column, index) };
  });
  const hasImplied = collection.system !== undefined && systemCollection(collection.name)?.implied !== undefined;
  const fieldNames = collection.fields.map(({ name }) => name);
  const aliases = fields.some(({ values }) => values !== null) ? nameValues(names, fieldNames) : null;
  return fields.map(({ field, column, values, enumType }) => {
    const keyPosition = collection.key.indexOf(field.name);
    // The key of a singleton that was never written is null, even if the database would fill it.
    const described = describe(field, table, column, index, collection.singleton && keyPosition === -1);
    const descriptor = hasImplied ? describeImplied(described, column, collection) : described;
    return {
      descriptor,
      stored: storedColumn(table, column),
      note: field.note ?? column.comment,
      ...(field.deprecated !== undefined && { deprecated: field.deprecated }),
      required: descriptor.writable && (field.required || (!descriptor.nullable && descriptor.filled === undefined)),
      keyPosition: keyPosition === -1 ? null : keyPosition,
      defaultText: column.fill.kind === 'default' ? column.fill.expression : null,
      values,
      valuesType: values && (enumType?.name ?? aliases?.get(field.name) ?? null),
      enumType,
      graphqlEnum: values && graphqlEnumOf(field, table, column, index),
      relation: relations.has(field.name) ? field.name : null,
    };
  });
}

/** A field of a collection with items that are no rows: these have no key, by which they are told. */
function describeImplied(descriptor: FieldDescriptor, column: Column, { key, fields }: Collection): FieldDescriptor {
  if (key.includes(descriptor.name)) return { ...descriptor, nullable: true };
  const [part] = fields.filter(({ name }) => key.includes(name));
  if (column !== impliedColumn || part === undefined) return descriptor;
  return { ...descriptor, computed: { expression: `({}.${quoteName(part.column)} IS NULL)` } };
}

function describe(field: Field, table: Table, column: Column, index: SchemaIndex, singleton: boolean): FieldDescriptor {
  const { binaryRows, guessableKeys, hasSpatialReferences, returnsKeys } = dialectFacts[index.dialect];
  const { native, comparison, stored, collated, wire, geometry, vector, attributes, composite } = binaryRows
    ? nativeForm(column.type, field.type, field.keepsReference)
    : textForm(column, field.type, hasSpatialReferences, field.keepsReference);
  const { element, maxLength, precision, scale } = column.type;
  const values = column.type.values ?? (field.type === 'array' ? element?.values : null);
  const random = guessableKeys && table.writable.insert && isIdentifier(column);
  // A server that does not tell keys tells those that it counted, and some are always the same.
  const isKey = table.primaryKey?.columns.includes(column.name) === true;
  const untold = !returnsKeys && isKey && !random && constantDefault(column) === undefined;
  const completed = fillOf(column, index);
  const fill = untold && completed === 'default' ? undefined : completed;
  const constant = singleton ? constantDefault(column) : undefined;
  const writable = isWritableField(field, table, column);
  const fallback = writable ? fallbackSql(table, column, index) : undefined;
  const formula = formulaOf(column, table, index.dialect);
  const limits = field.type === 'integer' && native !== 'int2' ? narrowIntegers[column.type.base] : undefined;
  const nullable = column.nullable && !column.type.domains.some(({ notNull }) => notNull);
  return {
    name: field.name,
    column: quoteName(column.name),
    type: field.type,
    native,
    ...(comparison !== undefined && { comparison }),
    ...(stored !== undefined && { stored }),
    ...(collated !== undefined && { collated }),
    wire,
    ...(column.folds && { folds: column.folds }),
    nullable,
    ...(values && { values }),
    ...(field.type === 'array' && element && { element: element.portable }),
    ...(field.type === 'unknown' && rangeElement(column.type.base) && { range: column.type.base }),
    ...(geometry && { geometry }),
    ...(vector && { vector: withMetric(vector, table, column.name) }),
    ...(attributes && { attributes }),
    ...(composite !== undefined && { composite }),
    ...(fill && { filled: fill }),
    ...(random && { random }),
    ...(fallback !== undefined && { fallback }),
    ...(formula !== undefined && { formula }),
    ...(field.required && (nullable || fill !== undefined) && { required: true as const }),
    ...(constant && { default: constant }),
    writable,
    ...(column.computed && { computed: { call: quoteTable(index.dialect, column.computed) } }),
    ...(hasTrigrams(index.dialect, table, column) && { trigrams: true as const }),
    ...(limits !== undefined && { limits }),
    ...(maxLength !== null && { maxLength }),
    ...(precision !== null && { precision }),
    ...(scale !== null && { scale }),
  };
}

/** The enum type of the values, or of an array's elements. */
function enumTypeOf({ type: read }: Field, { type }: Column, index: SchemaIndex): ApiEnum | null {
  const source = read === 'array' ? type.element?.enum : type.enum;
  return index.enumType(source ?? '') ?? null;
}

/** Values of a field that is read as another type than its column has are strings. */
function graphqlEnumOf(field: Field, table: Table, { name, type }: Column, index: SchemaIndex): GraphqlEnum | null {
  if (field.type !== type.portable) return null;
  const source = field.type === 'array' ? type.element?.enum : (type.enum ?? `${table.id}.${name}`);
  return index.graphqlEnum(source ?? '') ?? null;
}

/** True if an inverted index has the parts of a text: there is no other one of texts. */
function hasTrigrams(dialect: Dialect, { indexes }: Table, { name, type }: Column): boolean {
  if (!dialectFacts[dialect].hasVectors || !isTextual(type.portable)) return false;
  return indexes.some(
    ({ method, columns, predicate }) => method === 'gin' && predicate === null && columns.includes(name),
  );
}

/** True if the database fills the column with an identifier that it generates, as text or of a type of its own. */
function isIdentifier({ fill, type }: Column): boolean {
  const isText = type.portable === 'uuid' || type.portable === 'string' || type.portable === 'text';
  return isText && fill.kind === 'default' && /^\(*uuid\(\)\)*$/i.test(fill.expression.trim());
}

/** A view's column is filled as the column it shows, because an INSERT into the view leaves that one out too. */
function fillOf(column: Column, index: SchemaIndex): FieldDescriptor['filled'] {
  const source = index.source(column);
  return fillWords[column.fill.kind] ?? (source && fillOf(source, index));
}

const fillWords: Readonly<Record<ColumnFill['kind'], FieldDescriptor['filled']>> = {
  none: undefined,
  default: 'default',
  identity: 'identity',
  serial: 'identity',
  generated: 'generated',
};

/** True if any rule can let a caller write the field. */
export function isWritableField(field: Field, table: Table, { fill, updatable, type }: Column): boolean {
  if (field.serverOwned || (isComposite(type) && !takesMembers(type))) return false;
  const completed = fill.kind === 'generated' || (fill.kind === 'identity' && fill.always);
  const writable = table.writable.insert || table.writable.update;
  return writable && updatable && !completed && field.type !== 'unknown';
}

/** Values of text only: a list of numbers limits a number without changing what JSON carries. */
function valuesOf(field: Field, { type }: Column): readonly string[] | null {
  if (field.type === 'array') return type.element?.values ?? null;
  return ['enum', 'string', 'text'].includes(field.type) ? type.values : null;
}

/**
 * SQL of the value that fills a column left out of an INSERT; undefined if that is null. For a view's column, the SQL
 * of the column that it shows.
 * A batch in which only some items have a value names the column for all of them, so that no column is left out.
 */
function fallbackSql(table: Table, column: Column, index: SchemaIndex): string | undefined {
  const { fill } = column;
  if (fill.kind === 'default') return defaultSql(fill.expression, index);
  if (fill.kind === 'serial') return nextValue(`${quotedName(fill.sequence)}::pg_catalog.regclass`);
  // Some servers generate a number wherever they are given none, or null.
  if (dialectFacts[index.dialect].numbersNulls) return undefined;
  if (fill.kind === 'identity') {
    const owner = quoteLiteral(quoteQualified(table.schema, table.name));
    return nextValue(`pg_catalog.pg_get_serial_sequence(${owner}, ${quoteLiteral(column.name)})`);
  }
  const { source } = column;
  const base = index.source(column);
  return source === null || base === undefined ? undefined : fallbackSql(index.table(source.table), base, index);
}

/** SQL of a generated column, as its type keeps the value. Columns that bound the time of a version have none. */
export function formulaOf({ fill, nativeType, type, computed, source }: Column, table: Table, dialect: Dialect) {
  if (fill.kind !== 'generated' || computed !== undefined || source !== null) return;
  const { expression } = fill;
  if (/^ROW (?:START|END)$/.test(expression)) return;
  if (!dialectFacts[dialect].quotesNames) return formulaInScope(expression, nativeType, table);
  const { portable, precision, scale } = type;
  const whole = /unsigned/i.test(nativeType) ? 'UNSIGNED' : 'SIGNED';
  const decimal = precision === null ? undefined : `DECIMAL(${precision}, ${scale ?? 0})`;
  const kept = portable === 'decimal' ? decimal : /^(?:integer|bigInteger)$/.test(portable) ? whole : undefined;
  const parts: string[] = [];
  let [text, end] = [kept === undefined ? '(' : 'CAST(', 0];
  for (const { index, 0: part, 1: name } of expression.matchAll(textsAndNames)) {
    if (name === undefined) continue;
    parts.push(text + expression.slice(end, index), quoteName(name.replaceAll('``', '`')));
    [text, end] = ['', index + part.length];
  }
  return [...parts, `${text}${expression.slice(end)}${kept === undefined ? '' : ` AS ${kept}`})`];
}

const textsAndNames = /'(?:[^'\\]|\\.|'')*'|`((?:[^`]|``)+)`/gs;

/** The same where only the database finds names in an expression: it has those columns in scope that may be named there. */
function formulaInScope(expression: string, nativeType: string, { columns }: Table) {
  const mentioned = new Set<string>(expression.match(/[\w$]+/g));
  if (mentioned.has('tableoid')) return;
  const named = columns.filter(
    ({ name, fill }) => fill.kind !== 'generated' && (mentioned.has(name) || expression.includes(quoteName(name))),
  );
  const value = `(${expression})::${castName(nativeType)}`;
  if (named.length === 0) return [value];
  const inputs = named.flatMap((column) => [
    quoteName(column.name),
    `::${castName(column.nativeType)} AS ${quoteName(column.name)}${column === named.at(-1) ? ') AS r)' : ', '}`,
  ]);
  return [`(SELECT ${value} FROM (SELECT `, ...inputs];
}

/** The modifiers of types that are not the database's own are numbers of the catalog, which SQL does not take. */
function castName(nativeType: string): string {
  return nativeType.includes('.') ? nativeType.replace(/\(-?\d+\)$/, '') : nativeType;
}

/** SQL of a default. A doubled backslash stands for itself where one is an escape. */
function defaultSql(expression: string, { dialect }: SchemaIndex): string {
  const isText = dialectFacts[dialect].escapes && /^'(?:[^']|'')*'$/.test(expression);
  return isText ? expression.replaceAll('\\', '\\\\') : expression;
}

function nextValue(sequence: string): string {
  return `pg_catalog.nextval(${sequence})`;
}

function quotedName(id: string): string {
  const { schema, name } = splitQualified(id);
  return quoteLiteral(quoteQualified(schema, name));
}
