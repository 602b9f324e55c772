/**
 * What a filter may say about one field, once per group of types. Source: API specification, section 5.2.
 *
 * A condition is the value itself, which means `_eq`, or an object of operators.
 */
import type { JsonValue, PortableType } from '@platform/runtime/contract';
import { type JsonObject, objectOf, reference } from './json.ts';

type Group = 'Text' | 'Number' | 'Time' | 'Choice' | 'Boolean' | 'Presence';

/** Components of all groups, by name. */
export function conditionSchemas(): readonly (readonly [string, JsonObject])[] {
  return [
    ['TextCondition', condition('Text', 'string', 'Compares text.', [...equal, ...within, ...textual, ...empty])],
    [
      'NumberCondition',
      condition('Number', ['number', 'string'], 'Compares a number.', [...equal, ...within, ...ordered]),
    ],
    [
      'TimeCondition',
      condition('Time', 'string', 'Compares a date, a time or a duration.', [...equal, ...within, ...ordered]),
    ],
    ['ChoiceCondition', condition('Choice', 'string', 'Compares a value that has no order.', [...equal, ...within])],
    ['BooleanCondition', condition('Boolean', ['boolean', 'string'], 'Compares true or false.', equal)],
    ['PresenceCondition', operators('Presence', 'string', 'Asks whether there is a value.', [])],
  ];
}

/** Refers to the condition for fields of a type; null for types that nobody can compare. */
export function conditionOf(type: PortableType): JsonObject | null {
  const group = groups[type];
  return group && reference('schemas', `${group}Condition`);
}

const groups: Readonly<Record<PortableType, Group | null>> = {
  string: 'Text',
  text: 'Text',
  csv: 'Text',
  integer: 'Number',
  bigInteger: 'Number',
  decimal: 'Number',
  float: 'Number',
  date: 'Time',
  time: 'Time',
  dateTime: 'Time',
  timestamp: 'Time',
  interval: 'Time',
  uuid: 'Choice',
  enum: 'Choice',
  boolean: 'Boolean',
  json: 'Presence',
  array: 'Presence',
  binary: 'Presence',
  unknown: 'Presence',
  hash: null,
  secret: null,
  token: null,
};

/** The operand of an operator: one value or null, a list, exactly two values, text that is not null, or a flag. */
type Operand = 'nullable' | 'list' | 'pair' | 'value' | 'flag';

const equal = [
  ['_eq', 'nullable'],
  ['_neq', 'nullable'],
] as const;
const within = [
  ['_in', 'list'],
  ['_nin', 'list'],
] as const;
const ordered = [
  ['_lt', 'value'],
  ['_lte', 'value'],
  ['_gt', 'value'],
  ['_gte', 'value'],
  ['_between', 'pair'],
  ['_nbetween', 'pair'],
] as const;
const textual = [
  ['_contains', 'value'],
  ['_ncontains', 'value'],
  ['_icontains', 'value'],
  ['_starts_with', 'value'],
  ['_nstarts_with', 'value'],
  ['_istarts_with', 'value'],
  ['_nistarts_with', 'value'],
  ['_ends_with', 'value'],
  ['_nends_with', 'value'],
  ['_iends_with', 'value'],
  ['_niends_with', 'value'],
] as const;
const empty = [
  ['_empty', 'flag'],
  ['_nempty', 'flag'],
] as const;
const presence = [
  ['_null', 'flag'],
  ['_nnull', 'flag'],
] as const;

type Operators = readonly (readonly [string, Operand])[];

function condition(group: Group, type: JsonValue, description: string, allowed: Operators): JsonObject {
  const types = Array.isArray(type) ? type : [type];
  return { description, anyOf: [{ type: [...types, 'null'] }, operators(group, type, null, allowed)] };
}

function operators(group: Group, type: JsonValue, description: string | null, allowed: Operators): JsonObject {
  const nested: JsonObject = { type: 'array', items: reference('schemas', `${group}Condition`) };
  return {
    type: 'object',
    ...(description !== null && { description }),
    properties: objectOf([
      ...[...allowed, ...presence].map(([name, operand]) => [name, operandSchema(operand, type)] as const),
      ['_and', nested],
      ['_or', nested],
    ]),
    additionalProperties: false,
  };
}

function operandSchema(operand: Operand, type: JsonValue): JsonObject {
  const types = Array.isArray(type) ? type : [type];
  switch (operand) {
    case 'nullable':
      return { type: [...types, 'null'] };
    case 'value':
      return { type };
    case 'flag':
      return { type: 'boolean' };
    case 'list':
      return { anyOf: [{ type: 'array', items: { type } }, { type: 'string' }] };
    case 'pair':
      return { anyOf: [{ type: 'array', items: { type }, minItems: 2, maxItems: 2 }, { type: 'string' }] };
  }
}
