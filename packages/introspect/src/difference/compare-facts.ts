/**
 * Differences between the tables of two databases, or of one at two times: by the names that people know them by.
 *
 * Pure. Owners are left out, because the same migration leaves another one in every environment.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Dialect, defaultDialect, printTable } from '@tablewright/runtime/language';
import type { Column, ColumnType, EnumType, ForeignKey, Index, Key, Schema, Table } from '../schema.ts';
import { tableId } from '../table-names.ts';

/** One difference. */
export interface FactDifference {
  /** `table public.articles`, `column public.articles.title`; without schemas `table articles`. */
  readonly object: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** A whole sentence without the object: `Its type was text and is varchar(80).` */
  readonly message: string;
}

/** Lists every difference between the facts of two schemas: tables in the order of their ids, then enums. */
export function compareFacts(
  before: Pick<Schema, 'tables' | 'enums'>,
  after: Pick<Schema, 'tables' | 'enums'> & Partial<Pick<Schema, 'dialect'>>,
): readonly FactDifference[] {
  const { dialect = defaultDialect } = after;
  return [
    ...paired(before.tables, after.tables, ({ id }) => id).flatMap(([name, was, is]) =>
      was && is
        ? compareTables(shown(dialect, was), shown(dialect, is))
        : single(`table ${printTable(dialect, name)}`, was),
    ),
    ...paired(before.enums, after.enums, ({ schema, name }) => tableId(schema, name)).flatMap(([name, was, is]) =>
      was && is ? compareEnums(`type ${name}`, was, is) : single(`type ${name}`, was),
    ),
  ];
}

/** A table with its name, and those that it tells of, as people know them, and its expressions as once restored. */
function shown(dialect: Dialect, plain: Table): Table {
  const table = restoredTable(plain);
  const named = (id: string): string => printTable(dialect, id);
  const foreignKeys = table.foreignKeys.map((key) => ({ ...key, target: named(key.target) }));
  const columns = table.columns.filter(({ computed }) => computed === undefined);
  const { follows } = table;
  return {
    ...{ ...table, columns, id: named(table.id), inherits: table.inherits.map(named), foreignKeys },
    ...(follows && { follows: follows === true || follows.map(named) }),
  };
}

function compareTables(was: Table, is: Table): readonly FactDifference[] {
  const location = `table ${is.id}`;
  return [
    ...differences(location, [
      value('kind', was.kind, is.kind),
      value('comment', was.comment, is.comment),
      value('row-level security', rowSecurity(was), rowSecurity(is)),
      value('policies', policiesText(was), policiesText(is)),
      value('primary key', keyText(was.primaryKey), keyText(is.primaryKey)),
      value('writable actions', actions(was), actions(is)),
      value('parents', was.inherits.join(', '), is.inherits.join(', ')),
      value('rows of children', was.inherited === true, is.inherited === true),
      value('tables that change it by keys that are not listed', followed(was), followed(is)),
      value('triggers that it fires in tables that are not listed', was.fires === true, is.fires === true),
      [was.amended, is.amended].includes('hidden')
        ? null
        : value('hidden changes of written rows', was.amended === true, is.amended === true),
    ]),
    ...members('column', is.id, was.columns, is.columns, compareColumns),
    ...orderOfColumns(was, is),
    ...members('unique key', is.id, was.uniques, is.uniques, (oldKey, other) => [
      value('columns', keyText(oldKey), keyText(other)),
    ]),
    ...members('foreign key', is.id, was.foreignKeys, is.foreignKeys, (oldKey, other) => [
      value('definition', foreignKeyText(oldKey), foreignKeyText(other)),
    ]),
    ...members('check', is.id, was.checks, is.checks, (oldCheck, other) => [
      value('expression', oldCheck.expression, other.expression),
    ]),
    ...members('index', is.id, was.indexes, is.indexes, (oldIndex, other) => [
      value('definition', indexText(oldIndex), indexText(other)),
    ]),
  ];
}

function compareColumns(was: Column, is: Column): readonly (string | null)[] {
  const values = [
    value('type', was.nativeType, is.nativeType),
    value('default', fillText(was.fill), fillText(is.fill)),
    value('collation', was.collation, is.collation),
    value('comment', was.comment, is.comment),
    was.nullable === is.nullable ? null : `It ${is.nullable ? 'can now' : 'can no longer'} be null.`,
    was.updatable === is.updatable ? null : `It ${is.updatable ? 'can now' : 'can no longer'} be written.`,
  ];
  if (values.some((difference) => difference !== null)) return values;
  // The meaning of a type, a domain's checks for example, can change under the same name.
  return [
    isDeepStrictEqual([was.type, was.source], [is.type, is.source]) ? null : 'The meaning of its type has changed.',
  ];
}

