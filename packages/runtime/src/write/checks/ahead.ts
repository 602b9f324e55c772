/** Conditions on rows before these are written, as far as the request does not change what they ask. */
import {
  always,
  type CallerOperand,
  type Condition,
  type ConstraintDescriptor,
  callerCollections,
  definitions,
  literalValue,
  type ManyToOne,
  never,
  type Operator,
  type RelationDescriptor,
  type Truth,
} from '../../language/index.ts';
import { hasLateValues } from '../../sql/row.ts';
import { type CollectionScope, keyFields, type Scope } from '../../sql/scope.ts';
import {
  type ChangesBelow,
  changedNames,
  fieldsOf,
  isComputed,
  isTenant,
  itemFields,
  type ReachedRows,
  type RelatedCondition,
  reachedBy,
  rowFields,
  type Written,
} from './check.ts';

/** Settings by which a condition on a written row is judged before the write. */
interface Ahead {
  readonly scope: Scope;
  /** Every collection that the request writes. */
  readonly written: ReadonlySet<string>;
  /** Fields that hold keys of items which the request has made. */
  readonly made: ReadonlySet<string>;
  /** True if rows count for themselves where the caller is not named: it is what the rows must be like. */
  readonly isValidation: boolean;
  /** True if the rows are not written yet, so that fields without a formula are not computed. */
  readonly isDraft: boolean;
  /** Step that was refused: to-many relations that its request leaves alone are judged. Default: none is. */
  readonly refused?: Written;
}

/** The part of a condition that must hold before a row is written, too, so that no row grants itself. */
export function partAhead(ahead: Ahead, collection: CollectionScope, condition: Condition): Condition {
  const { scope, written, made, isValidation } = ahead;
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { ...condition, of: condition.of.map((part) => partAhead(ahead, collection, part)) };
    case 'compare': {
      const isPath = condition.operand.kind === 'caller' && condition.operand.path.length > 0;
      const isLater = isComputed(collection.descriptor, condition.field) && !hasFormula(collection, condition.field);
      if (isLater && (!isPath || ahead.isDraft)) return always;
      const isCounted = condition.function === 'count' && collection.relations.has(condition.field);
      if (isCounted && !isPath) return manyAhead(ahead, collection, condition.field, condition);
      return isCounted || (isPath && made.has(condition.field)) ? always : condition;
    }
    case 'related': {
      const relation = collection.relations.get(condition.relation)?.descriptor;
      if (relation?.kind !== 'm2o') return manyAhead(ahead, collection, condition.relation, condition);
      const { refused } = ahead;
      // Triggers count for nothing where a step was refused.
      const counts = refused === undefined ? mayBeWritten : isWritten;
      if (isValidation && !namesCaller(condition) && countsWritten(scope, collection, condition, written, counts))
        return refused && isChangedBelow(changesBelow(refused, condition)) ? condition : always;
      const columns = relation.on.map(({ from }) => from);
      const holders = collection.descriptor.fields.filter(({ column }) => columns.includes(column));
      const target = scope.collections.get(relation.target);
      const isMade = holders.length > 0 && holders.every(({ name }) => made.has(name));
      if (!isMade || target === undefined || condition.quantifier === 'none') return condition;
      const above = { scope, written, made: new Set<string>(), isValidation, isDraft: ahead.isDraft };
      return { ...condition, where: partAhead(above, target, condition.where) };
    }
  }
}

function hasFormula({ descriptor }: CollectionScope, name: string): boolean {
  return descriptor.fields.some((field) => field.name === name && field.formula !== undefined);
}

/** The part of a condition on a to-many relation that holds before the write, where the request cannot change it. */
function manyAhead(
  { scope, written, refused }: Ahead,
  collection: CollectionScope,
  name: string,
  condition: RelatedCondition,
): Condition {
  const relation = collection.relations.get(name)?.descriptor;
  if (refused === undefined || relation === undefined || relation.kind === 'm2o') return always;
  const isBelow = isWritten(relation, written);
  if (isBelow && !isChangedBelow(changesBelow(refused, condition))) return always;
  if (refused.action === 'create') return isEmptyAtFirst(scope, collection, relation) ? ofNone(condition) : always;
  const pairs = relation.kind === 'm2m' ? relation.near : relation.on;
  const isLeft = keepsOwn(refused, pairs) && isApart(scope, collection, condition, written);
  return isBelow || isLeft ? condition : always;
}

/** True if a change leaves alone by what rows of a relation lead to its rows. */
function keepsOwn(refused: Written, pairs: ManyToOne['on']): boolean {
  const changed = new Set(changedNames(refused));
  return pairs.every(({ from }) => {
    const holder = refused.writable.collection.descriptor.fields.find(({ column }) => column === from);
    return holder !== undefined && !changed.has(holder.name);
  });
}

