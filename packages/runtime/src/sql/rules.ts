import { allOf, anyOf, sqlTrue } from '../dialects/fragment.ts';
import type { Condition, FieldDescriptor } from '../language/index.ts';
import { callerParameter, comparedType } from './operand.ts';
import type { Row } from './row.ts';
import type { Grant } from './scope.ts';

/** Rules are written by the operator of the service: they see every row and cell, and never depend on each other. */
export function asRuleSeesIt(row: Row): Row {
  const { rules } = row.scope;
  const collection = rules?.collections.get(row.collection.descriptor.name);
  return rules === null || collection === undefined ? row : { ...row, scope: rules, collection };
}

/** One rule on one row: false where it uses a missing value of the caller, also under a negation (P7). */
export function ruleHolds(row: Row, rule: Condition): string {
  const seen = asRuleSeesIt(row);
  return allOf([...callerGuards(seen, rule), seen.statement.print.condition(seen, rule)]);
}

/** Predicate that tells if a cell of a row is readable: by rules that list its field on the row (property P6). */
export function granted(row: Row, grant: Grant): string {
  return grant === null ? sqlTrue : anyOf(grant.map((rule) => ruleHolds(row, rule)));
}

/**
 * Predicates that hold when the caller's values in a condition are there.
 *
 * A comparison with a missing value is null and so never holds by itself. A guard is needed where that null could be
 * overruled: beside an alternative, and under `none`.
 */
export function callerGuards(row: Row, condition: Condition, exposed = false): readonly string[] {
  switch (condition.kind) {
    case 'compare':
      return exposed && condition.operand.kind === 'caller' ? [guard(row, condition)] : [];
    case 'and':
    case 'or': {
      const inner = exposed || condition.kind === 'or';
      return condition.of.flatMap((part) => callerGuards(row, part, inner));
    }
    case 'related': {
      const target = targetRow(row, condition);
      const inner = exposed || condition.quantifier === 'none';
      return target === undefined ? [] : callerGuards(target, condition.where, inner);
    }
  }
}

function guard(row: Row, condition: Extract<Condition, { kind: 'compare' }>): string {
  if (condition.operand.kind !== 'caller') return 'TRUE';
  if (condition.operand.path.length > 0) return row.statement.print.presence(row, condition.operand);
  const field: FieldDescriptor | undefined = row.collection.fields.get(condition.field)?.descriptor;
  if (field === undefined) return 'FALSE';
  return `${callerParameter(row.statement, condition.operand.of, comparedType(field, condition))} IS NOT NULL`;
}

/** The row a `related` condition looks at, as far as names go; it is not printed from. */
export function targetRow(row: Row, condition: Extract<Condition, { kind: 'related' }>): Row | undefined {
  const item = condition.relation === 'item' && row.link !== undefined ? condition.item : undefined;
  const relation = row.collection.relations.get(condition.relation)?.descriptor;
  const collection = row.scope.collections.get(item ?? relation?.target ?? '');
  if (collection === undefined) return undefined;
  const base = { statement: row.statement, scope: row.scope, collection, column: row.column };
  return relation?.kind === 'm2a' && item === undefined ? { ...base, link: relation } : base;
}
