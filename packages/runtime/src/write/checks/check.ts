import { allOf, anyOf } from '../../dialects/fragment.ts';
import {
  type CallerOperand,
  type Condition,
  type ConstraintDescriptor,
  type FieldDescriptor,
  type ManyToAny,
  type ManyToMany,
  type ManyToOne,
  type OneToMany,
  type Operand,
  type Operator,
  type RelationDescriptor,
  systemCollection,
} from '../../language/index.ts';
import type { Row } from '../../sql/row.ts';
import type { CollectionScope, Scope } from '../../sql/scope.ts';
import type { WritableCollection, WriteGrant, WriteScope } from '../access/scope.ts';
import type { BatchColumn } from '../decode/batch.ts';

/** A column of a batch as far as statements depend on it. */
type WrittenColumn = Pick<BatchColumn, 'field' | 'linked'> & {
  /** True if all items have the field. */
  readonly complete: boolean;
};

/** A write, as far as statements depend on it. */
export interface Written {
  readonly scope: WriteScope;
  readonly writable: WritableCollection;
  readonly grant: WriteGrant;
  readonly action: 'create' | 'update';
  readonly columns: readonly WrittenColumn[];
  /** For each relation in the payloads that is no column: the positions of the rules that list it. */
  readonly named: readonly (readonly number[])[];
  /** Every collection that the request writes. */
  readonly collections: ReadonlySet<string>;
  /** True if links of the rows are written later, so that nothing can be checked before. */
  readonly postponed: boolean;
  /** Fields that hold keys of items which the request itself makes, and nothing else. Default: none. */
  readonly made?: ReadonlySet<string>;
}

/** Names of the fields that a write sets: those of its columns, and of presets. */
export function changedNames({
  columns,
  grant,
}: Pick<Written, 'grant'> & { readonly columns: readonly Pick<BatchColumn, 'field'>[] }): readonly string[] {
  const preset = grant.rules.flatMap(({ presets }) => presets.map(({ field }) => field));
  return [...columns.map(({ field }) => field.descriptor.name), ...preset];
}

/**
 * Meaning of a predicate that is true on a row. `refused` is FORBIDDEN, unless a violation belongs to the same
 * requirement and item; `violated` is FAILED_VALIDATION, and so is `missing`, which a foreign key would refuse.
 */
export type PermissionCheck = (
  | { readonly kind: 'refused'; readonly requirement: number | null }
  | { readonly kind: 'missing'; readonly constraint: Pick<ConstraintDescriptor, 'name' | 'fields'> }
  | {
      readonly kind: 'violated';
      readonly requirement: number;
      readonly rule: number;
      readonly field: string | null;
      readonly type: string;
    }
) & {
  /** Links to items that the request may still write when it is made before the step. Default: none. */
  readonly awaits?: readonly ManyToOne[];
  /** Fields that it asks for, where nothing else that the request writes decides it. Default: something else does. */
  readonly asks?: readonly string[];
  /** Changes that make it hold, where the request makes them. Default: none. */
  readonly below?: ChangesBelow;
};

/** Changes of items below others. */
export interface ChangesBelow {
  /** Items that are written. */
  readonly brings: readonly BroughtItems[];
  /** Items that are taken away, or changed. */
  readonly takes: readonly TakenItems[];
  readonly links: readonly LinkedTargets[];
  /** Rows that later steps write. */
  readonly steps: readonly ReachedRows[];
  /** True if the step may make some of these by itself: its rows are items below each other. */
  readonly isAlone: boolean;
}

/** Rows of a collection about which a condition asks. */
export interface ReachedRows {
  readonly name: string;
  /** Fields of theirs that the condition compares. Default: it may compare all. */
  readonly fields?: readonly string[];
  /** Set where only rows that meet this can make it hold. */
  readonly where?: Condition;
}

/** Links to targets of which a condition asks. */
export interface LinkedTargets {
  readonly relation: ManyToMany;
  readonly condition: RelatedCondition;
  /** As `BroughtItems.fields`, of targets. */
  readonly fields: readonly string[];
}

/** Items of a relation, that meet a condition. */
export interface BroughtItems {
  readonly relation: OneToMany | ManyToAny;
  /** Fields that decide whether stored items are some of these. */
  readonly fields: readonly string[];
  /** Absent where items count, so that those below stored ones bring nothing. */
  readonly where?: Condition;
}

/** Items whose number decides a condition. */
export interface TakenItems extends BroughtItems {
  readonly condition: RelatedCondition;
}

