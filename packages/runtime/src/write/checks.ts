/**
 * What written rows must satisfy, as predicates that are true on rows that do not. Source: API specification, sections
 * 7.1, 8.2 and 8.3; security property P6.
 */
import type { Condition, Operator } from '../contract/index.ts';
import { allOf, anyOf, sqlTrue, where } from '../sql/fragment.ts';
import { reach } from '../sql/related.ts';
import type { Row } from '../sql/row.ts';
import { ruleHolds } from '../sql/rules.ts';
import type { BatchColumn } from './batch.ts';
import { isEveryRow, isLate } from './late.ts';
import type { WritableCollection, WriteGrant, WriteScope } from './scope.ts';

/** A column of a batch as far as statements depend on it. */
export type WrittenColumn = Pick<BatchColumn, 'field'> & {
  /** Whether all items have the field. */
  readonly complete: boolean;
};

/** What is written, as far as statements depend on it. */
export interface Written {
  readonly scope: WriteScope;
  readonly writable: WritableCollection;
  readonly grant: WriteGrant;
  readonly action: 'create' | 'update';
  readonly columns: readonly WrittenColumn[];
  /** Every collection that the request writes. */
  readonly collections: ReadonlySet<string>;
}

/** Some rule of these must grant what is written, where an item has one of the columns; null: in any case. */
export interface Requirement {
  /** Places of rules, ascending. */
  readonly rules: readonly number[];
  /** Places of columns. */
  readonly columns: readonly number[] | null;
}

/**
 * What it means that a predicate is true on a row. `refused` is FORBIDDEN, unless a violation belongs to the same
 * requirement and item; `violated` is FAILED_VALIDATION.
 */
export type Judgement =
  | { readonly kind: 'refused'; readonly requirement: number | null }
  | {
      readonly kind: 'violated';
      readonly requirement: number;
      readonly rule: number;
      readonly field: string | null;
      readonly type: string;
    };

/** Where a predicate finds what it looks at. */
export interface Judged {
  /** The written row, in the open scope. */
  readonly row: Row;
  /** Whether a rule matched the stored row. */
  matched(rule: number): string;
  /** Whether the item has the field of a column. */
  present(column: number): string;
}

/** One predicate. */
export interface Check {
  readonly judgement: Judgement;
  /** Whether it can be judged only when everything is written. */
  readonly late: boolean;
  /** Rules whose match on the stored row it asks for. */
  readonly rules: readonly number[];
  /** Columns whose presence it asks for. */
  readonly columns: readonly number[];
  /** Prints the predicate: true on a row that fails. */
  fails(judged: Judged): string;
}

/** What the rules of a grant require of the columns: one requirement for each set of rules that lists some of them. */
export function requirementsOf({ grant, columns }: Pick<Written, 'grant' | 'columns'>): readonly Requirement[] {
  const every = grant.rules.map((_, place) => place);
  const sets = Map.groupBy(columns.keys(), (place) => columns[place]?.field.rules.join() ?? '');
  const listed = [...sets.values()].map((places): Requirement => {
    const always = places.some((place) => columns[place]?.complete === true);
    return { rules: columns[places[0] ?? 0]?.field.rules ?? every, columns: always ? null : places };
  });
  // A rule that grants something always grants that there is a row.
  return listed.some((requirement) => requirement.columns === null)
    ? listed
    : [{ rules: every, columns: null }, ...listed.filter(({ rules }) => rules.length < every.length)];
}

/** Everything that the written rows of one step must satisfy. */
export function checksOf(written: Written): readonly Check[] {
  const requirements = requirementsOf(written);
  return [
    ...requirements.flatMap((requirement, place) => requirementChecks(written, requirement, place)),
    ...linkChecks(written),
  ];
}

