/** Checks of written rows, as predicates that hold on rows that fail. Source: API specification, 7.1, 8.2, 8.3. */
import { allOf, anyOf, sqlFalse, sqlTrue, where } from '../../dialects/fragment.ts';
import { type Condition, type ManyToOne, pairsBesideTenant, type WriteRule } from '../../language/index.ts';
import { fieldOfColumn } from '../../sql/cell.ts';
import { joinsOf, reach } from '../../sql/related.ts';
import type { Row } from '../../sql/row.ts';
import { granted, ruleHolds } from '../../sql/rules.ts';
import type { CollectionScope, RelationScope, Scope } from '../../sql/scope.ts';
import { countedScope } from '../access/scope.ts';
import {
  changesBelow,
  conditionFields,
  countsWritten,
  foreignKeyOf,
  isChangedBelow,
  mayOpen,
  partAhead,
  showsNew,
} from './ahead.ts';
import {
  asksCompleted,
  awaitedLinks,
  type Check,
  type CheckedRow,
  columnsOf,
  conjunctsOf,
  isEveryRow,
  isLate,
  openLinks,
  type Requirement,
  readsEveryRow,
  readsNames,
  requirementsOf,
  violationOf,
  type Written,
} from './check.ts';
import { completedRow, presetsHold } from './presets.ts';

/** Everything that the written rows of one step must satisfy. */
export function checksOf(written: Written): readonly Check[] {
  const requirements = requirementsOf(written);
  const checks = [
    ...requirements.flatMap((requirement, index) => requirementChecks(written, requirement, index)),
    ...linkChecks(written),
  ];
  const settled = written.postponed ? checks.map((check) => ({ ...check, late: true })) : checks;
  return [...settled, ...ruleChecksAhead(written)];
}

/** Checks of rules about other rows, before rows are written, or computed (`isDraft`): a row must not be what grants it. */
export function ruleChecksAhead(
  written: Written,
  counts = (condition: Condition): boolean =>
    countsWritten(written.scope.open, written.writable.collection, condition, written.collections),
  isDraft = false,
): readonly Check[] {
  return requirementsOf(written).flatMap((requirement, index) => {
    const each = grantingAhead(written, requirement, false, isDraft);
    if (!each.some(({ must }) => counts(must))) return [];
    const [only, ...others] = each;
    const alone = only === undefined || others.length > 0 ? undefined : conjunctsOf(only.must).filter(counts);
    const requiredRules =
      alone === undefined ? each : each.map((granting) => ({ ...granting, must: { kind: 'and', of: alone } as const }));
    return grantedChecks(written, requirement, index, requiredRules, { late: false, ahead: true });
  });
}

/**
 * Everything that can be checked of rows before they are written, and that would be refused afterwards as well. Links that
 * are judged when everything is written are open where the step itself writes what they lead to.
 */
export function checksFirst(written: Written): readonly Check[] {
  const links = linkChecks(written).map((check) => {
    const { descriptor: link, counted } = check.link;
    const openBy = { link, ...(showsNew(written, link, counted) && { shown: counted }) };
    return { ...check, openBy: check.late && mayOpen(written, link) ? [openBy] : [] };
  });
  return [
    ...ruleChecksAhead(written, undefined, true),
    ...ruleChecksFirst(written),
    ...links,
    ...missingChecks(written),
  ];
}

/**
 * Links to rows that are missing, of tables without hidden ones. A foreign key refuses them, but maybe only after a unique
 * key, so that the answer would tell whether a hidden row has that. Nothing is hidden from administrators.
 */
function missingChecks(written: Written): readonly Check[] {
  const { scope, writable } = written;
  if (scope.admin) return [];
  return linksOf(written).flatMap(({ isPlain, relation, link, places }): readonly Check[] => {
    const constraint = isPlain ? foreignKeyOf(writable.collection, link) : undefined;
    const target = scope.open.collections.get(link.target);
    if (constraint === undefined || target === undefined) return [];
    const check = linkCheck(written, relation, link, scope.open, target, places);
    const asks = constraint.fields;
    return [{ ...check, permissionCheck: { kind: 'missing', constraint, awaits: [link], asks }, openBy: [{ link }] }];
  });
}

