/** Conditions of plain data: files and other threads hold no numbers beyond doubles. */

import { elementwise } from '../operators/index.ts';
import { withNumberTexts } from '../values/exact-numbers.ts';
import type { Condition, Operand } from './condition.ts';

/** A condition that `parseFilter` has read, with operands of plain data. */
export function plainCondition(condition: Condition): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { ...condition, of: condition.of.map(plainCondition) };
    case 'related':
      return { ...condition, where: plainCondition(condition.where) };
    case 'compare': {
      const within = condition.path !== undefined || elementwise.has(condition.operator) ? 'json' : 'field';
      return { ...condition, operand: plainOperand(condition.operand, within) };
    }
  }
}

/** An operand of plain data. A field takes the text of a number that a double does not hold; JSON needs the number. */
export function plainOperand(operand: Operand, within: 'json' | 'field'): Operand {
  if (operand.kind !== 'literal') return operand;
  const value = withNumberTexts(operand.value);
  const text = JSON.stringify(operand.value);
  if (JSON.stringify(value) === text) return operand;
  return within === 'field' ? { ...operand, value } : { ...operand, value: text, json: true };
}
