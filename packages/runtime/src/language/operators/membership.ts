/** Operators that compare with a list. An empty `_in` matches nothing, an empty `_nin` everything. */
import { isSign, not, type OperatorDefinition, type OperatorFamily, some } from './definition.ts';

const comparisons: OperatorDefinition['comparisons'] = ['text', 'list', 'choice', 'number', 'time', 'inside'];

const isAmong: NonNullable<OperatorDefinition['meets']> = (_, operands, order) =>
  some(operands.map((operand) => isSign(order(operand), (sign) => sign === 0)));

export const membership: OperatorFamily<'_in' | '_nin'> = {
  _in: {
    operand: 'list',
    comparisons,
    distinguishes: true,
    spread: ['or', '_eq'],
    meets: isAmong,
    excludes: ['_nin'],
  },
  _nin: {
    operand: 'list',
    comparisons,
    distinguishes: true,
    spread: ['and', '_neq'],
    meets: (...facts) => not(isAmong(...facts)),
  },
};