function orderOfColumns(was: Table, is: Table): readonly FactDifference[] {
  const common = (table: Table, other: Table): readonly string[] => {
    const names = new Set(other.columns.map(({ name }) => name));
    return table.columns.map(({ name }) => name).filter((name) => names.has(name));
  };
  return differences(`table ${is.id}`, [value('columns', common(was, is).join(', '), common(is, was).join(', '))]);
}

function compareEnums(object: string, was: EnumType, is: EnumType): readonly FactDifference[] {
  return differences(object, [
    value(
      'labels',
      was.labels.map((label) => `"${label}"`).join(', '),
      is.labels.map((label) => `"${label}"`).join(', '),
    ),
    value('comment', was.comment, is.comment),
  ]);
}

interface Named {
  readonly name: string;
}

function members<T extends Named>(
  kind: string,
  table: string,
  before: readonly T[],
  after: readonly T[],
  compare: (was: T, is: T) => readonly (string | null)[],
): readonly FactDifference[] {
  const locationOf = (name: string): string =>
    kind === 'column' ? `column ${table}.${name}` : `${kind} ${name} of ${table}`;
  return paired(before, after, ({ name }) => name).flatMap(([name, was, is]) =>
    was && is ? differences(locationOf(name), compare(was, is)) : single(locationOf(name), was),
  );
}

/** Both lists by name: those of the second in its order, then those that it lacks. */
function paired<T>(
  before: readonly T[],
  after: readonly T[],
  nameOf: (value: T) => string,
): readonly (readonly [name: string, was: T | undefined, is: T | undefined])[] {
  const old = new Map(before.map((member) => [nameOf(member), member]));
  const fresh = new Set(after.map(nameOf));
  const gone = before.filter((member) => !fresh.has(nameOf(member)));
  return [
    ...after.map((member) => [nameOf(member), old.get(nameOf(member)), member] as const),
    ...gone.map((member) => [nameOf(member), member, undefined] as const),
  ];
}

function single(object: string, was: unknown): readonly FactDifference[] {
  return was === undefined
    ? [{ object, change: 'added', message: 'It is new.' }]
    : [{ object, change: 'removed', message: 'It is gone.' }];
}

function differences(object: string, messages: readonly (string | null)[]): readonly FactDifference[] {
  return messages.flatMap((message) => (message === null ? [] : [{ object, change: 'changed' as const, message }]));
}

function value(what: string, was: string | boolean | null, is: string | boolean | null): string | null {
  if (was === is) return null;
  const [before, after] = plurals.has(what) ? ['were', 'are'] : ['was', 'is'];
  return `Its ${what} ${before} ${worded(was)} and ${after} ${worded(is)}.`;
}

function worded(text: string | boolean | null): string {
  if (typeof text === 'boolean') return text ? 'on' : 'off';
  return text === null || text === '' ? 'none' : text;
}

function followed({ follows = [] }: Table): string {
  return follows === true ? 'any' : follows.join(', ');
}

function rowSecurity({ rowSecurity: { enabled, forced } }: Table): string {
  return enabled ? (forced ? 'forced' : 'on') : 'off';
}

function policiesText({ rowSecurity: { policies = [] } }: Table): string {
  return policies
    .map(({ name, permissive, command, roles, using, check }) => {
      const narrows = permissive ? '' : 'restrictive ';
      const conditions = `${using === null ? '' : ` using (${using})`}${check === null ? '' : ` check (${check})`}`;
      return `${name} (${narrows}${command} to ${roles.join(', ')}${conditions})`;
    })
    .join('; ');
}

function actions({ writable }: Table): string {
  return (['insert', 'update', 'delete'] as const).filter((action) => writable[action]).join(', ');
}

function keyText(key: Key | null): string | null {
  if (key === null) return null;
  return `(${key.columns.join(', ')})${key.deferrable ? ' deferrable' : ''}${key.nullsNotDistinct ? ' nulls not distinct' : ''}`;
}

function foreignKeyText(key: ForeignKey): string {
  const actionsOf = [
    key.onDelete === 'no action' ? '' : ` on delete ${key.onDelete}`,
    key.onUpdate === 'no action' ? '' : ` on update ${key.onUpdate}`,
  ];
  const traits = [
    key.deferrable ? ' deferrable' : '',
    key.initiallyDeferred ? ' initially deferred' : '',
    key.validated ? '' : ` not ${key.enforced === false ? 'enforced' : 'valid'}`,
  ];
  return `(${key.columns.join(', ')}) to ${key.target} (${key.targetColumns.join(', ')})${actionsOf.join('')}${traits.join('')}`;
}