/** Checks of all rules by what is known before the write; what the step itself may write stays open. */
function ruleChecksFirst(written: Written): readonly Check[] {
  const time = { late: false, ahead: true };
  return requirementsOf(written).flatMap((requirement, index) => {
    const each = grantingAhead(written, requirement, true);
    if (!canFail(written, requirement, each)) return [];
    const checked = (some: readonly Granting[]): readonly Check[] => {
      const openBy = some.flatMap(({ must }) => openLinks(written, must)).map((link) => ({ link }));
      const awaits = some.flatMap(({ must }) => awaitedLinks(written, must));
      const stated = some.flatMap((granting) =>
        conjunctsOf(granting.must).map((part) => granting.stated?.get(part) ?? part),
      );
      const below = changesBelow(written, { kind: 'and', of: stated });
      const isSet = some.some(({ rule }) => rule.presets.some(isPath));
      const asks = isSet ? undefined : conditionFields(written, { kind: 'and', of: some.map(({ must }) => must) });
      return grantedChecks(written, requirement, index, some, time).map((check) => ({
        ...check,
        openBy,
        permissionCheck: {
          ...check.permissionCheck,
          ...(awaits.length > 0 && { awaits }),
          ...(asks && { asks }),
          ...(isChangedBelow(below) && { below }),
        },
      }));
    };
    const [only, ...others] = each;
    const conditions = only === undefined || others.length > 0 ? [] : conjunctsOf(only.must);
    // The other conditions of the only rule are judged where its links, or what it asks, leave some open.
    const opennessOf = (condition: Condition): string => {
      const isOpen = openLinks(written, condition).length > 0 || awaitedLinks(written, condition).length > 0;
      const stated = only?.stated?.get(condition) ?? condition;
      return JSON.stringify([isOpen, changesBelow(written, stated), conditionFields(written, condition)]);
    };
    const parts = [...Map.groupBy(conditions, opennessOf).values()];
    if (only === undefined || parts.length < 2) return checked(each);
    return parts.flatMap((group) => checked([{ ...only, must: { kind: 'and', of: group } }]));
  });
}

/** False where every row that a rule lets be written meets a requirement. */
function canFail({ action, grant }: Written, { rules }: Requirement, each: readonly Granting[]): boolean {
  // The stored row decides which of several rules count of a change.
  if (action === 'update') return rules.length < grant.rules.length || !each.every(({ must }) => isEveryRow(must));
  return !each.some(({ must, rule }) => isEveryRow(must) && !rule.presets.some(isPath));
}

/** A rule with its position, and what the written row must satisfy for it. */
interface Granting {
  readonly place: number;
  readonly rule: WriteRule;
  readonly must: Condition;
  /** Conditions of the rule by the parts of `must` that are left of them before the write. Default: the same ones. */
  readonly stated?: ReadonlyMap<Condition, Condition>;
}

function requirementChecks(written: Written, requirement: Requirement, index: number): readonly Check[] {
  const each = grantingRules(written, requirement);
  // New items have no stored row, so WHERE has not checked whether the values of a rule's presets exist.
  const unset = written.action === 'create' && each.some(({ rule }) => rule.presets.some(isPath));
  if (each.every(({ must }) => isEveryRow(must)) && !unset) return [];
  const { scope, writable, collections, action } = written;
  const late = each.some(
    ({ must }) =>
      isLate(scope.open, writable.collection, must, collections) ||
      (action === 'create' && asksCompleted(writable.collection, must)),
  );
  return grantedChecks(written, requirement, index, each, { late, unset });
}

function grantingRules({ grant }: Written, { rules }: Requirement): readonly Granting[] {
  return rules.flatMap((rule): readonly Granting[] => {
    const found = grant.rules[rule];
    return found === undefined ? [] : [{ place: rule, rule: found, must: found.check ?? found.where }];
  });
}

/** The same as far as it has to hold before the write; `isRefused` tells of a step that was refused. */
function grantingAhead(written: Written, requirement: Requirement, isRefused: boolean, isDraft = isRefused) {
  const { scope, writable, collections, made = new Set() } = written;
  return grantingRules(written, requirement).map(({ rule, must, ...granting }): Granting => {
    const settings = { scope: scope.open, written: collections, made, isValidation: rule.check !== null, isDraft };
    const ahead = isRefused ? { ...settings, refused: written } : settings;
    const stated = new Map(conjunctsOf(must).map((part) => [partAhead(ahead, writable.collection, part), part]));
    return { ...granting, rule, must: { kind: 'and', of: [...stated.keys()] }, stated };
  });
}

