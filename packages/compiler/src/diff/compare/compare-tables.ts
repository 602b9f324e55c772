/** Behaviour of the database on rows that a role reads or writes, independent of the API. */
import type { Column, Table } from '@tablewright/introspect/schema';
import { type Dialect, printTable } from '@tablewright/runtime/language';
import { isSame } from '../../cache/same.ts';
import type { RenameIndex } from '../renames.ts';
import type { RuleId } from '../rules.ts';
import { type Concern, type Finding, type Found, offers, operationsIn, pairs, type Side, when } from '../side.ts';

export function compareTables(before: Side, after: Side, renames: RenameIndex): readonly Found[] {
  const sides = pairs([...before.collections.values()], [...after.collections.values()], renames.collections);
  const tables = renamedTables(before, after, renames);
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
    const deletes = findingsOf(deleteChanges(before, after, old, fresh), ['delete']);
    if (isSame(old, fresh)) return deletes;
    const named = withNames(old, renamedColumns(before, after, was.name, is.name, renames), tables);
    const written = (['create', 'update'] as const).filter((action) => offers(is, action) && offers(was, action));
    return [
      ...findingsOf(writeChanges(dialect, named, fresh), written),
      ...deletes,
      ...foundOf(tableChanges(dialect, old, fresh), operationsIn(before, was.name, 'all')),
      ...findingsOf(indexChanges(named, fresh), ['read']),
    ];
  });
}

/** By what they say: names are made by the database more often than by people. */
function writeChanges(dialect: Dialect, was: Table, is: Table): readonly Finding[] {
  const { uniques, foreignKeys } = inTexts(dialect, was);
  const now = inTexts(dialect, is);
  const endangering = inTexts(dialect, withoutNew(was, is));
  const added = (rule: RuleId, message: string, isDangerous: boolean): readonly Finding[] =>
    isDangerous
      ? when(true, rule, `${message}.`)
      : when(true, rule, `${message}; all its columns are new.`, { rest: 'safe' });
  return [
    ...fresh(uniques, now.uniques).flatMap((key) =>
      added('unique-added', `(${key}) must be unique`, endangering.uniques.includes(key)),
    ),
    ...each(fresh(now.uniques, uniques), 'unique-removed', (key) => `(${key}) need not be unique.`),
    ...fresh(foreignKeys, now.foreignKeys).flatMap((key) =>
      added('foreign-key-added', `There is a foreign key ${key}`, endangering.foreignKeys.includes(key)),
    ),
    ...each(
      fresh(now.foreignKeys, foreignKeys),
      'foreign-key-removed',
      (key) => `There is no foreign key ${key} any more.`,
    ),
    ...pairs(was.checks, is.checks).flatMap(({ name, was: old, is: check }): readonly Finding[] => {
      if (old === undefined) {
        const message = `Rows must meet "${name}": ${check?.expression ?? ''}`;
        return added('check-added', message, endangering.checks.includes(name));
      }
      if (check === undefined) return when(true, 'check-removed', `Rows need not meet "${name}" any more.`);
      const message = `Rows must meet ${check.expression}, not ${old.expression}.`;
      return when(old.expression !== check.expression, 'check-changed', message);
    }),
    ...pairs(was.columns, is.columns).flatMap(({ was: old, is: now }) => (old && now ? domainChanges(old, now) : [])),
  ];
}

/** Constraints of a table as messages name them. */
function inTexts(dialect: Dialect, { uniques, foreignKeys, checks }: Table) {
  return {
    uniques: uniques.map(({ columns }) => columns.join(', ')),
    foreignKeys: foreignKeys.map(({ columns, target }) => `(${columns.join(', ')}) to ${printTable(dialect, target)}`),
    checks: checks.map(({ name }) => name),
  };
}

/**
 * The table without constraints that no client of the version before can break: those of new columns alone, which its
 * payloads leave out. A generated column is made of earlier ones. A default may repeat, so a unique column counts only
 * if it stays null.
 */
function withoutNew(was: Table, is: Table): Table {
  const earlierColumns = new Set(was.columns.map(({ name }) => name));
  const left = is.columns.filter(({ name, fill }) => !earlierColumns.has(name) && fill.kind !== 'generated');
  const leftOut = new Set(left.map(({ name }) => name));
  const empty = new Set(left.filter(({ nullable, fill }) => nullable && fill.kind === 'none').map(({ name }) => name));
  const reaches = ({ columns }: { readonly columns: readonly string[] }): boolean =>
    columns.length === 0 || columns.some((name) => !leftOut.has(name));
  return {
    ...is,
    uniques: is.uniques.filter(
      (key) => reaches(key) || key.nullsNotDistinct || !key.columns.some((name) => empty.has(name)),
    ),
    foreignKeys: is.foreignKeys.filter(reaches),
    checks: is.checks.filter(reaches),
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

/** Referential actions on rows that refer to the table. */
function deleteChanges(before: Side, after: Side, was: Table, is: Table): readonly Finding[] {
  const referring = ({ version }: Side, { id }: Table) => version.referring.get(id) ?? [];
  return pairs(referring(before, was), referring(after, is)).flatMap(
    ({ name, was: old, is: now }): readonly Finding[] => {
      if (!old || !now) return [];
      const message = `Rows of ${name} that refer to it: ${now.onDelete}, it was ${old.onDelete}.`;
      return when(old.onDelete !== now.onDelete, 'on-delete-changed', message);
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

type Names = ReadonlyMap<string, string>;

function renamedTables(before: Side, after: Side, { collections }: RenameIndex): Names {
  return new Map(
    [...collections].flatMap(([from, to]) => {
      const [was, is] = [before.version.tables.get(from), after.version.tables.get(to)];
      return was === undefined || is === undefined ? [] : [[was.id, is.id] as const];
    }),
  );
}

function renamedColumns(before: Side, after: Side, was: string, is: string, { members }: RenameIndex): Names {
  const columnOf = ({ version }: Side, collection: string, field: string): string | undefined =>
    version.collections.get(collection)?.fields.find(({ descriptor }) => descriptor.name === field)?.stored.name;
  return new Map(
    [...(members.get(is) ?? [])].flatMap(([from, to]) => {
      const [old, fresh] = [columnOf(before, was, from), columnOf(after, is, to)];
      return old === undefined || fresh === undefined || old === fresh ? [] : [[old, fresh] as const];
    }),
  );
}

/** The table with other names of columns, and of the tables that it refers to. */
function withNames(table: Table, columns: Names, tables: Names): Table {
  if (columns.size === 0 && tables.size === 0) return table;
  const named = (name: string): string => columns.get(name) ?? name;
  const within = (sql: string): string => sql.replaceAll(/[\p{L}_][\p{L}\p{N}_$]*/gu, named);
  return {
    ...table,
    columns: table.columns.map((column) => ({ ...column, name: named(column.name) })),
    uniques: table.uniques.map((unique) => ({ ...unique, columns: unique.columns.map(named) })),
    foreignKeys: table.foreignKeys.map((key) => ({
      ...key,
      columns: key.columns.map(named),
      target: tables.get(key.target) ?? key.target,
    })),
    checks: table.checks.map((check) => ({ ...check, expression: within(check.expression) })),
    indexes: table.indexes.map((index) => ({
      ...index,
      columns: index.columns.map((column) => (columns.has(column) ? named(column) : within(column))),
      predicate: index.predicate && within(index.predicate),
    })),
  };
}