/** Condition on a relation: on its items, or their number. */
export type RelatedCondition = Exclude<Condition, { kind: 'and' | 'or' }>;

/** Row that a predicate looks at. */
export interface CheckedRow {
  /** The written row, in the open scope. */
  readonly row: Row;
  /** SQL predicate that is true if a rule matched the stored row. */
  matched(rule: number): string;
  /** SQL predicate that is true if the item has the field of a column. */
  present(column: number): string;
}

/** A link whose check is judged later where it leads to a row that the step writes, or makes and a scope shows. */
export interface OpenLink {
  readonly link: ManyToOne;
  readonly shown?: Scope;
}

export interface Check {
  readonly permissionCheck: PermissionCheck;
  /** True if it can be checked only when everything is written. */
  readonly late: boolean;
  /** True if it holds for what was stored before the write, which could change its answer. Default: false. */
  readonly ahead?: boolean;
  /** Rules whose match on the stored row it asks for. */
  readonly rules: readonly number[];
  /** Columns whose presence it asks for. */
  readonly columns: readonly number[];
  /** Links that leave it open before the write where they lead to rows of the same step. Default: none. */
  readonly openBy?: readonly OpenLink[];
  /** Prints the predicate: true on a row that fails. */
  fails(judged: CheckedRow): string;
}

/** Some rule of these must grant what is written, where an item has one of the columns; null: in any case. */
export interface Requirement {
  /** Places of rules, ascending. */
  readonly rules: readonly number[];
  readonly columns: readonly number[] | null;
}

/** Returns the requirements of a permission on the columns: one for each set of rules that lists some of them. */
export function requirementsOf(written: Pick<Written, 'grant' | 'columns' | 'named'>): readonly Requirement[] {
  const { grant, columns, named } = written;
  const every = grant.rules.map((_, index) => index);
  const sets = Map.groupBy(columns.keys(), (index) => columns[index]?.field.rules.join() ?? '');
  const listed = [...sets.values()].map((places): Requirement => {
    const always = places.some((index) => columns[index]?.complete === true);
    return { rules: columns[places[0] ?? 0]?.field.rules ?? every, columns: always ? null : places };
  });
  for (const rules of named) {
    const index = listed.findIndex((requirement) => requirement.rules.join() === rules.join());
    listed.splice(index < 0 ? listed.length : index, index < 0 ? 0 : 1, { rules, columns: null });
  }
  // A rule that grants something always grants that there is a row.
  return listed.some((requirement) => requirement.columns === null)
    ? listed
    : [{ rules: every, columns: null }, ...listed.filter(({ rules }) => rules.length < every.length)];
}

/** SQL condition under which a stored row may be changed so: the requirements, applied to the rules that match. */
export function printAllowed(
  requirements: readonly Requirement[],
  matched: (rule: number) => string,
  present: (column: number) => string,
): string {
  return allOf(
    requirements.map(({ rules, columns }) => {
      const some = anyOf(rules.map(matched));
      if (columns === null) return some;
      const requested = anyOf(columns.map(present));
      return anyOf([some, `(${requested}) IS NOT TRUE`]);
    }),
  );
}

export function isEveryRow(condition: Condition): boolean {
  return condition.kind === 'and' && condition.of.every(isEveryRow);
}

/** True if neither a rule nor a policy hides rows from the caller. */
export function readsEveryRow({ descriptor, rows }: Pick<CollectionScope, 'descriptor' | 'rows'>): boolean {
  return descriptor.policies !== true && rows.some(isEveryRow);
}

/** True if each row shows the caller the values of its link. Keys always name rows, secrets do for administrators. */
export function readsNames(
  { descriptor, fields }: CollectionScope,
  { on }: Pick<ManyToOne, 'on'>,
  isAdmin = false,
): boolean {
  return on.every(({ to }) => {
    const named = descriptor.fields.find(({ column }) => column === to);
    if (named === undefined || descriptor.key.includes(named.name)) return true;
    const field = fields.get(named.name);
    return field !== undefined && (isAdmin || !field.secret) && field.grant === null;
  });
}

/** True for the comparison with the caller's tenant, which no request changes. */
export function isTenant(
  { descriptor: { tenant } }: CollectionScope,
  condition: Extract<Condition, { kind: 'compare' }>,
): boolean {
  if (tenant?.kind !== 'compare' || condition.field !== tenant.field || condition.operator !== '_eq') return false;
  const { operand } = condition;
  return operand.kind === 'caller' && isSameOperand(operand, tenant.operand);
}