/** The checks that some rule grants what is written; `unset` tells that values of presets may be missing. */
function grantedChecks(
  written: Written,
  { rules, columns }: Requirement,
  index: number,
  each: readonly Granting[],
  { unset = false, ...time }: Pick<Check, 'late' | 'ahead'> & { readonly unset?: boolean },
): readonly Check[] {
  const base = {
    ...time,
    rules: rules.length > 1 && written.action === 'update' ? rules : [],
    columns: columns ?? [],
  };
  const requested = (judged: CheckedRow): string => (columns === null ? sqlTrue : anyOf(columns.map(judged.present)));
  const refused: Check = {
    ...base,
    permissionCheck: { kind: 'refused', requirement: index },
    fails: (judged) => allOf([requested(judged), isNot(isGranted(judged, each))]),
  };
  const violated = each.flatMap((granting) =>
    violations(each, granting, index, requested).map((check) => ({ ...base, ...check })),
  );
  // The conditions of the only rule say everything.
  const checks = each.length === 1 && violated.length > 0 && !unset ? violated : [refused, ...violated];
  if (time.ahead !== true) return checks;
  return checks.map((check) => ({ ...check, fails: (judged) => check.fails(completedRow(written, judged)) }));
}

/** SQL predicate that is true if some rule that matched the stored row holds for the written one. */
function isGranted(judged: CheckedRow, rules: readonly Granting[]): string {
  return anyOf(
    rules.map(({ place: index, rule, must }) =>
      allOf([judged.matched(index), ruleHolds(judged.row, must), presetsHold(judged.row, rule)]),
    ),
  );
}

function isPath({ value }: WriteRule['presets'][number]): boolean {
  return value.kind === 'caller' && value.path.length > 0;
}

/** The conditions of one rule's check, each by itself: to be told where no rule grants what was written. */
function violations(
  all: readonly Granting[],
  { place: index, rule, must, stated }: Granting,
  requirement: number,
  requested: (judged: CheckedRow) => string,
): readonly Pick<Check, 'permissionCheck' | 'fails'>[] {
  const conditions = rule.check === null ? [] : conjunctsOf(must);
  return conditions.map((condition) => ({
    permissionCheck: {
      kind: 'violated',
      requirement,
      rule: index,
      ...violationOf(stated?.get(condition) ?? condition),
    },
    fails(judged) {
      const broken = isNot(ruleHolds(judged.row, condition));
      const others = all.length === 1 ? [] : [isNot(isGranted(judged, all)), judged.matched(index)];
      return allOf([requested(judged), ...others, broken]);
    },
  }));
}

/** Unknown is not enough: a condition must be true. */
function isNot(predicate: string): string {
  return `(${predicate}) IS NOT TRUE`;
}

/** A check of a link, with the relation and the columns that hold it. */
interface LinkCheck extends Check {
  readonly link: {
    readonly relation: RelationScope;
    readonly descriptor: ManyToOne;
    /** Scope that shows what the link may lead to. */
    readonly counted: Scope;
    readonly places: readonly number[];
    /** True if an item above gives a part of the key, and the payload or the stored row the rest. */
    readonly isPartly: boolean;
  };
}

/**
 * The item that a payload links must be one that the caller may read, by values that the caller may read. Where all can be
 * read the foreign key says it, which no policy binds; where none can, decoding has, but for keys of several columns.
 */
function linkChecks(written: Written): readonly LinkCheck[] {
  return linksOf(written).flatMap(({ isPlain, relation, link, counted, target, places, isPartly }) => {
    if (isPlain) return [];
    const check = linkCheck(written, relation, link, counted, target, places);
    return [{ ...check, link: { relation, descriptor: link, counted, places, isPartly } }];
  });
}

interface SetLink extends Omit<LinkCheck['link'], 'descriptor'> {
  readonly link: ManyToOne;
  readonly target: CollectionScope;
  /** True if the caller may read everything that it may lead to. */
  readonly isPlain: boolean;
}

function linksOf(written: Written): readonly SetLink[] {
  const { scope, writable } = written;
  const { links = [] } = writable.collection.descriptor;
  const unnamed = links.map((descriptor): RelationScope => ({ descriptor, grant: null }));
  return [...writable.collection.relations.values(), ...unnamed].flatMap((relation): readonly SetLink[] => {
    const link = relation.descriptor;
    if (link.kind !== 'm2o') return [];
    // A request may link the items that it wrote itself, but may not name the rest of a key beside a part of theirs.
    const parts = pairsBesideTenant(writable.collection.descriptor, link.on, 'from');
    // A caller who reads nothing of the target has been refused where a field is the link that payloads have, and only there.
    const field = writable.collection.descriptor.fields.find(({ name }) => name === link.field);
    const isDecoded = field !== undefined && field.filled !== 'generated';
    const counted = isDecoded ? countedScope(scope, link.target) : scope.read;
    const read = counted.collections.get(link.target);
    const target = read ?? scope.open.collections.get(link.target);
    if (target === undefined) return [];
    const isWhole =
      counted === scope.read
        ? readsEveryRow(target) && readsNames(target, link, scope.admin)
        : target.rows.some(isEveryRow);
    const { places, linked } = columnsOf(written, link);
    if (linked >= parts.length || places.length === 0) return [];
    const isPlain = read !== undefined && isWhole;
    return [{ relation, link, counted, target, places, isPlain, isPartly: linked > 0 }];
  });
}