/**
 * Changes of items below others, of which the request writes some, that make a condition hold: items that it brings, takes
 * or links. Without these, a condition that does not hold before the write is broken afterwards, too.
 */
export function changesBelow(written: Written, condition: Condition): ChangesBelow {
  const { scope, writable, collections, action } = written;
  if (condition.kind === 'and' || condition.kind === 'or') {
    const parts = condition.of.map((part) => changesBelow(written, part));
    return {
      brings: parts.flatMap(({ brings }) => brings),
      takes: parts.flatMap(({ takes }) => takes),
      links: parts.flatMap(({ links }) => links),
      steps: parts.flatMap(({ steps }) => steps),
      isAlone: parts.some(({ isAlone }) => isAlone),
    };
  }
  const isRelated = condition.kind === 'related';
  const relation = writable.collection.relations.get(isRelated ? condition.relation : condition.field)?.descriptor;
  const target = scope.open.collections.get(relation?.target ?? '');
  if (isRelated && relation?.kind === 'm2o') return changesBehind(written, condition);
  if (target === undefined || !isStated(written, relation)) return noChanges;
  const isKnown = isRelated
    ? isApart(scope.open, target, condition.where, collections)
    : condition.operand.kind === 'literal';
  if (!isKnown) return noChanges;
  const [brings, takes] = isRelated
    ? [condition.quantifier === 'some', condition.quantifier === 'none']
    : [!falling.has(condition.operator), !rising.has(condition.operator)];
  const fields = itemFields(target, relation, condition);
  const { name } = writable.collection.descriptor;
  const changed = relation.target === name && action === 'update' ? changedNames(written) : [];
  const isJunction = relation.kind === 'm2m' && relation.junction === name;
  const isAlone = isJunction || changed.some((field) => fields.includes(field));
  if (relation.kind === 'm2m') return { ...noChanges, isAlone, links: [{ relation, condition, fields }] };
  const items = { relation, fields, ...(isRelated && { where: condition.where }) };
  return { ...noChanges, isAlone, brings: brings ? [items] : [], takes: takes ? [{ ...items, condition }] : [] };
}

/** Changes of what a link leads to: those of steps that write what a condition asks of it. The step itself may be one. */
function changesBehind({ scope, writable, collections }: Written, condition: Condition): ChangesBelow {
  const { collection } = writable;
  if (namesCaller(condition) || !countsWritten(scope.open, collection, condition, collections, isWritten))
    return noChanges;
  const steps = reachedBy(scope.open, collection, condition);
  const isOther = ({ name }: ReachedRows): boolean => name !== collection.descriptor.name;
  return steps?.every(isOther) === true ? { ...noChanges, steps } : noChanges;
}

/** True for items below that are written, and that hold keys of those above: new items have no targets before. */
function isStated(
  written: Written,
  relation: RelationDescriptor | undefined,
): relation is Exclude<RelationDescriptor, ManyToOne> {
  const { scope, writable, collections, action } = written;
  if (relation === undefined || relation.kind === 'm2o' || !isWritten(relation, collections)) return false;
  if (action === 'create') return relation.kind === 'm2m' && isEmptyAtFirst(scope.open, writable.collection, relation);
  const pairs = relation.kind === 'm2m' ? relation.near : relation.on;
  const keys = keyFields(writable.collection.descriptor).map(({ column }) => column);
  return pairs.every(({ from }) => keys.includes(from)) && keepsOwn(written, pairs);
}

const noChanges: ChangesBelow = { brings: [], takes: [], links: [], steps: [], isAlone: false };

/** Operators that a count meets only as long as it is small. */
const falling: ReadonlySet<Operator> = new Set(['_lt', '_lte']);

/** Operators that a count meets only when it is large. */
const rising: ReadonlySet<Operator> = new Set(['_gt', '_gte']);

/** True if a condition that does not hold before the write is broken afterwards, too, unless the request makes some changes. */
export function isChangedBelow({ brings, takes, links, steps }: ChangesBelow): boolean {
  return brings.length + takes.length + links.length + steps.length > 0;
}