function isSameOperand(operand: CallerOperand, other: Operand): boolean {
  return other.kind === 'caller' && operand.of === other.of && operand.path.join('.') === other.path.join('.');
}

/**
 * True if the check of a condition on a written row may depend on rows that the same request writes.
 *
 * A path along many-to-one relations to other tables does not. Anything else that leaves the row may, through a view
 * for example, so it waits until everything is written.
 */
export function isLate(
  scope: Scope,
  collection: CollectionScope,
  condition: Condition,
  written: ReadonlySet<string>,
): boolean {
  if (condition.kind === 'compare') {
    if (isTenant(collection, condition)) return false;
    if (condition.operand.kind === 'caller' && condition.operand.path.length > 0) return true;
    const relation = condition.function === 'count' ? collection.relations.get(condition.field) : undefined;
    return relation !== undefined && relation.descriptor.kind !== 'm2o';
  }
  if (condition.kind !== 'related') return condition.of.some((part) => isLate(scope, collection, part, written));
  const relation = collection.relations.get(condition.relation)?.descriptor;
  const target = scope.collections.get(relation?.target ?? '');
  if (relation?.kind !== 'm2o' || target === undefined || written.has(relation.target)) return true;
  return isLate(scope, target, condition.where, written);
}

/** True for a condition on fields of a new row that the server fills in when the row is there. */
export function asksCompleted(collection: CollectionScope, condition: Condition): boolean {
  const { name, system } = collection.descriptor;
  const completed = system === true ? systemCollection(name)?.completed : undefined;
  if (completed === undefined) return false;
  if (condition.kind === 'compare') return Object.hasOwn(completed, condition.field);
  if (condition.kind !== 'related') return condition.of.some((part) => asksCompleted(collection, part));
  const relation = collection.relations.get(condition.relation)?.descriptor;
  return relation?.kind === 'm2o' && Object.hasOwn(completed, relation.name);
}

export function conjunctsOf(condition: Condition): readonly Condition[] {
  return condition.kind === 'and' ? condition.of.flatMap(conjunctsOf) : [condition];
}

/** Returns the name of a violated condition, and the name in the payload that it is about. */
export function violationOf(condition: Condition): { readonly field: string | null; readonly type: string } {
  if (condition.kind === 'compare') return { field: condition.field, type: conditionName(condition.operator) };
  if (condition.kind === 'related') return { field: condition.relation, type: violationOf(condition.where).type };
  const [only, ...others] = condition.of;
  const more = others.filter((part) => condition.kind === 'and' || !isNowhere(only, part));
  return only === undefined || more.length > 0 ? { field: null, type: 'check' } : violationOf(only);
}

/** True for the alternative that a relation leads nowhere, which stands beside what its item must meet. */
function isNowhere(first: Condition | undefined, part: Condition): boolean {
  if (first?.kind !== 'related' || part.kind !== 'related') return false;
  return part.quantifier === 'none' && part.relation === first.relation;
}

/** `_nistarts_with` → `starts_with`: negated and case-insensitive forms alike (API specification, section 9). */
function conditionName(operator: Operator): string {
  const name = operator.slice(1);
  return /^n?i?(contains|starts_with|ends_with|between)$/.exec(name)?.[1] ?? name;
}

/** Links that a condition asks about, of which only the write decides where they lead. */
export function openLinks(written: Written, condition: Condition): readonly ManyToOne[] {
  const { collection } = written.writable;
  if (condition.kind === 'and' || condition.kind === 'or')
    return condition.of.flatMap((part) => openLinks(written, part));
  const isRelated = condition.kind === 'related';
  const link = collection.relations.get(isRelated ? condition.relation : condition.field)?.descriptor;
  if (link?.kind !== 'm2o') return [];
  return written.postponed || (isRelated && link.target === collection.descriptor.name) ? [link] : [];
}

/** Links that a condition looks along to items of collections that the request writes. */
export function awaitedLinks(written: Written, condition: Condition): readonly ManyToOne[] {
  if (condition.kind === 'and' || condition.kind === 'or')
    return condition.of.flatMap((part) => awaitedLinks(written, part));
  if (condition.kind !== 'related') return [];
  const link = written.writable.collection.relations.get(condition.relation)?.descriptor;
  return link?.kind === 'm2o' && written.collections.has(link.target) ? [link] : [];
}

