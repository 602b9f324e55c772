import { isOperator } from '../operators/index.ts';
import { functionFits, isFieldFunction, isSecret } from '../types/index.ts';
import type { JsonValue } from '../values/parse-text.ts';
import type { ValueType } from '../values/value-type.ts';
import { always, type Condition } from './condition.ts';
import { readComparisons } from './filter-comparison.ts';
import type { NamedRelation } from './filter-names.ts';
import { all, below, type Place, problem, type Reader, readList } from './filter-reader.ts';
import { type FilterObject, isObject, listOf, parseCall } from './filter-syntax.ts';

type Related = Extract<Condition, { kind: 'related' }>;

/** Reads an object that describes a row: names, `_and`, `_or`. */
export function readRows(reader: Reader, value: JsonValue, location: Place): Condition {
  if (!isObject(value)) return always;
  return all(Object.entries(value).map(([key, inner]) => readKey(reader, key, inner, below(location, key))));
}

function readKey(reader: Reader, key: string, value: JsonValue, location: Place): Condition {
  if (key === '_and' || key === '_or') {
    return readList(key, value, location, (element, next) => readRows(reader, element, next));
  }
  return readName(reader, key, value, location);
}

function readName(reader: Reader, name: string, value: JsonValue, location: Place): Condition {
  const field = reader.names.field(location.collection, name);
  const relation = reader.names.relation(location.collection, name);
  if (location.links !== undefined && name.startsWith('item:'))
    return readItem(reader, name, value, location, location.links);
  if (relation !== undefined && relation.kind !== 'm2o') return readToMany(reader, name, relation, value, location);
  if (relation !== undefined) return readToOne(reader, name, relation, field, value, location);
  if (field !== undefined && !isSecret(field.type)) {
    return readComparisons(reader, { field: name, type: field }, value, location);
  }
  const call = field === undefined ? parseCall(name) : undefined;
  return call === undefined
    ? problem(reader, 'name', location.path, 'does not exist')
    : readCall(reader, call.function, call.argument, value, location);
}

function readCall(reader: Reader, name: string, argument: string, value: JsonValue, location: Place): Condition {
  const field = reader.names.field(location.collection, argument);
  const relation = reader.names.relation(location.collection, argument);
  const usable = field !== undefined && !isSecret(field.type);
  if (!usable && relation === undefined) return problem(reader, 'name', location.path, 'does not exist');
  const toMany = relation !== undefined && relation.kind !== 'm2o';
  const fits = isFieldFunction(name) && ((toMany && name === 'count') || (usable && functionFits(name, field.type)));
  if (!fits) return problem(reader, 'value', location.path, 'is a function that this field does not have');
  return readComparisons(reader, { field: argument, function: name, type: { type: 'integer' } }, value, location);
}

/**
 * An m2o takes the operators of its key; every other key looks into the related row.
 *
 * `_and` and `_or` that hold key operators are distributed over the relation, which is sound for one related row.
 */
function readToOne(
  reader: Reader,
  name: string,
  relation: NamedRelation,
  field: ValueType | undefined,
  value: JsonValue,
  location: Place,
): Condition {
  if (!isObject(value)) return readKeyComparison(reader, name, field, value, location);
  const parts: Condition[] = [];
  const plain: [string, JsonValue][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const next = below(location, key);
    const group = key === '_and' || key === '_or';
    if (isOperator(key)) parts.push(readKeyComparison(reader, name, field, { [key]: inner }, location));
    else if (key === '_some' || key === '_none') problem(reader, 'value', next.path, 'is for relations to many items');
    else if (group && holdsBareOperator(inner)) {
      parts.push(
        readList(key, inner, next, (element, where) => readToOne(reader, name, relation, field, element, where)),
      );
    } else plain.push([key, inner]);
  }
  if (plain.length > 0 || parts.length === 0) {
    const related = readRelated(reader, name, 'one', Object.fromEntries(plain), location, relation.target);
    parts.push(orNowhere(reader, relation.target, related));
  }
  return all(parts);
}

function readKeyComparison(
  reader: Reader,
  name: string,
  field: ValueType | undefined,
  value: JsonValue,
  location: Place,
): Condition {
  if (field !== undefined && isSecret(field.type)) return problem(reader, 'name', location.path, 'does not exist');
  if (field === undefined) return problem(reader, 'value', location.path, 'is a relation of several fields; name one');
  return readComparisons(reader, { field: name, type: field }, value, location);
}

