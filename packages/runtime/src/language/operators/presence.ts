/** Operators that ask whether there is a value; every field has them. */
import type { OperatorDefinition, OperatorFamily } from './definition.ts';

const comparisons: OperatorDefinition['comparisons'] = [
  ...([
    'text',
    'list',
    'choice',
    'number',
    'time',
    'boolean',
    'array',
    'range',
    'json',
    'geometry',
    'vector',
    'composite',
    'inside',
    'presence',
  ] as const),
];

export const presence: OperatorFamily<'_null' | '_nnull'> = {
  _null: { operand: 'flag', comparisons, otherwise: '_nnull', holdsOnNull: true, meets: () => false },
  _nnull: { operand: 'flag', comparisons, otherwise: '_null', meets: () => true },
};
