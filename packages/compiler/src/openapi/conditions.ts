/**
 * Filter of one field, once per group of types. Source: API specification, section 5.2.
 * A condition is the value itself, which means `_eq`, or an object of operators.
 */
import { type Comparison, comparisonOf, type FieldDescriptor, type JsonValue } from '@tablewright/runtime/language';
import { type JsonObject, objectOf, oftenReferred, reference } from './json.ts';

type Group =
  | 'Text'
  | 'List'
  | 'Number'
  | 'Time'
  | 'Choice'
  | 'Boolean'
  | 'Array'
  | 'Range'
  | 'Json'
  | 'Inside'
  | 'Presence';

/** Components of all groups, by name. */
export function conditionSchemas(): readonly (readonly [string, JsonObject])[] {
  return [
    ['TextCondition', condition('Text', 'string', 'Compares text.', [...equal, ...within, ...textual, ...empty])],
    [
      'ListCondition',
      {
        description: 'Compares a list of texts, or the text of it with commas.',
        anyOf: [
          operandSchema('array', 'string'),
          operators('List', 'string', null, [...whole, ...amongLists, ...textual, ...empty]),
        ],
      },
    ],
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
    [
      'ArrayCondition',
      {
        description: 'Compares an array, or looks for elements.',
        anyOf: [operandSchema('array', scalar), operators('Array', scalar, null, [...whole, ...elements])],
      },
    ],
    ['RangeCondition', operators('Range', ['number', 'string'], 'Looks for values and ranges in a range.', spans)],
    ['JsonCondition', { ...operators('Json', scalar, 'Looks into JSON.', elements), ...inside }],
    [
      'InsideCondition',
      {
        description: 'Compares a value within JSON as what stands beside the operator.',
        anyOf: [
          { type: [...scalar, 'null'] },
          {
            ...operators('Inside', scalar, null, [...equal, ...within, ...ordered, ...textual, ...elements]),
            ...inside,
          },
        ],
      },
    ],
    ['PresenceCondition', operators('Presence', 'string', 'Asks whether there is a value.', [])],
  ];
}

/** Refers to the condition for a field; null for types without comparison. */
export function conditionOf(field: FieldDescriptor): JsonObject | null {
  const comparison = comparisonOf(field);
  return comparison && references[comparison];
}

const references: Readonly<Record<Comparison, JsonObject>> = {
  text: oftenReferred('TextCondition'),
  list: oftenReferred('ListCondition'),
  number: oftenReferred('NumberCondition'),
  time: oftenReferred('TimeCondition'),
  choice: oftenReferred('ChoiceCondition'),
  boolean: oftenReferred('BooleanCondition'),
  array: oftenReferred('ArrayCondition'),
  range: oftenReferred('RangeCondition'),
  json: oftenReferred('JsonCondition'),
  presence: oftenReferred('PresenceCondition'),
};

/** Refers to the condition for what is counted, or taken of a time. */
export const numberCondition: JsonObject = references.number;

/**
 * The operand of an operator: one value or null, a list, a list of lists, exactly two values, the same where null is no end, an array that
 * may hold null or be it, text that is not null, or a flag.
 */
type Operand = 'nullable' | 'list' | 'lists' | 'pair' | 'span' | 'array' | 'value' | 'flag';

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
const whole = [
  ['_eq', 'array'],
  ['_neq', 'array'],
] as const;
const elements = [
  ['_has', 'value'],
  ['_nhas', 'value'],
  ['_has_any', 'list'],
  ['_nhas_any', 'list'],
  ['_has_all', 'list'],
  ['_nhas_all', 'list'],
] as const;
const amongLists = [
  ['_in', 'lists'],
  ['_nin', 'lists'],
] as const;
const spans = [
  ['_has', 'value'],
  ['_nhas', 'value'],
  ['_overlaps', 'span'],
  ['_noverlaps', 'span'],
  ['_within', 'span'],
  ['_nwithin', 'span'],
] as const;
const presence = [
  ['_null', 'flag'],
  ['_nnull', 'flag'],
] as const;

const scalar = ['string', 'number', 'boolean'];

/** Paths are JSON Pointers. */
const inside: JsonObject = { patternProperties: { '^/': reference('schemas', 'InsideCondition') } };

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
      return { anyOf: [{ type: 'boolean' }, { enum: ['', 'true', 'false', '1', '0', 1, 0] }] };
    case 'list':
      return { anyOf: [{ type: 'array', items: { type } }, { type: 'string' }] };
    case 'lists':
      return {
        anyOf: [
          { type: 'array', items: { anyOf: [{ type }, { type: 'array', items: { type } }] } },
          { type: 'string' },
        ],
      };
    case 'span':
      return { anyOf: [pair([...types, 'null']), { type: 'string' }] };
    case 'array':
      return { anyOf: [{ type: ['array', 'null'], items: { type: [...types, 'null'] } }, { type: 'string' }] };
    case 'pair':
      return { anyOf: [pair(type), { type: 'string' }] };
  }
}

function pair(type: JsonValue): JsonObject {
  return { type: 'array', items: { type }, minItems: 2, maxItems: 2 };
}
