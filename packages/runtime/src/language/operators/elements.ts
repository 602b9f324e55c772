/** Additions: operators that look among the elements of an array, or of an array within JSON. */
import type { OperatorDefinition, OperatorFamily } from './definition.ts';

const comparisons: OperatorDefinition['comparisons'] = ['array', 'json', 'inside'];
const value: OperatorDefinition = { operand: 'value', comparisons: [...comparisons, 'range'], ofElements: true };
const list: OperatorDefinition = { operand: 'list', comparisons, ofElements: true };

export type ElementOperator = '_has' | '_nhas' | '_has_any' | '_nhas_any' | '_has_all' | '_nhas_all';

export const elements: OperatorFamily<ElementOperator> = {
  _has: { ...value, excludes: ['_nhas'] },
  _nhas: value,
  _has_any: { ...list, spread: ['or', '_has'], excludes: ['_nhas_any'] },
  _nhas_any: { ...list, spread: ['and', '_nhas'] },
  _has_all: { ...list, spread: ['and', '_has'], excludes: ['_nhas_all'] },
  _nhas_all: { ...list, spread: ['or', '_nhas'] },
};

/** Additions: operators that compare ranges. The first value of a pair belongs to it, the second does not. */
const range: OperatorDefinition = { operand: 'span', comparisons: ['range'] };

const within: OperatorDefinition = { ...range, comparisons: ['range', 'geometry'], geometryOperand: 'value' };

export const spans: OperatorFamily<'_overlaps' | '_noverlaps' | '_within' | '_nwithin'> = {
  _overlaps: { ...range, excludes: ['_noverlaps'] },
  _noverlaps: range,
  _within: { ...within, excludes: ['_nwithin'] },
  _nwithin: within,
};