/** Fields of the items of a relation that decide whether these are below others, and meet a condition. */
export function itemFields(
  { descriptor, rows, relations }: CollectionScope,
  relation: RelationDescriptor,
  condition: Condition,
): readonly string[] {
  const { fields, softDelete, policies } = descriptor;
  const held = (relation.kind === 'm2m' ? relation.far : relation.on).map(({ to }) => to);
  const conditions = condition.kind === 'related' ? [...rows, condition.where] : rows;
  const named = conditions.flatMap((part) => rowFields({ descriptor, relations }, part));
  // The database may compute some from any others.
  const isComputed = fields.some(({ name, writable }) => !writable && named.includes(name));
  if (policies === true || isComputed) return fields.map(({ name }) => name);
  return [...fieldsOf(descriptor, held), ...named, ...(softDelete === undefined ? [] : [softDelete.field])];
}

/** True if the database computes a field, so that its value is known when the row is written. */
export function isComputed({ fields, key, system }: CollectionScope['descriptor'], name: string): boolean {
  const field = fields.find((candidate) => candidate.name === name);
  return field?.writable === false && field.filled !== 'identity' && system !== true && !key.includes(name);
}

/** Places of the columns that hold a part of a link or decide a computed one, and the number of those that are linked. */
export function columnsOf({ writable, columns }: Written, { on }: ManyToOne) {
  const { fields } = writable.collection.descriptor;
  const isPart = ({ column }: FieldDescriptor): boolean => on.some(({ from }) => from === column);
  const decides = ({ column }: FieldDescriptor): boolean =>
    on.some(({ from, formula = [from] }) => formula.includes(column));
  const sources = new Set(fields.filter(decides).flatMap((part) => sourcesOf(fields, part)));
  const places = columns.flatMap(({ field }, index) => (sources.has(field.descriptor.column) ? [index] : []));
  const linked = columns.filter((column) => column.linked && isPart(column.field.descriptor));
  return { places, linked: linked.length };
}

/** The columns that decide the value of a field; all of the row where the database computes it from unknown ones. */
function sourcesOf(fields: readonly FieldDescriptor[], field: FieldDescriptor): readonly string[] {
  if (field.filled !== 'generated') return [field.column];
  if (field.formula === undefined) return fields.map(({ column }) => column);
  const named = field.formula.filter((_, index) => index % 2 === 1);
  return fields.filter(({ column }) => named.includes(column)).flatMap((source) => sourcesOf(fields, source));
}

/** Names of the fields of some columns. */
export function fieldsOf({ fields }: CollectionScope['descriptor'], columns: readonly string[]): readonly string[] {
  return fields.filter(({ column }) => columns.includes(column)).map(({ name }) => name);
}

/** Fields of a row that a condition asks for, also those that lead to other rows. */
export function rowFields(
  collection: Pick<CollectionScope, 'descriptor' | 'relations'>,
  condition: Condition,
): readonly string[] {
  if (condition.kind === 'and' || condition.kind === 'or')
    return condition.of.flatMap((part) => rowFields(collection, part));
  const isRelated = condition.kind === 'related';
  const relation = collection.relations.get(isRelated ? condition.relation : condition.field)?.descriptor;
  const pairs = relation?.kind === 'm2m' ? relation.near : (relation?.on ?? []);
  const holders = pairs.map(({ from }) => from);
  return [...(isRelated ? [] : [condition.field]), ...fieldsOf(collection.descriptor, holders)];
}

/** Rows about which a condition asks; undefined where it asks along other relations. `isLess`: they may have to be fewer. */
export function reachedBy(
  scope: Scope,
  collection: CollectionScope,
  condition: Condition,
  isLess = false,
): readonly ReachedRows[] | undefined {
  if (condition.kind === 'and' || condition.kind === 'or') {
    const parts = condition.of.map((part) => reachedBy(scope, collection, part, isLess));
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
  }
  const isRelated = condition.kind === 'related';
  const relation = collection.relations.get(isRelated ? condition.relation : condition.field)?.descriptor;
  const target = scope.collections.get(relation?.target ?? '');
  if (relation === undefined && !isRelated) return [];
  if (relation === undefined || target === undefined || relation.kind === 'm2a') return undefined;
  const isNone = isRelated && condition.quantifier === 'none';
  const below = isRelated ? reachedBy(scope, target, condition.where, isLess || isNone) : [];
  if (below === undefined) return undefined;
  const isMeeting = isRelated && condition.quantifier === 'some' && !isLess;
  const fields = itemFields(target, relation, condition);
  const rows = { name: relation.target, fields, ...(isMeeting && { where: condition.where }) };
  return [rows, ...(relation.kind === 'm2m' ? [{ name: relation.junction }] : []), ...below];
}
