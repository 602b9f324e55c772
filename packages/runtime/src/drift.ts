/**
 * Drift: differences between the live database and the compiled one. Pure: `live-objects.ts` reads, `drift-watch.ts`
 * repeats.
 *
 * A change of an object in use closes the collections that use it; the others keep working. Unrelated objects are never
 * looked at. Source: API specification, section 9 (SERVICE_UNAVAILABLE).
 */

import {
  type Dialect,
  defaultDialect,
  dialectFacts,
  type Fingerprint,
  type FingerprintColumn,
  type FingerprintMember,
  type FingerprintObject,
  type LiveObject,
  type NamedTable,
  printTable,
} from './language/index.ts';

/** One difference between the compiled API and the database. */
export interface Drift {
  /** `column public.articles.title`, `table public.articles`; without schemas `table articles`. */
  readonly object: string;
  /** A whole sentence. */
  readonly message: string;
  /** Collections that use the object. */
  readonly collections: readonly string[];
  /** `error` closes the collections; `info` is additive and only reported. */
  readonly severity: 'error' | 'info';
  /** The table that has it, as statements name it. */
  readonly table: string;
}

/**
 * Lists every difference, in the order of the fingerprint. Columns that nothing uses are no difference.
 * @example const messages = compareFingerprint(api.fingerprint, []).map(({ message }) => message);
 */
export function compareFingerprint(
  expected: Fingerprint,
  live: readonly LiveObject[],
  dialect: Dialect = defaultDialect,
): readonly Drift[] {
  const byName = new Map(live.map((object) => [qualifiedName(object), object]));
  return expected.objects.flatMap((object) => {
    const name = qualifiedName(object);
    return compareObject(dialect, object, byName.get(name));
  });
}

/** Lists the tables that are not there: those that the platform has made for itself, and that belong to no collection. */
export function findLostTables(
  made: readonly NamedTable[],
  live: readonly LiveObject[],
  dialect: Dialect = defaultDialect,
): readonly Drift[] {
  return made
    .filter((table) => !live.some((object) => isSameTable(table, object)))
    .map((table) => lostTable(dialect, table, []));
}

export function isSameTable(left: NamedTable, right: NamedTable): boolean {
  return left.schema === right.schema && left.name === right.name;
}

function lostTable(dialect: Dialect, object: NamedTable, collections: readonly string[]): Drift {
  const shown = printTable(dialect, qualifiedName(object));
  const message = `${shown} is gone or cannot be seen.`;
  return { object: `table ${shown}`, message, collections, severity: 'error', table: quotedTable(dialect, object) };
}

/** Lists the columns that appeared between two readings: additive, so they are reported and close nothing. */
export function findNewColumns(
  before: readonly LiveObject[],
  after: readonly LiveObject[],
  dialect: Dialect = defaultDialect,
): readonly Drift[] {
  const byName = new Map(
    before.map((object) => [qualifiedName(object), new Set(object.columns.map(({ name }) => name))]),
  );
  return after.flatMap((object) => {
    const names = byName.get(qualifiedName(object));
    if (names === undefined) return [];
    const shown = printTable(dialect, qualifiedName(object));
    return object.columns
      .filter(({ name }) => !names.has(name))
      .map(({ name }) => ({
        object: `column ${shown}.${name}`,
        message: `Column "${name}" of ${shown} is new and not compiled.`,
        collections: [],
        table: quotedTable(dialect, object),
        severity: 'info' as const,
      }));
  });
}

function compareObject(dialect: Dialect, expected: FingerprintObject, live: LiveObject | undefined): readonly Drift[] {
  if (live === undefined) return [lostTable(dialect, expected, expected.collections)];
  const shown = printTable(dialect, qualifiedName(expected));
  const table = quotedTable(dialect, expected);
  const tableLabel = `table ${shown}`;
  const drifts: Drift[] = [];
  function report(object: string, message: string, severity: Drift['severity'] = 'error'): void {
    drifts.push({ object, message, severity, collections: expected.collections, table });
  }
  if (live.kind !== expected.kind) report(tableLabel, `${shown} is of another kind than when compiled.`);
  if (expected.rowSecurity === 'unbound') {
    if (live.rowSecurity === true) report(tableLabel, `Policies of ${shown} bind the role of the connection.`);
  } else if ((live.rowSecurity !== false) !== expected.rowSecurity) {
    report(tableLabel, `Row-level security of ${shown} was switched ${live.rowSecurity ? 'on' : 'off'}.`);
  }
  if (live.key.join('\0') !== expected.key.join('\0')) {
    report(tableLabel, `The primary key of ${shown} has changed.`);
  }
  const columns = new Map(live.columns.map((column) => [column.name, column]));
  for (const column of expected.columns) {
    const found = columns.get(column.name);
    const columnLabel = `column ${shown}.${column.name}`;
    for (const { message, severity } of compareColumn(column, found, holdsRows(expected)))
      report(columnLabel, message, severity);
  }
  return drifts;
}

