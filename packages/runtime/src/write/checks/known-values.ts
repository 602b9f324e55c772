/**
 * Rules that a payload breaks by its own values. The statement that writes checks all rules, but a database that refuses
 * the row answers first. Rules come before constraints (API specification, section 1.5), so they are looked for then.
 */
import { forbidden, type PlatformError, together } from '../../errors.ts';
import { failedValidation, maxErrors, type Place } from '../../json/problems.ts';
import {
  type CollectionDescriptor,
  type Condition,
  decodeValue,
  definitions,
  type JsonValue,
  listed,
  literalValue,
  type ManyToOne,
  type Truth,
  types,
} from '../../language/index.ts';
import { every, some } from '../../language/operators/definition.ts';
import { operandType } from '../../sql/operand.ts';
import { type CollectionScope, keyFields } from '../../sql/scope.ts';
import type { WriteGrant } from '../access/scope.ts';
import type { Batch, BatchColumn } from '../decode/batch.ts';
import { conjunctsOf, violationOf } from './check.ts';

/** Items as they were sent, and where each stands in the body. */
interface Payload {
  readonly batch: Batch;
  readonly placeOf: (item: number) => Place;
  /** Names that errors may have. */
  readonly names: ReadonlySet<string>;
  /** Default: nothing is known of other items. */
  readonly others?: KnownOthers;
}

/** Truth of a condition on other items of the request than the one that it starts from. */
export type KnownOthers = (condition: Condition, item: number) => Truth;

/** Finds what the items break for certain; undefined where there is nothing, or only the database can tell. */
export function brokenRules(
  { rules: [rule, ...others] }: WriteGrant,
  { batch, placeOf, names, others: related }: Payload,
  cause: unknown,
): PlatformError | undefined {
  // The stored row decides which of several rules count.
  if (rule === undefined || others.length > 0) return undefined;
  const items = Array.from({ length: batch.count }, (_, item) => item);
  const conditions = conjunctsOf(rule.check ?? rule.where);
  const broken = items.flatMap((item) =>
    conditions
      .filter((condition) => holds(condition, batch, item, related) === false)
      .map((condition) => ({ item, condition })),
  );
  if (broken.length === 0) return undefined;
  if (rule.check === null) return forbidden();
  return together(
    broken.slice(0, maxErrors).map(({ item, condition }) => {
      const { field, type } = violationOf(condition);
      const named = field !== null && names.has(field) ? field : null;
      return failedValidation(placeOf(item), named, type, 'does not meet a condition', cause);
    }),
  );
}

/** Truth of a condition on an item, as far as its values and those of others tell. */
export function holds(condition: Condition, batch: Batch, item: number, related?: KnownOthers): Truth {
  switch (condition.kind) {
    case 'and':
      return every(condition.of.map((part) => holds(part, batch, item, related)));
    case 'or':
      return some(condition.of.map((part) => holds(part, batch, item, related)));
    case 'related':
      return related?.(condition, item);
    case 'compare': {
      if (condition.function === 'count') return related?.(condition, item);
      const column = batch.columns.find(({ field }) => field.descriptor.name === condition.field);
      return column !== undefined && isSent(column, item) ? meets(condition, column, item) : undefined;
    }
  }
}

/** True if the request has a value of a field for an item. */
export function isSent({ linked, waiting, present }: BatchColumn, item: number): boolean {
  return !linked && waiting?.has(item) !== true && (present?.[item] ?? true);
}

/** Null meets a condition that asks for it; of values that the database changes nothing is known. */
function meets(
  { operator, operand, function: call, path }: Extract<Condition, { kind: 'compare' }>,
  { field: { descriptor }, values }: BatchColumn,
  item: number,
): Truth {
  const definition = definitions[operator];
  const { isKept, order } = types[descriptor.type];
  const isPlain = call === undefined && path === undefined && operand.kind === 'literal';
  if (!isPlain || isKept !== true || descriptor.native.endsWith('bpchar') || definition.meets === undefined)
    return undefined;
  const value = values[item] ?? null;
  const literal = literalValue(operand);
  const isNone = Array.isArray(literal) && literal.length === 0;
  if (value === null) return definition.holdsOnNull === true || (isNone && operator !== '_in');
  const sent: readonly JsonValue[] = listed.has(operator) && Array.isArray(literal) ? literal : [literal];
  // Some columns keep no spaces at the end.
  if (value.endsWith(' ')) return undefined;
  if (definition.operand === 'flag') return definition.meets(value, [], () => undefined);
  const operands = sent.flatMap((literalPart) => {
    const decoded = decodeValue(operandType(descriptor), literalPart);
    return decoded.ok && decoded.value !== null ? [decoded.value] : [];
  });
  if (operands.length < sent.length) return undefined;
  return definition.meets(value, operands, (other) => {
    if (value === other) return 0;
    return order === undefined ? 1 : order(value, other);
  });
}

/** Finds the truth of conditions on items of a batch to which others of it are linked. */
export function truthWithin({ descriptor, relations }: CollectionScope, batch: Batch): KnownOthers {
  const columns = keyFields(descriptor).map(({ column }) =>
    batch.columns.find(({ field, linked }) => !linked && field.descriptor.column === column),
  );
  const keys = Array.from({ length: batch.count }, (_, item) => columns.map((column) => column?.values[item] ?? null));
  const items = new Map(keys.map((key, item) => [JSON.stringify(key), item]));
  return (condition, item) => {
    if (condition.kind !== 'related' || condition.quantifier !== 'one') return undefined;
    const link = relations.get(condition.relation)?.descriptor;
    if (link?.kind !== 'm2o' || link.target !== descriptor.name) return undefined;
    const linked = items.get(JSON.stringify(linkedKey(batch, item, link, descriptor)));
    return linked === undefined ? undefined : holds(condition.where, batch, linked);
  };
}

/** The key that a link of an item has; undefined where the batch does not say it. */
export function linkedKey(
  { columns }: Batch,
  item: number,
  { on }: ManyToOne,
  target: CollectionDescriptor,
): readonly string[] | undefined {
  const parts = keyFields(target).flatMap(({ column }) => {
    const from = on.find(({ to }) => to === column)?.from;
    const values = columns.find(({ field }) => field.descriptor.column === from)?.values;
    return values?.[item] ?? [];
  });
  return parts.length > 0 && parts.length === target.key.length ? parts : undefined;
}
