/** Prints conditions as calls of the runtime. Properties get one order, as those of a schema file have another. */
import type { Condition, Operand } from '@tablewright/runtime/language';
import { type Calls, code, type Value } from '../print/expression.ts';
import { isConstant } from './condition-names.ts';

/** Makes the functions that state conditions and operands. `nameOf` gives the name that a file has for one. */
export function createConditions(
  { call: build, constant }: Omit<Calls, 'used'>,
  nameOf: (condition: Condition) => string | null = () => null,
) {
  function stateDefinition(condition: Condition): Value {
    switch (condition.kind) {
      case 'and':
      case 'or':
        if (!isConstant(condition)) return build(condition.kind, ...condition.of.map(state));
        return constant(condition.kind === 'and' ? 'always' : 'never');
      case 'compare':
        return stateComparison(condition);
      case 'related': {
        const { relation, quantifier, item, where } = condition;
        return build('related', relation, quantifier, state(where), ...(item === undefined ? [] : [item]));
      }
    }
  }

  function stateComparison(condition: Extract<Condition, { kind: 'compare' }>): Value {
    const { field, path, operator, operand } = condition;
    const more = {
      ...(condition.function !== undefined && { function: condition.function }),
      ...(path !== undefined && { path: stateLiteral(path) }),
    };
    const parameters = [field, operator, stateOperand(operand)];
    return build('compare', ...parameters, ...(Object.keys(more).length > 0 ? [more] : []));
  }

  function state(condition: Condition): Value {
    const name = nameOf(condition);
    return name === null ? stateDefinition(condition) : code(name);
  }

  function stateOperand(operand: Operand): Value {
    if (operand.kind === 'now') return build('now', ...(operand.offset === 'P0D' ? [] : [operand.offset]));
    if (operand.kind === 'caller') return build('caller', operand.of, ...operand.path);
    const { value, text, json } = operand;
    const isPlain = typeof value !== 'object' || value === null || Array.isArray(value);
    return isPlain && text === undefined && json === undefined ? value : stateLiteral(operand);
  }

  return { state, stateDefinition, stateOperand };
}

/** A value as an object, where nothing else tells that it is one. */
export function stateLiteral({ kind, value, text, json, members }: Extract<Operand, { kind: 'literal' }>) {
  return {
    kind,
    value,
    ...(text !== undefined && { text }),
    ...(json !== undefined && { json }),
    ...(members !== undefined && { members }),
  };
}
