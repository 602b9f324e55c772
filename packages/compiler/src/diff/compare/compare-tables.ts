/** Behaviour of the database on rows that a role reads or writes, independent of the API. */
import type { Check, Column, ForeignKey, Key, Table } from '@tablewright/introspect/schema';
import { type Dialect, printTable } from '@tablewright/runtime/language';
import { isSame } from '../../cache/same.ts';
import { type RenameIndex, withStoredNames } from '../renames.ts';
import type { RuleId } from '../rules.ts';
import { type Concern, type Finding, type Found, offers, operationsIn, pairs, type Side, when } from '../side.ts';

export function compareTables(before: Side, after: Side, renames: RenameIndex): readonly Found[] {
  const sides = pairs([...before.collections.values()], [...after.collections.values()], renames.collections);
  const { dialect } = after.version.schema;
  return sides.flatMap(({ was, is }): readonly Found[] => {
    if (was === undefined || is === undefined) return [];
    const [old, fresh] = [before.version.tables.get(was.name), after.version.tables.get(is.name)];
    if (old === undefined || fresh === undefined) return [];
    const foundOf = (found: readonly Finding[], operations: readonly string[]) =>
      found.map((change): Found => ({ subject: is.name, operations, ...change }));
    // Operations are looked for where something is to be told of them only: mostly nothing is.
    const findingsOf = (found: readonly Finding[], actions: readonly Concern[]): readonly Found[] => {
      const operations = found.length === 0 ? [] : actions.flatMap((action) => operationsIn(before, was.name, action));
      return operations.length === 0 ? [] : foundOf(found, operations);
    };
    const referring = [
      ...findingsOf(referringChanges(before, after, old, fresh, 'onDelete'), ['delete']),
      ...findingsOf(referringChanges(before, after, old, fresh, 'onUpdate'), ['update']),
    ];
    if (isSame(old, fresh)) return referring;
    const named = withStoredNames(old, renames.stored);
    const written = (['create', 'update'] as const).filter((action) => offers(is, action) && offers(was, action));
    return [
      ...findingsOf(writeChanges(dialect, named, fresh), written),
      ...referring,
      ...foundOf(tableChanges(dialect, old, fresh), operationsIn(before, was.name, 'all')),
      ...findingsOf(indexChanges(named, fresh), ['read']),
    ];
  });
}

/** By what they say: names are made by the database more often than by people. */
function writeChanges(dialect: Dialect, was: Table, is: Table): readonly Finding[] {
  const left = columnsLeftOut(was, is);
  return [
    ...uniqueChanges(was, is, left),
    ...foreignKeyChanges(dialect, was, is, left),
    ...checkChanges(was, is, left),
    ...pairs(was.columns, is.columns).flatMap(({ was: old, is: now }) => (old && now ? domainChanges(old, now) : [])),
  ];
}

/** Parts of which the database makes sure that no two rows have them in common. */
interface UniqueKey extends Pick<Key, 'columns' | 'nullsNotDistinct'> {
  /** Condition of the rows that it is about. */
  readonly predicate: string | null;
}

/** Keys, and unique indexes that are none: of some rows, of expressions or of first characters. */
function uniqueKeys({ primaryKey, uniques, indexes }: Table): readonly UniqueKey[] {
  const keys = [...(primaryKey === null ? [] : [primaryKey]), ...uniques];
  const names = new Set(keys.map(({ name }) => name));
  return [
    ...keys.map((key) => ({ ...key, predicate: null })),
    ...indexes
      .filter(({ unique, name }) => unique && !names.has(name))
      .map(({ nullsNotDistinct = false, ...index }) => ({ ...index, nullsNotDistinct })),
  ];
}

/** True if rows that the first key lets in never break the second one. */
function makesUnique(key: UniqueKey, other: UniqueKey): boolean {
  return (
    key.columns.every((column) => other.columns.includes(column)) &&
    (key.predicate === null || key.predicate === other.predicate) &&
    (key.nullsNotDistinct || !other.nullsNotDistinct)
  );
}