function requirementChecks(written: Written, requirement: Requirement, place: number): readonly Check[] {
  const { rules, columns } = requirement;
  const each = rules.flatMap((rule) => {
    const found = written.grant.rules[rule];
    return found === undefined ? [] : [{ place: rule, rule: found, must: found.check ?? found.where }];
  });
  // WHERE has seen to it that some rule matches the stored row.
  if (each.every(({ must }) => isEveryRow(must))) return [];
  const late = each.some(({ must }) => isLateHere(written, must));
  const base = { late, rules: rules.length > 1 && written.action === 'update' ? rules : [], columns: columns ?? [] };
  const asked = (judged: Judged): string => (columns === null ? sqlTrue : anyOf(columns.map(judged.present)));
  const alone = each.length === 1;
  const granted = (judged: Judged): string =>
    anyOf(each.map(({ place: rule, must }) => allOf([judged.matched(rule), ruleHolds(judged.row, must)])));
  const refused: Check = {
    ...base,
    judgement: { kind: 'refused', requirement: place },
    fails: (judged) => allOf([asked(judged), isNot(granted(judged))]),
  };
  const violated = each.flatMap(({ place: rule, rule: { check } }) =>
    (check === null ? [] : conjunctsOf(check)).map((condition): Check => {
      const violation = violationOf(condition);
      return {
        ...base,
        judgement: { kind: 'violated', requirement: place, rule, ...violation },
        fails: (judged) =>
          alone
            ? allOf([asked(judged), isNot(ruleHolds(judged.row, condition))])
            : allOf([
                asked(judged),
                isNot(granted(judged)),
                judged.matched(rule),
                isNot(ruleHolds(judged.row, condition)),
              ]),
      };
    }),
  );
  // The conditions of the only rule say everything.
  return alone && violated.length > 0 ? violated : [refused, ...violated];
}

/** Unknown is not enough: a condition must be true. */
function isNot(predicate: string): string {
  return `(${predicate}) IS NOT TRUE`;
}

function isLateHere({ scope, writable, collections }: Written, condition: Condition): boolean {
  return isLate(scope.open, writable.collection, condition, collections);
}

function conjunctsOf(condition: Condition): readonly Condition[] {
  return condition.kind === 'and' ? condition.of.flatMap(conjunctsOf) : [condition];
}

/** What a violated condition is called, and the name in the payload that it is about. */
function violationOf(condition: Condition): { readonly field: string | null; readonly type: string } {
  if (condition.kind === 'compare') return { field: condition.field, type: conditionName(condition.operator) };
  if (condition.kind === 'related') return { field: condition.relation, type: violationOf(condition.where).type };
  const [only, ...more] = condition.of;
  return only === undefined || more.length > 0 ? { field: null, type: 'check' } : violationOf(only);
}

/** `_nistarts_with` → `starts_with`: negated and case-insensitive forms alike (API specification, section 9). */
function conditionName(operator: Operator): string {
  const name = operator.slice(1);
  return /^n?i?(contains|starts_with|ends_with|between)$/.exec(name)?.[1] ?? name;
}

/**
 * Links to items of which the caller may read only some: the item must be one of those. Where all can be read the
 * foreign key says it, and where none can, decoding has.
 */
function linkChecks(written: Written): readonly Check[] {
  const { scope, writable } = written;
  const { descriptor, relations } = writable.collection;
  return [...relations.values()].flatMap((relation): readonly Check[] => {
    const link = relation.descriptor;
    const target = scope.read.collections.get(link.target);
    if (link.kind !== 'm2o' || target === undefined || target.rows.some(isEveryRow)) return [];
    const names = descriptor.fields.filter(({ column }) => link.on.some(({ from }) => from === column));
    const places = names.flatMap(({ name }) => {
      const place = written.columns.findIndex(({ field }) => field.descriptor.name === name);
      return place < 0 ? [] : [place];
    });
    if (places.length === 0) return [];
    const always = places.some((place) => written.columns[place]?.complete === true);
    const late =
      written.collections.has(link.target) ||
      target.rows.some((rule) => isLate(scope.open, target, rule, written.collections));
    return [
      {
        judgement: { kind: 'refused', requirement: null },
        late,
        rules: [],
        columns: always ? [] : places,
        fails(judged) {
          const asked = always ? sqlTrue : anyOf(places.map(judged.present));
          const row: Row = { ...judged.row, scope: scope.read };
          const linked = link.on.map(({ from }) => `${row.column(from)} IS NOT NULL`);
          const reached = reach(row, relation);
          const hidden = reached && `NOT EXISTS (SELECT 1 FROM ${reached.from}${where(allOf(reached.joins))})`;
          return allOf([asked, ...linked, hidden ?? sqlTrue]);
        },
      },
    ];
  });
}

/** The condition under which a stored row may be changed so: what the requirements ask of the rules' matches. */
export function printAllowed(
  requirements: readonly Requirement[],
  matched: (rule: number) => string,
  present: (column: number) => string,
): string {
  return allOf(
    requirements.map(({ rules, columns }) => {
      const some = anyOf(rules.map(matched));
      if (columns === null) return some;
      const asked = anyOf(columns.map(present));
      return anyOf([some, isNot(asked)]);
    }),
  );
}