/** Links by key to rows of another tenant, refused at once, as a foreign key refuses a missing row. */
export function tenantLinkChecks(written: Written): readonly Check[] {
  const { open } = written.scope;
  return linkChecks(written).flatMap(({ late, link: { relation, descriptor, places } }) => {
    const target = late ? open.collections.get(descriptor.target) : undefined;
    if (target === undefined || target.rows.some(isEveryRow)) return [];
    return [linkCheck(written, relation, descriptor, open, target, places)];
  });
}

/**
 * Links by key to items that the write itself could show to the caller, as one that makes them their member. The items
 * have to be visible before it. Servers whose writes judge rows tell that by themselves. Where the request may have made
 * the item, only one that was stored and hidden fails.
 */
export function linkChecksAhead(written: Written): readonly LinkCheck[] {
  const { open } = written.scope;
  return linkChecks(written).flatMap((check): readonly LinkCheck[] => {
    const { relation, descriptor, places } = check.link;
    const target = check.ahead === true ? open.collections.get(descriptor.target) : undefined;
    if (target === undefined) return [];
    if (!check.late && !written.postponed) return open.dialect.returnsWrites ? [] : [check];
    const missing = linkCheck(written, relation, descriptor, open, target, places);
    return [{ ...check, fails: (judged) => allOf([check.fails(judged), `NOT (${missing.fails(judged)})`]) }];
  });
}

/** Links by key to judge before a refused request writes anything. Rows that it writes may show what others lead to. */
export function linkChecksFirst(written: Written): readonly Check[] {
  return linkChecks(written).filter(({ late, ahead }) => late || written.postponed || ahead !== true);
}

/** Links by key that are judged when everything is written. */
export function linkChecksLate(written: Written): readonly Check[] {
  return linkChecks(written).filter(({ late }) => late || written.postponed);
}

/** Predicates true where a row shows a link's values. Keys name rows always, secrets do for administrators. */
function visibleNames(row: Row, { on }: ManyToOne, isAdmin: boolean): readonly string[] {
  const { descriptor, fields } = row.collection;
  return on.flatMap(({ to }) => {
    const named = fieldOfColumn(descriptor.fields, to);
    if (named === undefined || descriptor.key.includes(named.name)) return [];
    const field = fields.get(named.name);
    return field === undefined || (field.secret && !isAdmin) ? [sqlFalse] : [granted(row, field.grant)];
  });
}

function linkCheck(
  written: Written,
  relation: RelationScope,
  link: ManyToOne,
  counted: Scope,
  target: CollectionScope,
  places: readonly number[],
): Check {
  const { scope, collections, columns } = written;
  const always = places.some((index) => columns[index]?.complete === true);
  return {
    permissionCheck: { kind: 'refused', requirement: null, awaits: [link] },
    late: collections.has(link.target),
    ahead: target.rows.some((rule) => isLate(scope.open, target, rule, collections)),
    rules: [],
    columns: always ? [] : places,
    fails(judged: CheckedRow) {
      const requested = always ? sqlTrue : anyOf(places.map(judged.present));
      const column = (quoted: string): string => {
        const formula = link.on.find(({ from }) => from === quoted)?.formula;
        const parts = formula?.map((part, index) => (index % 2 === 0 ? part : judged.row.column(part)));
        return parts?.join('') ?? judged.row.column(quoted);
      };
      const row: Row = { ...judged.row, scope: counted, column };
      const linked = link.on.map(({ from }) => `${row.column(from)} IS NOT NULL`);
      const reached = reach(row, relation);
      const shown = reached && allOf([...joinsOf(reached), ...visibleNames(reached.target, link, scope.admin)]);
      const hidden = reached && `NOT EXISTS (SELECT 1 FROM ${reached.from()}${where(shown ?? sqlTrue)})`;
      return allOf([requested, ...linked, hidden ?? sqlTrue]);
    },
  };
}