/** True if no row can lead to one before that is there: a foreign key sees to it. */
export function isEmptyAtFirst(
  scope: Scope,
  { descriptor }: CollectionScope,
  relation: Exclude<RelationDescriptor, ManyToOne>,
): boolean {
  const [holder, pairs] = relation.kind === 'm2m' ? [relation.junction, relation.near] : [relation.target, relation.on];
  const { fields = [], constraints = [] } = scope.collections.get(holder)?.descriptor ?? {};
  const names = pairs.map(({ to }) => fields.find(({ column }) => column === to)?.name);
  return constraints.some(
    ({ type, target, unchecked, deferrable, fields: held }) =>
      type === 'foreign_key' &&
      target === descriptor.name &&
      unchecked !== true &&
      deferrable !== true &&
      held.length === names.length &&
      names.every((name) => name !== undefined && held.includes(name)),
  );
}

/** A condition on a to-many relation that leads to nothing. */
function ofNone(condition: RelatedCondition): Condition {
  // Each is one of its own, so that all that are broken are told.
  const broken: Condition = { ...never };
  if (condition.kind === 'related') {
    if (condition.quantifier !== 'none') return broken;
    // Without the caller's value it does not hold.
    return namesCaller(condition) ? { ...condition, where: { kind: 'and', of: [never, condition.where] } } : always;
  }
  return meetsCount(condition, 0) === false ? broken : always;
}

/** True if so many items that meet a condition on a relation make it hold; undefined where only the database can tell. */
export function holdsFor(condition: RelatedCondition, count: number): Truth {
  if (condition.kind === 'compare') return meetsCount(condition, count);
  return count > 0 === (condition.quantifier === 'some');
}

/** True if a count meets its comparison; undefined where only the database can tell. */
export function meetsCount(
  { operator, operand }: Pick<Extract<Condition, { kind: 'compare' }>, 'operator' | 'operand'>,
  count: number,
): Truth {
  if (operand.kind !== 'literal') return undefined;
  const values = [literalValue(operand)].flat().map(String);
  return definitions[operator].meets?.(String(count), values, (other) => count - Number(other));
}

/**
 * True if a condition looks at nothing that a request writes, apart from the row that it starts from. Links of stored rows
 * lead to `changed` rows of the request only: a foreign key keeps them from new ones.
 */
export function isApart(
  scope: Scope,
  collection: CollectionScope,
  condition: Condition,
  written: ReadonlySet<string>,
  changed: ReadonlySet<string> = written,
): boolean {
  if (condition.kind === 'and' || condition.kind === 'or')
    return condition.of.every((part) => isApart(scope, collection, part, written, changed));
  const isRelated = condition.kind === 'related';
  const relation = collection.relations.get(isRelated ? condition.relation : condition.field)?.descriptor;
  if (!isRelated) {
    const { operand } = condition;
    const isKept =
      operand.kind !== 'caller' || operand.path.length === 0 || !crossesWritten(scope, operand, written, isWritten);
    return isKept && (relation === undefined || relation.kind === 'm2o' || !isWritten(relation, written));
  }
  const target = scope.collections.get(relation?.target ?? '');
  const isKept = relation?.kind === 'm2o' && foreignKeyOf(collection, relation) !== undefined;
  if (relation === undefined || target === undefined || isWritten(relation, isKept ? changed : written)) return false;
  return isApart(scope, target, condition.where, written, changed);
}

/** The foreign key that keeps a link from leading nowhere; undefined for none. */
export function foreignKeyOf(
  { descriptor }: CollectionScope,
  { target, on }: ManyToOne,
): ConstraintDescriptor | undefined {
  const holders = fieldsOf(
    descriptor,
    on.map(({ from }) => from),
  );
  return descriptor.constraints?.find(
    ({ type, target: referenced, unchecked, fields }) =>
      type === 'foreign_key' &&
      referenced === target &&
      unchecked !== true &&
      fields.length === on.length &&
      holders.length === on.length &&
      holders.every((name) => fields.includes(name)),
  );
}

/** Fields of a row that a condition asks for; undefined where other rows decide it that the request writes, but for linked ones. */
export function conditionFields(written: Written, condition: Condition): readonly string[] | undefined {
  const { collections, scope, writable } = written;
  const { collection } = writable;
  if (condition.kind === 'and' || condition.kind === 'or') {
    const parts = condition.of.map((part) => conditionFields(written, part));
    return parts.every((fields) => fields !== undefined) ? parts.flat() : undefined;
  }
  const isRelated = condition.kind === 'related';
  const relation = collection.relations.get(isRelated ? condition.relation : condition.field)?.descriptor;
  const target = scope.open.collections.get(relation?.target ?? '');
  const fields = rowFields(collection, condition);
  if (!isRelated && isComputed(collection.descriptor, condition.field)) return undefined;
  if (isChangedBelow(changesBelow(written, condition))) return fields;
  if (!isRelated || relation?.kind !== 'm2o' || target === undefined)
    return isApart(scope.open, collection, condition, collections) ? fields : undefined;
  return isApart(scope.open, target, condition.where, collections) ? fields : undefined;
}

