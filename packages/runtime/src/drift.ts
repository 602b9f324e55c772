/**
 * Drift: how the live database differs from what was compiled, found by one query at start and on a timer.
 *
 * A change of an object in use closes the collections that use it; the others keep working. Unrelated objects are never
 * looked at. Source: API specification, section 9 (SERVICE_UNAVAILABLE).
 */
import {
  canonicalTypeSql,
  type Fingerprint,
  type FingerprintColumn,
  type FingerprintObject,
} from './contract/index.ts';
import type { Database } from './database/database.ts';

/** One difference between the compiled API and the database. */
export interface Drift {
  /** `column public.articles.title`, `table public.articles`. */
  readonly object: string;
  /** A whole sentence. */
  readonly message: string;
  /** Collections that use the object. */
  readonly collections: readonly string[];
  /** `error` closes the collections; `info` is additive and only told. */
  readonly severity: 'error' | 'info';
}

/** An object of the fingerprint as the database has it now, with all of its columns. */
export type LiveObject = Omit<FingerprintObject, 'collections'>;

/** Reads the objects of a fingerprint from the catalog by one query. Missing objects are missing from the list. */
export async function readFingerprint(database: Database, expected: Fingerprint): Promise<readonly LiveObject[]> {
  const rows = await database.query(liveObjectsSql, [
    arrayLiteral(expected.objects.map(({ schema }) => schema)),
    arrayLiteral(expected.objects.map(({ name }) => name)),
  ]);
  return rows.map(readLiveObject);
}

/** Lists every difference, in the order of the fingerprint. Columns that nothing uses are no difference. */
export function compareFingerprint(expected: Fingerprint, live: readonly LiveObject[]): readonly Drift[] {
  const byName = new Map(live.map((object) => [qualifiedName(object), object]));
  return expected.objects.flatMap((object) => compareObject(object, byName.get(qualifiedName(object))));
}

/** Lists the columns that appeared between two readings: additive, so they are told and close nothing. */
export function findNewColumns(before: readonly LiveObject[], after: readonly LiveObject[]): readonly Drift[] {
  const known = new Map(
    before.map((object) => [qualifiedName(object), new Set(object.columns.map(({ name }) => name))]),
  );
  return after.flatMap((object) => {
    const names = known.get(qualifiedName(object));
    if (names === undefined) return [];
    return object.columns
      .filter(({ name }) => !names.has(name))
      .map(({ name }) => ({
        object: `column ${qualifiedName(object)}.${name}`,
        message: `Column "${name}" of ${qualifiedName(object)} is new and not compiled.`,
        collections: [],
        severity: 'info' as const,
      }));
  });
}

