/** Filter of one field, once per comparison of types: the value itself (`_eq`) or operators. Source: section 5.2. */
import {
  type Comparison,
  comparisonOf,
  definitions,
  type FieldDescriptor,
  functionsOf,
  type JsonValue,
  type OperatorDefinition,
  operandForm,
  operatorsOf,
  vectorMetrics,
} from '@tablewright/runtime/language';
import type { Lookup } from '../../cache/memo-cache.ts';
import type { RoleCollection, RoleField, RoleRelation } from '../../role-view/role-view.ts';
import { type JsonObject, listOf, listOrText, objectOf, oftenReferred, type Parts, reference } from '../json.ts';
import { grouped, partsOfTimes } from './values.ts';

/** A comparison of a field, or of a value within JSON. */
type Compared = Comparison | 'inside';

const scalar = ['string', 'number', 'boolean'];

/** Comparisons with the JSON type of their values, and the form in which a value alone may stand. */
const compared: readonly (readonly [name: Compared, type: JsonValue, description: string, alone?: 'one' | 'many'])[] = [
  ['text', 'string', 'Compares text.', 'one'],
  ['list', 'string', 'Compares a list of texts, or the text of it with commas.', 'many'],
  ['number', ['number', 'string'], 'Compares a number.', 'one'],
  ['time', 'string', 'Compares a date, a time or a duration.', 'one'],
  ['choice', 'string', 'Compares a value that has no order.', 'one'],
  ['boolean', ['boolean', 'string'], 'Compares true or false.', 'one'],
  ['array', scalar, 'Compares an array, or looks for elements.', 'many'],
  ['range', ['number', 'string'], 'Looks for values and ranges in a range.'],
  ['json', scalar, 'Looks into JSON.'],
  ['inside', scalar, 'Compares a value within JSON as what stands beside the operator.', 'one'],
  ['geometry', 'object', 'Compares geometries, which are GeoJSON.'],
  ['vector', 'number', 'Looks for the nearest vectors, which are lists of numbers.'],
  ['composite', 'object', 'Compares members of an object, by their paths.'],
  ['presence', 'string', 'Asks whether there is a value.'],
];

/** Components of all comparisons, by name; few databases have geometries, vectors or composite values. */
export function conditionSchemas(has: (type: 'geometry' | 'vector' | 'composite') => boolean): Parts {
  const shown = compared.filter(
    ([name]) => (name !== 'geometry' && name !== 'vector' && name !== 'composite') || has(name),
  );
  const conditions = shown.map(([name, type, description, alone]) => {
    if (alone === undefined) return [nameOf(name), operators(name, type, description)] as const;
    const value = alone === 'one' ? { type: [...typesIn(type), 'null'] } : arraySchema(type, name === 'array');
    return [nameOf(name), { description, anyOf: [value, operators(name, type, null)] }] as const;
  });
  return [...conditions, ['Flag', { anyOf: [{ type: 'boolean' }, { enum: ['', 'true', 'false', '1', '0', 1, 0] }] }]];
}

/** Refers to true or false, or a text of it. */
const flag: JsonObject = oftenReferred('Flag');

