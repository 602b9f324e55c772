import { ledgerTable, reservedPrefix, systemCollection } from '@tablewright/runtime/language';
import type { Diagnostic } from '../diagnostic.ts';
import { sortedBy } from '../order.ts';
import { matches, quotedNames, tableId, unmatchedPatterns } from '../table-names.ts';
import type { Catalog, ObjectName, RelationRow } from './catalog.ts';
import type { Listed, Lookup } from './lookup.ts';
import { highestTower } from './sql/wanted.ts';

/** Sorts the relations of the allowed schemas into served ones, partitions, those of extensions and excluded ones. */
export function selectRelations(catalog: Catalog, lookup: Lookup) {
  const { include, exclude } = catalog.selection;
  const system = catalog.relations.filter((row) => isSystemRow(catalog, row));
  const allowed = catalog.relations.filter((row) => row.allowed && isRequested(catalog, row));
  const partitions = allowed.filter((row) => row.relispartition);
  const extensions = allowed.filter((row) => !row.relispartition && row.extension !== null);
  const readable = allowed.filter((row) => !row.relispartition && row.extension === null);
  const circular = circularViews(catalog);
  const selectable = readable.filter((row) => !circular.has(row.oid));
  const requested = (row: RelationRow): boolean =>
    (include === null || include.some((pattern) => matches(pattern, row))) &&
    !exclude.some((pattern) => matches(pattern, row));
  const served = system.filter((row) => row.nspname === catalog.selection.system && isCollection(row));
  const listed = new Map([...selectable.filter(requested), ...served].map((row) => [row.oid, row]));
  return {
    /** By oid. */
    listed,
    diagnostics: [
      ...schemaDiagnostics(catalog),
      ...excludedDiagnostics(selectable.filter((row) => !requested(row))),
      ...unmatchedPatterns([...(include ?? []), ...exclude], selectable),
      ...extensionDiagnostics(extensions),
      ...circularDiagnostics(readable.filter((row) => requested(row) && circular.has(row.oid))),
      ...toweringDiagnostics([...listed.values()].filter((row) => row.towersOver !== null)),
      ...partitionDiagnostics(catalog, lookup, listed),
      ...strayPartitionDiagnostics(partitions, lookup, listed),
    ],
  };
}

/**
 * True for the platform's own tables, also those of another project on the same database, which has a ledger of its
 * own. Tables that are no collection of this project (sessions, the ledger, all of the other project) are never served,
 * so nothing is reported about them.
 */
function isSystemRow({ selection, relations }: Catalog, row: RelationRow): boolean {
  if (row.relkind !== 'r' || row.extension !== null || !row.relname.startsWith(reservedPrefix)) return false;
  const isLedger = ({ nspname, relname }: RelationRow): boolean => nspname === row.nspname && relname === ledgerTable;
  return row.nspname === selection.system || relations.some(isLedger);
}

function isCollection({ relname }: RelationRow): boolean {
  return systemCollection(relname) !== undefined;
}

/** The schema of the platform's tables is always read; its other tables only on request. */
function isRequested(catalog: Catalog, row: RelationRow): boolean {
  const { schemas } = catalog.selection;
  return !isSystemRow(catalog, row) && (schemas === null || schemas.includes(row.nspname));
}

function schemaDiagnostics(catalog: Catalog): Diagnostic[] {
  const requested = catalog.selection.schemas;
  if (requested === null) return [];
  const existing = new Set(catalog.namespaces.map((row) => row.nspname));
  const missing = [...new Set(requested)].filter((name) => !existing.has(name)).map(unknownSchema);
  const others = catalog.namespaces.filter((row) => !row.allowed).map((row) => row.nspname);
  return others.length === 0 ? missing : [...missing, schemasNotListed(others)];
}

function unknownSchema(name: string): Diagnostic {
  return {
    code: 'schema-unknown',
    severity: 'warning',
    place: `schema ${name}`,
    message: `The schema "${name}" does not exist in this database or is one of PostgreSQL's own.`,
    hint: 'Correct the list of schemas in platform.config.ts.',
  };
}

function schemasNotListed(names: readonly string[]): Diagnostic {
  return {
    code: 'schemas-not-listed',
    severity: 'info',
    place: 'database',
    message: `The list of schemas leaves out ${quotedNames(names)}.`,
    hint: null,
  };
}