function uniqueChanges(was: Table, is: Table, { isReached, apart, empty }: LeftOut): readonly Finding[] {
  const [old, now] = [uniqueKeys(was), uniqueKeys(is)];
  const isOpen = ({ columns: parts, nullsNotDistinct }: UniqueKey): boolean => {
    const columns = parts.map(foldedColumn);
    const isApart = columns.some((name) => apart.has(name) || (empty.has(name) && !nullsNotDistinct));
    return isReached({ columns }) || !isApart;
  };
  return [
    ...lacking(old, now, makesUnique).map((key) =>
      added('unique-added', `${uniqueText(key)} must be unique`, isOpen(key)),
    ),
    ...lacking(now, old, makesUnique).map((key): Finding => {
      return { rule: 'unique-removed', message: `${uniqueText(key)} need not be unique.` };
    }),
  ];
}

/** The column of `lower(code)`, which is null where the column is; any other expression as it is. */
function foldedColumn(part: string): string {
  return /^\(+(?:lower|upper)\(\(?["`]?([^"`()]+)["`]?\)?(?:::text)?\)\)+$/.exec(part)?.[1] ?? part;
}

function uniqueText({ columns, nullsNotDistinct, predicate }: UniqueKey): string {
  const rows = predicate === null ? '' : ` where ${predicate}`;
  return `(${columns.join(', ')})${nullsNotDistinct ? ' nulls not distinct' : ''}${rows}`;
}

function foreignKeyChanges(dialect: Dialect, was: Table, is: Table, { isReached }: LeftOut): readonly Finding[] {
  const text = ({ columns, target, targetColumns, enforced, validated }: ForeignKey): string =>
    `(${columns.join(', ')}) to ${printTable(dialect, target)} (${targetColumns.join(', ')})${validated ? '' : ` not ${enforced === false ? 'enforced' : 'valid'}`}`;
  return [
    // One that is not enforced refuses nothing.
    ...lacking(was.foreignKeys, is.foreignKeys, refersAlike)
      .filter(({ enforced }) => enforced !== false)
      .map((key) => added('foreign-key-added', `There is a foreign key ${text(key)}`, isReached(key))),
    ...lacking(is.foreignKeys, was.foreignKeys, refersAlike).map((key): Finding => {
      return { rule: 'foreign-key-removed', message: `There is no foreign key ${text(key)} any more.` };
    }),
  ];
}

/** True if rows that the first key lets in never break the second one. Valid or not, a key binds rows that are written. */
function refersAlike(key: ForeignKey, other: ForeignKey): boolean {
  const columns = ({ columns: from, targetColumns: to }: ForeignKey): readonly string[] =>
    from.map((name, position) => JSON.stringify([name, to[position]])).sort();
  return (
    key.target === other.target &&
    isSame(columns(key), columns(other)) &&
    (key.enforced !== false || other.enforced === false)
  );
}

/** By name only where no check of the other side says the same. */
function checkChanges(was: Table, is: Table, { isReached }: LeftOut): readonly Finding[] {
  const isAlike = (check: Check, other: Check): boolean => check.expression === other.expression;
  const [gone, fresh] = [lacking(is.checks, was.checks, isAlike), lacking(was.checks, is.checks, isAlike)];
  return pairs(gone, fresh).flatMap(({ name, was: old, is: check }): readonly Finding[] => {
    if (old === undefined) {
      const message = `Rows must meet "${name}": ${check?.expression ?? ''}`;
      return [added('check-added', message, check === undefined || isReached(check))];
    }
    if (check === undefined) return when(true, 'check-removed', `Rows need not meet "${name}" any more.`);
    return when(true, 'check-changed', `Rows must meet ${check.expression}, not ${old.expression}.`);
  });
}

/** Constraints that follow from none of the others. */
function lacking<T>(from: readonly T[], all: readonly T[], follows: (from: T, constraint: T) => boolean): readonly T[] {
  return all.filter((constraint) => !from.some((other) => follows(other, constraint)));
}

function added(rule: RuleId, message: string, isDangerous: boolean): Finding {
  return isDangerous
    ? { rule, message: `${message}.` }
    : { rule, message: `${message}; all its columns are new.`, verdicts: { rest: 'safe' } };
}

/** New columns, which payloads of clients of the version before leave out, with what the database puts there. */
type LeftOut = ReturnType<typeof columnsLeftOut>;

