/** Prints rules as lines for people. */
import { conditionText, operandText } from '@tablewright/compiler';
import type { AccessRule, WriteRule } from '@tablewright/runtime';
import type { CheckedRule } from './check-rules.ts';

/** A rule of any action. */
type AnyRule = AccessRule & Partial<WriteRule>;

/**
 * A rule, with the verdict on an item; `place` counts from 0. `usable` is true if the rule applies to the caller at
 * all.
 */
export function ruleLines(
  { rule, holds, failing, usable = true }: CheckedRule<AnyRule> & { readonly usable?: boolean },
  index: number,
  action: string,
): readonly string[] {
  const verdict = holds === null ? '' : holds ? ': it allows this item' : ': it does not reach this item';
  return [
    `rule ${index + 1}${verdict}`,
    ...(action === 'delete' ? [] : [`  fields: ${rule.fields.join(', ')}`]),
    ...(action === 'create' ? [] : [`  rows: ${conditionText(rule.where)}`]),
    ...writeLines(rule, action),
    ...failing.map((part) => `  does not hold: ${part}`),
    ...(usable ? [] : ['  does not count: a value that it sets needs a user or a role']),
  ];
}

function writeLines({ check, where, presets }: AnyRule, action: string): readonly string[] {
  if (action !== 'create' && action !== 'update') return [];
  const written = check ?? (action === 'create' ? null : where);
  return [
    ...(written === null ? [] : [`  written rows: ${conditionText(written)}`]),
    ...(presets ?? []).map(({ field, value }) => `  sets ${field} to ${operandText(value)}`),
  ];
}
