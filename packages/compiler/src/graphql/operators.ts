/** The inputs that compare values, and which field takes which. Source: API specification, sections 5.2 and 14.2. */
import {
  comparisonOf,
  type FieldDescriptor,
  type Operator,
  operatorForm,
  operatorsOf,
  types,
} from '@tablewright/runtime/language';
import { type SdlField, sdlType } from '../print/sdl.ts';

/** One row per input: a type that has its operators, and the scalar that they compare with. */
const groups = [
  { name: 'string', like: { type: 'string' }, operand: 'String' },
  { name: 'enum', like: { type: 'enum' }, operand: 'String' },
  { name: 'id', like: { type: 'uuid' }, operand: 'ID' },
  { name: 'number', like: { type: 'integer' }, operand: 'GraphQLStringOrFloat' },
  { name: 'big_int', like: { type: 'bigInteger' }, operand: 'GraphQLBigInt' },
  { name: 'decimal', like: { type: 'decimal' }, operand: 'Decimal' },
  { name: 'boolean', like: { type: 'boolean' }, operand: 'Boolean' },
  { name: 'date', like: { type: 'timestamp' }, operand: 'Date' },
  { name: 'time', like: { type: 'time' }, operand: 'String' },
  { name: 'json', like: { type: 'json' }, operand: 'JSON' },
  { name: 'array', like: { type: 'array', element: 'text' }, operand: 'JSON' },
  { name: 'range', like: { type: 'unknown', range: 'int4range' }, operand: 'JSON' },
  { name: 'null', like: { type: 'unknown' }, operand: 'JSON' },
] as const satisfies readonly { readonly name: string; readonly like: Like; readonly operand: string }[];

type Like = Pick<FieldDescriptor, 'type' | 'element' | 'range'>;

/** The beginning of the name of an input: `number` of `number_filter_operators`. */
export type OperatorGroup = (typeof groups)[number]['name'];

/** Every one of them. */
export const operatorGroups: readonly OperatorGroup[] = groups.map(({ name }) => name);

/** The input that compares a field; null for a secret, which nothing does. */
export function operatorGroup(field: FieldDescriptor): OperatorGroup | null {
  if (field.wire.kind === 'masked') return null;
  const comparison = comparisonOf(field);
  const name = comparison === 'range' ? 'range' : comparison === 'presence' ? 'null' : types[field.type].graphql.filter;
  return operatorGroups.find((group) => group === name) ?? null;
}

/** `number_filter_operators` */
export function operatorsName(group: OperatorGroup): string {
  return `${group}_filter_operators`;
}

/** Over REST values within JSON are compared by their pointers, which are no names of GraphQL. */
const within: SdlField = { name: '_at', type: 'JSON', note: 'Operators of values within, by their JSON Pointers.' };

const fieldsByGroup: ReadonlyMap<OperatorGroup, readonly SdlField[]> = new Map(
  groups.map(({ name, like, operand }) => {
    const fields = operatorsOf(like).map((operator) => ({ name: operator, type: operandType(operator, operand) }));
    return [name, name === 'json' ? [...fields, within] : fields];
  }),
);

/** The fields of an input that compares. */
export function operatorFields(group: OperatorGroup): readonly SdlField[] {
  return fieldsByGroup.get(group) ?? [];
}

function operandType(operator: Operator, operand: string): string {
  const form = operatorForm(operator);
  if (form === 'flag') return 'Boolean';
  return form === 'list' ? `[${operand}]` : operand;
}

/** The inputs that compare. */
export function operatorTypes(): string {
  return groups.map(({ name }) => sdlType('input', operatorsName(name), operatorFields(name))).join('\n');
}