function readRelated(
  reader: Reader,
  relation: string,
  quantifier: 'one' | 'some' | 'none',
  value: JsonValue,
  location: Place,
  collection: string,
  links?: readonly string[],
): Related {
  const where = readRows(reader, value, { collection, path: location.path, ...(links && { links }) });
  return { kind: 'related', relation, quantifier, where };
}

/** A condition below the name of a relation; one on a key that is null also holds where there is no item. */
function orNowhere(reader: Reader, collection: string, related: Related): Condition {
  const key = reader.names.key(collection);
  if (!holdsNowhere(key, related.where)) return related;
  return { kind: 'or', of: [related, { ...related, quantifier: 'none', where: always }] };
}

/** True if a condition holds where there is no item: its key is null there, and nothing is known of other fields. */
function holdsNowhere(key: readonly string[], condition: Condition): boolean {
  switch (condition.kind) {
    case 'and': {
      const requested = condition.of.filter((part) => !isAlways(part));
      return requested.length > 0 && requested.every((part) => holdsNowhere(key, part));
    }
    case 'or':
      return condition.of.some((part) => holdsNowhere(key, part));
    case 'compare': {
      const { field, function: call, path, operator } = condition;
      return operator === '_null' && call === undefined && path === undefined && key.includes(field);
    }
    case 'related':
      return false;
  }
}

function isAlways(condition: Condition): boolean {
  return condition.kind === 'and' && condition.of.every(isAlways);
}

/** A to-many takes `_some` and `_none`; every other key describes rows of which one must exist, or none where it says so. */
function readToMany(
  reader: Reader,
  name: string,
  relation: NamedRelation,
  value: JsonValue,
  location: Place,
): Condition {
  if (!isObject(value)) return problem(reader, 'value', location.path, 'is a relation to many items');
  const into = (quantifier: 'some' | 'none', inner: JsonValue, next: Place) =>
    readRelated(reader, name, quantifier, inner, next, relation.target, relation.targets);
  const parts: Condition[] = [];
  const plain: [string, JsonValue][] = [];
  for (const [key, inner] of Object.entries(value)) {
    if (key === '_some' || key === '_none')
      parts.push(into(key === '_some' ? 'some' : 'none', inner, below(location, key)));
    else if (isOperator(key))
      problem(reader, 'value', below(location, key).path, 'does not compare relations to many items');
    else plain.push([key, inner]);
  }
  if (plain.length > 0 || parts.length === 0) {
    parts.push(orNowhere(reader, relation.target, into('some', plainRows(reader, plain, location), location)));
  }
  return all(parts);
}

/** Under a to-many, `_and` and `_or` may hold only descriptions of rows; a bare operator there compares nothing. */
function plainRows(reader: Reader, entries: readonly (readonly [string, JsonValue])[], location: Place): FilterObject {
  for (const [key, value] of entries) {
    if (key !== '_and' && key !== '_or') continue;
    if (holdsBareOperator(value))
      problem(reader, 'value', below(location, key).path, 'compares a relation to many items');
  }
  return Object.fromEntries(entries);
}

function holdsBareOperator(value: JsonValue): boolean {
  return (listOf(value) ?? []).some(
    (element) =>
      isObject(element) &&
      Object.entries(element).some(([key, inner]) =>
        key === '_and' || key === '_or'
          ? holdsBareOperator(inner)
          : isOperator(key) || key === '_some' || key === '_none',
      ),
  );
}

/** `item:<collection>` under a many-to-any looks into the linked item when it is of that collection. */
function readItem(
  reader: Reader,
  name: string,
  value: JsonValue,
  location: Place,
  links: readonly string[],
): Condition {
  const item = name.slice('item:'.length);
  if (!links.includes(item)) return problem(reader, 'name', location.path, 'does not exist');
  if (!isObject(value)) return problem(reader, 'value', location.path, 'must be an object');
  const where = readRows(reader, value, { collection: item, path: location.path });
  return orNowhere(reader, item, { kind: 'related', relation: 'item', quantifier: 'one', item, where });
}
