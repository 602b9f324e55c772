/** Operators that compare with one value. */
import { isSign, type OperatorDefinition, type OperatorFamily } from './definition.ts';

const comparisons: OperatorDefinition['comparisons'] = [
  ...(['text', 'list', 'choice', 'number', 'time', 'boolean', 'array', 'inside'] as const),
];

export const equality: OperatorFamily<'_eq' | '_neq'> = {
  _eq: {
    operand: 'same',
    comparisons,
    distinguishes: true,
    meets: (_, [operand = ''], order) => isSign(order(operand), (sign) => sign === 0),
    excludes: ['_neq', '_lt', '_gt'],
  },
  _neq: {
    operand: 'same',
    comparisons,
    distinguishes: true,
    meets: (_, [operand = ''], order) => isSign(order(operand), (sign) => sign !== 0),
  },
};