/** Finds new columns; a generated one counts as an earlier one, of which it is made. */
function columnsLeftOut(was: Table, is: Table) {
  const earlier = new Set(was.columns.map(({ name }) => name));
  const left = is.columns.filter(({ name, fill }) => !earlier.has(name) && fill.kind !== 'generated');
  const named = (columns: readonly Column[]): ReadonlySet<string> => new Set(columns.map(({ name }) => name));
  const all = named(left);
  return {
    /** True if a constraint is about other columns, too, so that these clients can break it. */
    isReached: ({ columns }: { readonly columns: readonly string[] }): boolean =>
      columns.length === 0 || columns.some((name) => !all.has(name)),
    /** Columns of which each row gets a value of its own. */
    apart: named(left.filter(({ fill }) => fill.kind === 'identity' || fill.kind === 'serial')),
    /** Columns that stay null. Any other default may repeat. */
    empty: named(left.filter(({ nullable, fill }) => nullable && fill.kind === 'none')),
  };
}

function domainChanges(was: Column, is: Column): readonly Finding[] {
  const checks = ({ type }: Column): readonly string[] =>
    [...type.domains, ...(type.element?.domains ?? [])].flatMap((domain) => domain.checks);
  const [old, now] = [checks(was), checks(is)];
  const { name } = is;
  return [
    ...each(fresh(old, now), 'check-added', (check) => `Values of "${name}" must meet ${check}.`),
    ...each(fresh(now, old), 'check-removed', (check) => `Values of "${name}" need not meet ${check} any more.`),
  ];
}

/** One change for each part. */
function each(parts: readonly string[], rule: RuleId, messageOf: (part: string) => string): readonly Finding[] {
  return parts.map((part) => ({ rule, message: messageOf(part) }));
}

function fresh(before: readonly string[], all: readonly string[]): readonly string[] {
  return all.filter((value) => !before.includes(value));
}

/** Referential actions on rows that refer to the table, when an item of it is deleted, or its key is changed. */
function referringChanges(
  before: Side,
  after: Side,
  was: Table,
  is: Table,
  event: 'onDelete' | 'onUpdate',
): readonly Finding[] {
  // Several keys may have the same columns.
  const referring = ({ version }: Side, { id }: Table) =>
    [...Map.groupBy(version.referring.get(id) ?? [], ({ name }) => name)].map(([name, keys]) => {
      return { name, actions: [...new Set(keys.map((key) => key[event]))].sort().join(' and ') };
    });
  const [rule, cause] =
    event === 'onDelete'
      ? (['on-delete-changed', ''] as const)
      : (['on-update-changed', ' when its key changes'] as const);
  return pairs(referring(before, was), referring(after, is)).flatMap(
    ({ name, was: old, is: now }): readonly Finding[] => {
      if (!old || !now) return [];
      const message = `Rows of ${name} that refer to it${cause}: ${now.actions}, it was ${old.actions}.`;
      return when(old.actions !== now.actions, rule, message);
    },
  );
}

function tableChanges(dialect: Dialect, was: Table, is: Table): readonly Finding[] {
  const name = printTable(dialect, is.id);
  const secured = ({ rowSecurity: { enabled, forced } }: Table): string =>
    enabled ? (forced ? 'forced' : 'on') : 'off';
  const isSecured = is.rowSecurity.enabled;
  const isSwitched = secured(was) !== secured(is);
  const isOther = was.rowSecurity.enabled && isSecured && policies(was) !== policies(is);
  return [
    ...when(isSwitched && isSecured, 'row-security-on', `Row-level security of ${name} is ${secured(is)}.`),
    ...when(isSwitched && !isSecured, 'row-security-off', `Row-level security of ${name} is off.`),
    ...when(isOther, 'row-policies-changed', `The policies of ${name} are others.`),
    ...when(was.kind !== is.kind, 'table-kind-changed', `${name} is a ${is.kind}, it was a ${was.kind}.`),
  ];
}

/** Text of the policies, equal where they are. */
function policies({ rowSecurity }: Table): string {
  return JSON.stringify(rowSecurity.policies ?? []);
}

function indexChanges(was: Table, is: Table): readonly Finding[] {
  const text = ({ indexes }: Table): readonly string[] =>
    indexes.map(
      ({ method, columns, predicate }) =>
        `${method} (${columns.join(', ')})${predicate === null ? '' : ` where ${predicate}`}`,
    );
  return [
    ...each(fresh(text(is), text(was)), 'index-removed', (index) => `There is no index ${index} any more.`),
    ...each(fresh(text(was), text(is)), 'index-added', (index) => `There is an index ${index}.`),
  ];
}
