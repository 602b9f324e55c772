/** Operators of types with an order. */
import { every, isSign, type OperatorDefinition, type OperatorFamily, some } from './definition.ts';

const ordered: Pick<OperatorDefinition, 'comparisons' | 'kinds'> = {
  comparisons: ['number', 'time', 'inside'],
  kinds: ['text', 'number'],
};

export const order: OperatorFamily<'_lt' | '_lte' | '_gt' | '_gte'> = {
  _lt: {
    ...ordered,
    operand: 'value',
    meets: (_, [operand = ''], compare) => isSign(compare(operand), (sign) => sign < 0),
    excludes: ['_gt', '_gte'],
  },
  _lte: {
    ...ordered,
    operand: 'value',
    meets: (_, [operand = ''], compare) => isSign(compare(operand), (sign) => sign <= 0),
    excludes: ['_gt'],
  },
  _gt: {
    ...ordered,
    operand: 'value',
    meets: (_, [operand = ''], compare) => isSign(compare(operand), (sign) => sign > 0),
  },
  _gte: {
    ...ordered,
    operand: 'value',
    meets: (_, [operand = ''], compare) => isSign(compare(operand), (sign) => sign >= 0),
  },
};

export const between: OperatorFamily<'_between' | '_nbetween'> = {
  _between: {
    ...ordered,
    operand: 'pair',
    spread: ['and', '_gte', '_lte'],
    meets: (_, [low = '', high = ''], compare) =>
      every([isSign(compare(low), (sign) => sign >= 0), isSign(compare(high), (sign) => sign <= 0)]),
    excludes: ['_nbetween'],
  },
  _nbetween: {
    ...ordered,
    operand: 'pair',
    spread: ['or', '_lt', '_gt'],
    meets: (_, [low = '', high = ''], compare) =>
      some([isSign(compare(low), (sign) => sign < 0), isSign(compare(high), (sign) => sign > 0)]),
  },
};