type ColumnDrift = Pick<Drift, 'message' | 'severity'>;

function compareColumn(
  expected: FingerprintColumn,
  live: FingerprintColumn | undefined,
  knowsNulls: boolean,
): readonly ColumnDrift[] {
  if (live === undefined) return [{ severity: 'error', message: `Column "${expected.name}" is gone.` }];
  if (live.type !== expected.type) {
    return [
      { severity: 'error', message: `Column "${expected.name}" is now ${live.type}, compiled as ${expected.type}.` },
    ];
  }
  const drifts: ColumnDrift[] = [];
  if (knowsNulls && live.nullable !== expected.nullable) {
    // A stricter column reads as before; a write that breaks it fails validation.
    drifts.push(
      live.nullable
        ? { severity: 'error', message: `Column "${expected.name}" can now be null.` }
        : { severity: 'info', message: `Column "${expected.name}" can no longer be null.` },
    );
  }
  if (expected.labels !== undefined) drifts.push(...compareLabels(expected.name, expected.labels, live.labels ?? []));
  if (expected.members !== undefined)
    drifts.push(...compareMembers(expected.name, expected.members, live.members ?? []));
  return drifts;
}

function compareLabels(column: string, expected: readonly string[], live: readonly string[]): readonly ColumnDrift[] {
  const missing = expected.filter((label) => !live.includes(label));
  const added = live.filter((label) => !expected.includes(label));
  const reordered = live.filter((label) => expected.includes(label)).join('\0') !== expected.join('\0');
  if (missing.length > 0) {
    return [{ severity: 'error', message: `The type of column "${column}" lost the label "${missing.join('", "')}".` }];
  }
  if (reordered) return [{ severity: 'error', message: `The labels of column "${column}" have another order.` }];
  return added.length === 0
    ? []
    : [{ severity: 'info', message: `The type of column "${column}" has the new label "${added.join('", "')}".` }];
}

/** Values are written whole and by the place of their members, so that a new member is as much a change as a lost one. */
function compareMembers(
  column: string,
  expected: readonly FingerprintMember[],
  all: readonly FingerprintMember[],
): readonly ColumnDrift[] {
  // Values that are read as text may have members that were not compiled.
  const paths = new Set(expected.map(([path]) => path));
  const live = all.filter(([path]) => paths.has(path));
  const keyOf = ([path, name]: FingerprintMember): string => JSON.stringify([path, name]);
  const [compiled, found] = [expected, live].map(
    (members) => new Map(members.map((member) => [keyOf(member), member])),
  );
  const error = (message: string): ColumnDrift => ({ severity: 'error', message });
  const lost = expected.flatMap((member) => {
    const [, name, type] = member;
    const now = found?.get(keyOf(member));
    if (now === undefined) return [error(`Column "${column}" lost the member "${name}".`)];
    return now[2] === type
      ? []
      : [error(`The member "${name}" of column "${column}" is now ${now[2]}, compiled as ${type}.`)];
  });
  const added = live.filter((member) => !compiled?.has(keyOf(member)));
  const drifts = [...lost, ...added.map(([, name]) => error(`Column "${column}" has the new member "${name}".`))];
  const isMoved = live.map(keyOf).join('\0') !== expected.map(keyOf).join('\0');
  return isMoved && drifts.length === 0 ? [error(`The members of column "${column}" have another order.`)] : drifts;
}

/** The catalog knows of views' columns only that they may be null; the compiler traces them further. */
function holdsRows(object: FingerprintObject): boolean {
  return object.kind === 'r' || object.kind === 'p' || object.kind === 'f';
}

/** A table as the descriptors of the compiled API name it. */
function quotedTable(dialect: Dialect, { schema, name }: NamedTable): string {
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const isOwn = !dialectFacts[dialect].hasSchemas && schema === 'public';
  return isOwn ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
}

function qualifiedName(object: NamedTable): string {
  return `${object.schema}.${object.name}`;
}