/** `TextCondition` */
function nameOf(name: Compared): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Condition`;
}

/** Refers to the condition for a field; null for types without comparison. */
function conditionOf(field: FieldDescriptor): JsonObject | null {
  const comparison = comparisonOf(field);
  return comparison && (references.get(comparison) ?? null);
}

const references: ReadonlyMap<Compared, JsonObject> = new Map(
  compared.map(([name]) => [name, oftenReferred(nameOf(name))]),
);

/** Refers to the condition for what is counted, or taken of a time. */
export const numberCondition: JsonObject = oftenReferred('NumberCondition');

/** The condition for least and greatest values. */
export const orderedCondition: JsonObject = {
  anyOf: (['number', 'text', 'time', 'list'] as const).map((name) => reference('schemas', nameOf(name))),
};

/** Paths are JSON Pointers. */
const inside: JsonObject = { patternProperties: { '^/': reference('schemas', nameOf('inside')) } };

function operators(name: Compared, type: JsonValue, description: string | null): JsonObject {
  const nested: JsonObject = { type: 'array', items: reference('schemas', nameOf(name)) };
  const allowed = operatorsOf(name).map((operator) => [operator, definitions[operator]] as const);
  // Lists stand beside equality, and presence last.
  const rank = ([operator, { operand }]: (typeof allowed)[number]): number => {
    if (operand === 'same') return 0;
    if (operator === '_in' || operator === '_nin') return 1;
    return operator === '_null' || operator === '_nnull' ? 3 : 2;
  };
  const sorted = [...allowed].sort((left, right) => rank(left) - rank(right));
  return {
    type: 'object',
    ...(description !== null && { description }),
    properties: objectOf([
      ...sorted.map(([operator, definition]) => [operator, operandSchema(definition, name, type)] as const),
      ['_and', nested],
      ['_or', nested],
    ]),
    additionalProperties: false,
    ...((name === 'json' || name === 'inside' || name === 'composite') && inside),
  };
}

function typesIn(type: JsonValue): readonly JsonValue[] {
  return Array.isArray(type) ? type : [type];
}

function operandSchema(definition: OperatorDefinition, name: Compared, type: JsonValue): JsonObject {
  const { ofElements } = definition;
  switch (operandForm(definition, name)) {
    case 'flag':
      return flag;
    case 'same':
      return name === 'array' || name === 'list'
        ? arraySchema(type, name === 'array')
        : { type: [...typesIn(type), 'null'] };
    case 'value':
    case 'text':
      return valueSchema(type);
    case 'list':
      return listOrText(name === 'list' && ofElements !== true ? { anyOf: [{ type }, listOf({ type })] } : { type });
    case 'pair':
      return pair(type);
    case 'box':
      return { anyOf: [valueSchema(type), { type: 'array', items: number, minItems: 4, maxItems: 4 }] };
    case 'near':
      return name === 'vector' ? neighbour : near;
    case 'span':
      return pair([...typesIn(type), 'null']);
  }
}

/** A geometry is an object of members that its type decides. */
function valueSchema(type: JsonValue): JsonObject {
  return type === 'object' ? { type, additionalProperties: true } : { type };
}

const number: JsonObject = { type: 'number' };

/** Query strings have the text of each, or of all with commas. */
const numbers = listOrText({ type: ['number', 'string'] });

/** A position, or a geometry, and how far away what is looked for may be. */
const near: JsonObject = {
  type: 'object',
  required: ['to', 'within'],
  properties: {
    to: { anyOf: [pair(['number', 'string']), valueSchema('object')] },
    within: { type: ['number', 'string'], minimum: 0, description: 'Metres, or units of the plane.' },
  },
  additionalProperties: false,
};

/** A vector, and the metric and the greatest of its distances. */
const neighbour: JsonObject = {
  type: 'object',
  required: ['to'],
  properties: {
    to: numbers,
    metric: { type: 'string', enum: [...vectorMetrics] },
    within: { type: ['number', 'string'], description: 'Without it the condition only orders, and needs a limit.' },
  },
  additionalProperties: false,
};

/** An array that may hold null, or be it; a nested one may have further dimensions. */
function arraySchema(type: JsonValue, isNested: boolean): JsonObject {
  const element: JsonObject = { type: [...typesIn(type), 'null'] };
  const items = isNested ? { anyOf: [element, listOf({})] } : element;
  return { type: ['array', 'string', 'null'], items };
}

function pair(type: JsonValue): JsonObject {
  return { ...listOrText({ type }), minItems: 2, maxItems: 2 };
}

/** Components of a collection's filters: the filter itself and, where relations to many add names, those in it. */
export function filterSchemas(collection: RoleCollection, shared: Lookup<unknown>): Parts {
  const { names } = collection;
  const conditions = conditionsSchema(collection, shared);
  if (!shared.has(names.conditions)) return [[names.filter, { ...conditions, unevaluatedProperties: false }]];
  const closed = { type: 'object', allOf: [reference('schemas', names.conditions)], unevaluatedProperties: false };
  return [
    [names.conditions, conditions],
    [names.filter, closed],
  ];
}

/** Components of conditions on parts of times: `PartConditionsPublishedAtTimestamp`. */
export function partConditions(collection: RoleCollection): Parts {
  return partsOfTimes(collection, 'PartConditions', functionFilters);
}

/** Components of conditions on relations to many, which follow from the target where nothing is linked. */
export function relatedConditions({ relations }: RoleCollection): Parts {
  const plain = relations.filter(({ kind, linked }) => kind !== 'm2o' && linked.length === 0);
  return plain.map((relation) => [relation.target.related, relationFilter(relation)]);
}

function conditionsSchema(collection: RoleCollection, shared: Lookup<unknown>): JsonObject {
  const { names, fields, relations } = collection;
  const nested: JsonObject = { type: 'array', items: reference('schemas', names.filter) };
  const entries: Parts = [
    ...fields.flatMap(functionFilters),
    ...relations.filter(({ kind }) => kind !== 'm2o').map(({ name }) => [`count(${name})`, numberCondition] as const),
    ...fields.flatMap((field) => fieldFilter(field)),
    ...relations.map((relation) => [relation.name, relationFilter(relation, shared)] as const),
    // Last, because a filter means these even where a field has the name.
    ['_and', nested],
    ['_or', nested],
  ];
  return grouped(entries, partConditions(collection), shared);
}

/** `year(released)` and the like. */
function functionFilters({ name, descriptor }: RoleField): Parts {
  if (descriptor.wire.kind === 'masked') return [];
  return functionsOf(descriptor.type).map((call) => [`${call}(${name})`, numberCondition]);
}

/** A many-to-one takes the operators of its key, or a filter of the item it leads to. */
function fieldFilter({ name, descriptor, filtered }: RoleField): Parts {
  const masked = descriptor.wire.kind === 'masked';
  const condition = masked ? null : conditionOf(descriptor);
  const related = filtered && reference('schemas', filtered.filter);
  const alternatives = [condition, related].filter((alternative) => alternative !== null);
  const [only] = alternatives;
  if (only === undefined) return [];
  return [[name, alternatives.length === 1 ? only : { anyOf: alternatives }]];
}

function relationFilter({ kind, target, linked }: RoleRelation, shared?: Lookup<unknown>): JsonObject {
  const plain = reference('schemas', target.filter);
  if (kind === 'm2o') return plain;
  if (linked.length === 0 && shared?.has(target.related)) return reference('schemas', target.related);
  const links = objectOf(linked.map(linkFilter));
  const names: JsonObject = { type: 'object', allOf: [reference('schemas', target.conditions)] };
  const rows = linked.length === 0 ? plain : { ...names, properties: links, unevaluatedProperties: false };
  return { ...names, properties: { ...links, _some: rows, _none: rows }, unevaluatedProperties: false };
}

function linkFilter({ collection, names }: RoleRelation['linked'][number]): readonly [string, JsonObject] {
  return [`item:${collection}`, reference('schemas', names.filter)];
}
