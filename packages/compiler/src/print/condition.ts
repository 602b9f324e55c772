import { type Condition, isAlways, literalValue, type Operand } from '@tablewright/runtime/language';

/**
 * Prints a condition for people, in one line: `status _eq "published" and author_id(name _eq $CURRENT_USER.name)`.
 *
 * Names and operators are those of filters. A relation to one item stands before parentheses with what must hold of it,
 * one to many items with `some` or `no` before it.
 */
export function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case 'and':
      return condition.of.length === 0 ? 'every row' : condition.of.map((part) => inner(part, 'or')).join(' and ');
    case 'or':
      return condition.of.length === 0 ? 'no row' : condition.of.map((part) => inner(part, 'and')).join(' or ');
    case 'related': {
      const word = { one: '', some: 'some ', none: 'no ' }[condition.quantifier];
      const name = condition.item === undefined ? condition.relation : `${condition.relation}:${condition.item}`;
      return `${word}${name}(${isAlways(condition.where) ? 'any' : conditionText(condition.where)})`;
    }
    case 'compare': {
      const { function: called, field, path, operator, operand } = condition;
      const deep = path === undefined ? '' : `->${JSON.stringify(path.value)}`;
      const name = called === undefined ? `${field}${deep}` : `${called}(${field})`;
      return unary.has(operator) ? `${name} ${operator}` : `${name} ${operator} ${operandText(operand)}`;
    }
  }
}

/** `$CURRENT_USER.team_id`, `$NOW(-P1D)`, or a value as JSON. */
export function operandText(operand: Operand): string {
  if (operand.kind === 'literal') return JSON.stringify(literalValue(operand));
  if (operand.kind === 'now') return operand.offset === 'P0D' ? '$NOW' : `$NOW(${operand.offset})`;
  return [operand.of === 'user' ? '$CURRENT_USER' : '$CURRENT_ROLE', ...operand.path].join('.');
}

const unary: ReadonlySet<string> = new Set(['_null', '_nnull', '_empty', '_nempty']);

function inner(part: Condition, other: 'and' | 'or'): string {
  return part.kind === other && part.of.length > 1 ? `(${conditionText(part)})` : conditionText(part);
}