function compareObject(expected: FingerprintObject, live: LiveObject | undefined): readonly Drift[] {
  const place = `table ${qualifiedName(expected)}`;
  const drifts: Drift[] = [];
  function report(object: string, message: string, severity: Drift['severity'] = 'error'): void {
    drifts.push({ object, message, severity, collections: expected.collections });
  }
  if (live === undefined) {
    report(place, `${qualifiedName(expected)} is gone or cannot be seen.`);
    return drifts;
  }
  if (live.kind !== expected.kind) report(place, `${qualifiedName(expected)} is of another kind than when compiled.`);
  if (live.rowSecurity !== expected.rowSecurity) {
    report(place, `Row-level security of ${qualifiedName(expected)} was switched ${live.rowSecurity ? 'on' : 'off'}.`);
  }
  if (live.key.join('\0') !== expected.key.join('\0')) {
    report(place, `The primary key of ${qualifiedName(expected)} has changed.`);
  }
  const columns = new Map(live.columns.map((column) => [column.name, column]));
  for (const column of expected.columns) {
    const found = columns.get(column.name);
    const at = `column ${qualifiedName(expected)}.${column.name}`;
    for (const { message, severity } of compareColumn(column, found, holdsRows(expected)))
      report(at, message, severity);
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
    // What became stricter reads as before; a write that breaks it fails validation.
    drifts.push(
      live.nullable
        ? { severity: 'error', message: `Column "${expected.name}" can now be null.` }
        : { severity: 'info', message: `Column "${expected.name}" can no longer be null.` },
    );
  }
  if (expected.labels !== undefined) drifts.push(...compareLabels(expected.name, expected.labels, live.labels ?? []));
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

/** The catalog knows of views' columns only that they may be null; the compiler traces them further. */
function holdsRows(object: FingerprintObject): boolean {
  return object.kind === 'r' || object.kind === 'p' || object.kind === 'f';
}

function qualifiedName(object: Pick<FingerprintObject, 'schema' | 'name'>): string {
  return `${object.schema}.${object.name}`;
}

/** Prints texts as the literal of a `text[]`. */
function arrayLiteral(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/**
 * One row per object found: schema, name, kind, row security, key columns, columns; the last two as JSON arrays.
 *
 * `inner_type` leads every used type through domains and arrays to the type whose labels count; `own` is true as long
 * as only domains were passed, because only they can forbid null.
 */
const liveObjectsSql = `
WITH RECURSIVE object AS (
  SELECT c.oid, n.nspname, c.relname, c.relkind, c.relrowsecurity
  FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS wanted(schema, name)
  JOIN pg_catalog.pg_namespace n ON n.nspname = wanted.schema
  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = wanted.name
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
), attribute AS (
  SELECT a.attrelid, a.attnum, a.attname, a.attnotnull, a.atttypid, ${canonicalTypeSql} AS type
  FROM object o
  JOIN pg_catalog.pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
), inner_type AS (
  SELECT DISTINCT atttypid AS outer_type, atttypid AS type, true AS own FROM attribute
  UNION
  SELECT i.outer_type, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END, i.own AND t.typtype = 'd'
  FROM inner_type i
  JOIN pg_catalog.pg_type t ON t.oid = i.type
  WHERE t.typtype = 'd' OR (t.typcategory = 'A' AND t.typelem <> 0)
), label AS (
  SELECT i.outer_type, pg_catalog.json_agg(e.enumlabel ORDER BY e.enumsortorder) AS labels
  FROM inner_type i
  JOIN pg_catalog.pg_enum e ON e.enumtypid = i.type
  GROUP BY i.outer_type
), without_null AS (
  SELECT DISTINCT i.outer_type
  FROM inner_type i
  JOIN pg_catalog.pg_type t ON t.oid = i.type
  WHERE i.own AND t.typtype = 'd' AND t.typnotnull
), column_list AS (
  SELECT a.attrelid, pg_catalog.json_agg(pg_catalog.json_build_array(
    a.attname, a.type, a.attnotnull OR w.outer_type IS NOT NULL, l.labels) ORDER BY a.attnum) AS columns
  FROM attribute a
  LEFT JOIN label l ON l.outer_type = a.atttypid
  LEFT JOIN without_null w ON w.outer_type = a.atttypid
  GROUP BY a.attrelid
)
SELECT o.nspname, o.relname, o.relkind, o.relrowsecurity,
  -- columns that a covering index merely includes are no part of the key
  (SELECT pg_catalog.json_agg(a.attname ORDER BY k.position)
   FROM pg_catalog.pg_index x
   CROSS JOIN LATERAL pg_catalog.unnest(x.indkey) WITH ORDINALITY AS k(attnum, position)
   JOIN pg_catalog.pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
   WHERE x.indrelid = o.oid AND x.indisprimary AND k.position <= x.indnkeyatts),
  c.columns
FROM object o
LEFT JOIN column_list c ON c.attrelid = o.oid
ORDER BY o.nspname, o.relname`;

function readLiveObject(row: readonly (string | null)[]): LiveObject {
  const [schema, name, kind, rowSecurity, key, columns] = row;
  return {
    schema: schema ?? '',
    name: name ?? '',
    kind: kind ?? '',
    rowSecurity: rowSecurity === 't' || rowSecurity === 'true',
    key: parseList(key).map(String),
    columns: parseList(columns).map(readLiveColumn),
  };
}

function readLiveColumn(value: unknown): FingerprintColumn {
  const [name, type, notNull, labels]: readonly unknown[] = Array.isArray(value) ? value : [];
  const column = { name: String(name), type: String(type), nullable: notNull !== true };
  return Array.isArray(labels) ? { ...column, labels: labels.map(String) } : column;
}

function parseList(text: string | null | undefined): readonly unknown[] {
  const value: unknown = JSON.parse(text ?? '[]');
  return Array.isArray(value) ? value : [];
}
