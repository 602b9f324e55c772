/** What the database does with rows of a collection that a role reads or writes, whatever is told of it. */
import type { Schema, Table } from '@platform/introspect/schema';
import { offers } from './operations.ts';
import { pairs } from './pair.ts';
import type { RenameIndex } from './renames.ts';
import { type Found, operationsIn, type Side } from './side.ts';

type Told = Pick<Found, 'rule' | 'message'>;

/** Compares the tables of the collections that a role has on both sides. */
export function compareTables(before: Side, after: Side, renames: RenameIndex): readonly Found[] {
  const sides = pairs([...before.collections.values()], [...after.collections.values()], renames.collections);
  return sides.flatMap(({ was, is }): readonly Found[] => {
    if (was === undefined || is === undefined) return [];
    const [old, fresh] = [tableOf(before.version.schema, was.name), tableOf(after.version.schema, is.name)];
    if (old === undefined || fresh === undefined) return [];
    const writes = (['create', 'update'] as const).filter((action) => offers(is, action) && offers(was, action));
    const written = writes.flatMap((action) => operationsIn(before, was.name, action));
    const deleted = operationsIn(before, was.name, 'delete');
    const read = operationsIn(before, was.name, 'read');
    const told =
      (operations: readonly string[]) =>
      (found: Told): Found => ({ subject: is.name, operations, ...found });
    return [
      ...(written.length === 0 ? [] : writeChanges(old, fresh).map(told(written))),
      ...(deleted.length === 0 ? [] : deleteChanges(before, after, old, fresh).map(told(deleted))),
      ...tableChanges(old, fresh).map(told(operationsIn(before, was.name, 'all'))),
      ...(read.length === 0 ? [] : indexChanges(old, fresh).map(told(read))),
    ];
  });
}

function tableOf({ collections, tables }: Schema, collection: string): Table | undefined {
  const id = collections.find(({ name }) => name === collection)?.table;
  return tables.find((table) => table.id === id);
}

/** By what they say: names are made by the database more often than by people. */
function writeChanges(was: Table, is: Table): readonly Told[] {
  const uniques = (table: Table): readonly string[] => table.uniques.map(({ columns }) => columns.join(', '));
  const keys = (table: Table): readonly string[] =>
    table.foreignKeys.map(({ columns, target }) => `(${columns.join(', ')}) to ${target}`);
  const checks = pairs(was.checks, is.checks);
  return [
    ...fresh(uniques(was), uniques(is)).map(
      (key): Told => ({ rule: 'unique-added', message: `(${key}) must be unique.` }),
    ),
    ...fresh(uniques(is), uniques(was)).map(
      (key): Told => ({ rule: 'unique-removed', message: `(${key}) need not be unique.` }),
    ),
    ...fresh(keys(was), keys(is)).map(
      (key): Told => ({ rule: 'foreign-key-added', message: `There is a foreign key ${key}.` }),
    ),
    ...fresh(keys(is), keys(was)).map(
      (key): Told => ({ rule: 'foreign-key-removed', message: `There is no foreign key ${key} any more.` }),
    ),
    ...checks.flatMap(({ name, was: old, is: now }): readonly Told[] => {
      if (old === undefined)
        return [{ rule: 'check-added', message: `Rows must meet "${name}": ${now?.expression ?? ''}.` }];
      if (now === undefined) return [{ rule: 'check-removed', message: `Rows need not meet "${name}" any more.` }];
      if (old.expression === now.expression) return [];
      return [{ rule: 'check-changed', message: `Rows must meet ${now.expression}, not ${old.expression}.` }];
    }),
  ];
}

function fresh(known: readonly string[], all: readonly string[]): readonly string[] {
  return all.filter((one) => !known.includes(one));
}

/** What happens to those that refer to a row of the table. */
function deleteChanges(before: Side, after: Side, was: Table, is: Table): readonly Told[] {
  const referring = ({ version }: Side, id: string) =>
    version.schema.tables.flatMap((table) =>
      table.foreignKeys
        .filter(({ target }) => target === id)
        .map(({ columns, onDelete }) => ({ name: `${table.id} (${columns.join(', ')})`, onDelete })),
    );
  return pairs(referring(before, was.id), referring(after, is.id)).flatMap(
    ({ name, was: old, is: now }): readonly Told[] =>
      old && now && old.onDelete !== now.onDelete
        ? [
            {
              rule: 'on-delete-changed',
              message: `Rows of ${name} that refer to it: ${now.onDelete}, it was ${old.onDelete}.`,
            },
          ]
        : [],
  );
}

function tableChanges(was: Table, is: Table): readonly Told[] {
  const secured = ({ rowSecurity: { enabled, forced } }: Table): string =>
    enabled ? (forced ? 'forced' : 'on') : 'off';
  return [
    ...(secured(was) === secured(is)
      ? []
      : [
          is.rowSecurity.enabled
            ? ({ rule: 'row-security-on', message: `Row-level security of ${is.id} is ${secured(is)}.` } as const)
            : ({ rule: 'row-security-off', message: `Row-level security of ${is.id} is off.` } as const),
        ]),
    ...(was.kind === is.kind
      ? []
      : [{ rule: 'table-kind-changed', message: `${is.id} is a ${is.kind}, it was a ${was.kind}.` } as const]),
  ];
}

function indexChanges(was: Table, is: Table): readonly Told[] {
  const text = ({ indexes }: Table): readonly string[] =>
    indexes.map(
      ({ method, columns, predicate }) =>
        `${method} (${columns.join(', ')})${predicate === null ? '' : ` where ${predicate}`}`,
    );
  return [
    ...fresh(text(is), text(was)).map(
      (index): Told => ({ rule: 'index-removed', message: `There is no index ${index} any more.` }),
    ),
    ...fresh(text(was), text(is)).map(
      (index): Told => ({ rule: 'index-added', message: `There is an index ${index}.` }),
    ),
  ];
}