/** True if a step may make readable what a link leads to: it makes rows, or changes what rules of reads ask about. */
export function mayOpen(written: Written, { target }: ManyToOne): boolean {
  const names = new Set(changedNames(written));
  const isOpened = (condition: Condition): boolean => {
    if (condition.kind === 'compare') return names.has(condition.field);
    return condition.kind === 'related' || condition.of.some(isOpened);
  };
  return written.action === 'create' || written.scope.read.collections.get(target)?.rows.some(isOpened) === true;
}

/** True if the values of a new row tell whether a scope shows it to others of its step that link it. */
export function showsNew(
  { writable, action, postponed, collections, scope }: Written,
  link: ManyToOne,
  shown: Scope,
): boolean {
  const { descriptor } = writable.collection;
  const target = shown.collections.get(link.target);
  if (action !== 'create' || postponed || link.target !== descriptor.name || target === undefined) return false;
  const isPlain = descriptor.policies !== true && target.copies === undefined;
  const isApartFrom = (rule: Condition): boolean => isApart(scope.open, target, rule, collections);
  const keys = keyFields(descriptor).map(({ column }) => column);
  const isByKey = link.on.every(({ to }) => keys.includes(to));
  return isPlain && isByKey && !hasLateValues(descriptor) && target.rows.every(isApartFrom);
}

function namesCaller(condition: Condition): boolean {
  if (condition.kind === 'compare') return condition.operand.kind === 'caller';
  return condition.kind === 'related' ? namesCaller(condition.where) : condition.of.some(namesCaller);
}

/** True if rows that a request writes may make a condition true, other than along many-to-one relations alone. */
export function countsWritten(
  scope: Scope,
  collection: CollectionScope,
  condition: Condition,
  written: ReadonlySet<string>,
  counts: ReachesWritten = mayBeWritten,
): boolean {
  if (condition.kind === 'compare') {
    const { operand, field } = condition;
    if (operand.kind === 'caller' && operand.path.length > 0)
      return !isTenant(collection, condition) && crossesWritten(scope, operand, written, counts);
    const counted = condition.function === 'count' ? collection.relations.get(field)?.descriptor : undefined;
    return counted !== undefined && counts(counted, written, scope);
  }
  if (condition.kind !== 'related')
    return condition.of.some((part) => countsWritten(scope, collection, part, written, counts));
  const relation = collection.relations.get(condition.relation)?.descriptor;
  const target = scope.collections.get(relation?.target ?? '');
  if (relation === undefined || target === undefined) return true;
  if (relation.kind !== 'm2o' && counts(relation, written, scope)) return true;
  return countsWritten(scope, target, condition.where, written, counts);
}

/** True if a path from the caller leads through rows that the request writes. */
function crossesWritten(
  scope: Scope,
  { of: subject, path }: CallerOperand,
  written: ReadonlySet<string>,
  counts: ReachesWritten,
): boolean {
  let name: string = callerCollections[subject];
  if (written.has(name)) return true;
  for (const step of path.slice(0, -1)) {
    const relation = scope.collections.get(name)?.relations.get(step)?.descriptor;
    if (relation === undefined || counts(relation, written, scope)) return true;
    name = relation.target;
  }
  return false;
}

/** True if a relation leads to rows that a request writes. */
type ReachesWritten = (relation: RelationDescriptor, written: ReadonlySet<string>, scope: Scope) => boolean;

/** By the names of collections alone: a refused step is judged as if triggers changed nothing. */
function isWritten(relation: RelationDescriptor, written: ReadonlySet<string>): boolean {
  return tablesOf(relation).some((name) => written.has(name));
}

/** Tables that show rows of others count as well, and what triggers of written ones do: no row grants itself by these. */
const mayBeWritten: ReachesWritten = reachTest();

/** Makes a test of relations that lead to rows which a request writes. Triggers of some collections count. Default: of all. */
export function reachTest(triggered?: ReadonlySet<string>): ReachesWritten {
  return (relation, written, { collections }) => {
    const has = (fact: 'amended' | 'inherited' | 'opaque', names: Iterable<string>): boolean =>
      [...names].some((name) => collections.get(name)?.descriptor[fact] === true);
    const both = [...tablesOf(relation), ...written];
    const isDerived = has('opaque', both) || has('inherited', both);
    return isWritten(relation, written) || isDerived || has('amended', triggered ?? written);
  };
}

/** Names of the collections whose rows a relation leads through. */
export function tablesOf(relation: RelationDescriptor): readonly string[] {
  return relation.kind === 'm2m' ? [relation.target, relation.junction] : [relation.target];
}