function excludedDiagnostics(rows: readonly RelationRow[]): Diagnostic[] {
  return rows.map((row) => ({
    code: 'relation-excluded',
    severity: 'info',
    place: `table ${tableId(row.nspname, row.relname)}`,
    message: `The configuration leaves out "${row.relname}".`,
    hint: null,
  }));
}

function extensionDiagnostics(rows: readonly RelationRow[]): Diagnostic[] {
  return rows.map((row) => ({
    code: 'extension-relation',
    severity: 'info',
    place: `table ${tableId(row.nspname, row.relname)}`,
    message: `"${row.relname}" belongs to the extension "${row.extension}" and is left out.`,
    hint: null,
  }));
}

/** One per partitioned table: its partitions, wherever they lie, are served through it. */
function partitionDiagnostics(catalog: Catalog, lookup: Lookup, listed: Listed): Diagnostic[] {
  const partitions = catalog.inherits.filter((row) => row.relispartition);
  const byRoot = Map.groupBy(partitions, (row) => lookup.root(row.inhrelid));
  return [...byRoot].flatMap(([root, rows]): Diagnostic[] => {
    const table = listed.get(root);
    return table
      ? [
          partitionsHidden(
            table,
            rows.map((row) => row.child),
          ),
        ]
      : [];
  });
}

function partitionsHidden(table: RelationRow, partitions: readonly ObjectName[]): Diagnostic {
  const count = partitions.length === 1 ? 'one partition' : `${partitions.length} partitions`;
  const names = partitions.map((row) => tableId(row.nspname, row.name));
  return {
    code: 'partitions',
    severity: 'info',
    place: `table ${tableId(table.nspname, table.relname)}`,
    message: `"${table.relname}" stands for its ${count}: ${quotedNames(names)}.`,
    hint: null,
  };
}

/** Partitions whose partitioned table is not served. */
function strayPartitionDiagnostics(partitions: readonly RelationRow[], lookup: Lookup, listed: Listed): Diagnostic[] {
  const stray = partitions.filter((row) => !listed.has(lookup.root(row.oid)));
  return sortedBy(stray, (row) => row.relname).map((row) => ({
    code: 'partition-without-table',
    severity: 'warning',
    place: `table ${tableId(row.nspname, row.relname)}`,
    message: `"${row.relname}" is a partition of a table that is not served, and is left out with it.`,
    hint: 'Add the schema of the partitioned table to the list of schemas, or include the table.',
  }));
}

/** Views that lead back to themselves, and views that read them, by oid: PostgreSQL makes them but reads none. */
function circularViews({ relations }: Pick<Catalog, 'relations'>): ReadonlySet<string> {
  const left = new Map(relations.flatMap(({ oid, towersOver }) => (towersOver === null ? [] : [[oid, towersOver]])));
  const readers = new Map<string, string[]>();
  const waitsFor = new Map<string, number>();
  for (const [view, sources] of left) {
    const towering = sources.filter((source) => left.has(source));
    waitsFor.set(view, towering.length);
    for (const source of towering) readers.set(source, [...(readers.get(source) ?? []), view]);
  }
  // Views without a way back are taken away from the bottom upwards; each view waits for those that it reads.
  const ends = [...left.keys()].filter((view) => waitsFor.get(view) === 0);
  for (let view = ends.pop(); view !== undefined; view = ends.pop()) {
    left.delete(view);
    for (const reader of readers.get(view) ?? []) {
      const rest = (waitsFor.get(reader) ?? 0) - 1;
      waitsFor.set(reader, rest);
      if (rest === 0) ends.push(reader);
    }
  }
  return new Set(left.keys());
}

/** One per view that is left out. */
function circularDiagnostics(views: readonly RelationRow[]): Diagnostic[] {
  return views.map(({ nspname, relname }) => ({
    code: 'view-circular',
    severity: 'warning',
    place: `table ${tableId(nspname, relname)}`,
    message: `The view "${relname}" leads back to itself or reads one that does. PostgreSQL refuses to read it: it is left out.`,
    hint: 'Replace the view by one that reads tables, or drop it.',
  }));
}

/** One for all views that stand on too many others. */
function toweringDiagnostics(views: readonly RelationRow[]): Diagnostic[] {
  if (views.length === 0) return [];
  const names = quotedNames(views.map(({ nspname, relname }) => tableId(nspname, relname)));
  const message = `More than ${highestTower} views stand on top of each other below ${names}: nothing is written through them.`;
  return [
    { code: 'view-tower', severity: 'warning', place: 'database', message, hint: 'Read tables from these views.' },
  ];
}