/** Gives a table with its expressions as servers print them once they were dumped and restored, even if they were not. */
export function restoredTable(table: Table): Table {
  const restoredOrNone = (sql: string | null): string | null => sql && restored(sql);
  const { policies } = table.rowSecurity;
  return {
    ...table,
    rowSecurity: {
      ...table.rowSecurity,
      ...(policies && {
        policies: policies.map((policy) => {
          return { ...policy, using: restoredOrNone(policy.using), check: restoredOrNone(policy.check) };
        }),
      }),
    },
    columns: table.columns.map((column) => ({
      ...column,
      type: restoredType(column.type),
      fill:
        'expression' in column.fill ? { ...column.fill, expression: restored(column.fill.expression) } : column.fill,
    })),
    checks: table.checks.map((check) => ({ ...check, expression: restored(check.expression) })),
    indexes: table.indexes.map((index) => ({
      ...index,
      columns: index.columns.map(restored),
      predicate: restoredOrNone(index.predicate),
    })),
  };
}

function restoredType(type: ColumnType): ColumnType {
  return {
    ...type,
    domains: type.domains.map((domain) => ({ ...domain, checks: domain.checks.map(restored) })),
    element: type.element && restoredType(type.element),
  };
}

/** Text, or a group in brackets with the parts in it; a literal and a quoted name have none. */
interface Part {
  readonly text: string;
  readonly parts?: readonly Part[];
}

/** Gives an expression with casts of lists at each item, and series of one conjunction without brackets at their start. */
function restored(sql: string): string {
  const open: Part[][] = [[]];
  for (const [text] of sql.matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[()[\]]|[^'"()[\]]+|['"]/g)) {
    if (text === '(' || text === '[') open.push([]);
    // Texts may have quotes after backslashes, after which brackets are no pairs.
    else if ((text === ')' || text === ']') && open.length === 1) return sql;
    else if (text === ')' || text === ']') {
      const parts = restoredParts(open.pop() ?? []);
      open.at(-1)?.push({ text: `${text === ')' ? '(' : '['}${printed(parts)}${text}`, parts });
    } else open.at(-1)?.push(/^['"]/.test(text) ? { text, parts: [] } : { text });
  }
  const [parts = []] = open;
  return open.length === 1 ? printed(restoredParts(parts)) : sql;
}

function printed(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('');
}

function restoredParts(parts: readonly Part[]): readonly Part[] {
  const [first, second, ...rest] = parts;
  const [conjunction] = /^ (?:AND|OR) /.exec(second?.text ?? '') ?? [];
  const isSeries = (part: Part): boolean => part.parts === undefined && part.text.includes(conjunction ?? '');
  const start = conjunction === undefined || !first?.parts?.some(isSeries) ? undefined : first.parts;
  return withCasts(start && second ? [...start, second, ...rest] : parts);
}

/** `(ARRAY[a, b])::text[]` becomes `ARRAY[(a)::text, (b)::text]`. */
function withCasts(parts: readonly Part[]): readonly Part[] {
  const start = parts.findIndex(({ parts: [word] = [] }) => word?.text === 'ARRAY');
  const list = parts[start]?.parts?.[1]?.parts;
  if (list === undefined) return parts;
  const end = parts.findIndex(({ text }, position) => position > start && text === '[]');
  const cast = printed(parts.slice(start + 1, Math.max(end, 0)));
  if (!/^::[\w ."]+(?:\([\d,]+\))?$/.test(cast)) {
    return [...parts.slice(0, start + 1), ...withCasts(parts.slice(start + 1))];
  }
  const items = list.map(({ text, parts: inner }) => (inner ? text : text.replaceAll(', ', '\0'))).join('');
  const text = `ARRAY[${items
    .split('\0')
    .map((item) => `(${item})${cast}`)
    .join(', ')}]`;
  return [...parts.slice(0, start), { text }, ...withCasts(parts.slice(end + 1))];
}

function indexText({ method, columns, include, unique, nullsNotDistinct, predicate }: Index): string {
  const traits = [
    include.length > 0 ? ` including ${include.join(', ')}` : '',
    nullsNotDistinct ? ' nulls not distinct' : '',
    predicate === null ? '' : ` where ${predicate}`,
  ];
  return `${unique ? 'unique ' : ''}${method} (${columns.join(', ')})${traits.join('')}`;
}

function fillText(fill: Column['fill']): string {
  switch (fill.kind) {
    case 'none':
      return 'none';
    case 'default':
      return fill.expression;
    case 'identity':
      return fill.always ? 'an identity that only the database gives' : 'an identity';
    case 'serial':
      return `the sequence ${fill.sequence}`;
    case 'generated':
      return `generated ${fill.stored ? 'and stored' : 'when read'} as ${fill.expression}`;
  }
}

const plurals: ReadonlySet<string> = new Set([
  'columns',
  'tables that change it by keys that are not listed',
  'triggers that it fires in tables that are not listed',
  'labels',
  'parents',
  'policies',
  'writable actions',
  'hidden changes of written rows',
]);
