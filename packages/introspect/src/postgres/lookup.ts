import { compareText, groupedBy } from '../order.ts';
import type { Catalog, ColumnRow, ConstraintRow, IndexRow, InheritsRow, RelationRow } from './catalog.ts';
import { type TypesByOid, typesByOid } from './types.ts';
import { traceView, type ViewTrace } from './view-trace.ts';

/** A catalog, arranged for the questions that are asked of it. Keys are oids, lists are in a fixed order. */
export interface Lookup {
  readonly relations: ReadonlyMap<string, RelationRow>;
  /** By number. */
  readonly columns: (relation: string) => readonly ColumnRow[];
  readonly column: (relation: string, attnum: number) => ColumnRow | undefined;
  /** Names of the columns with these numbers; those of unknown numbers are left out. */
  readonly columnNames: (relation: string, numbers: readonly number[]) => readonly string[];
  /** By name. */
  readonly constraints: (relation: string) => readonly ConstraintRow[];
  /** By name. */
  readonly indexes: (relation: string) => readonly IndexRow[];
  /** The partitioned table above all others that a partition belongs to; any other relation is its own. */
  readonly root: (relation: string) => string;
  /** Links to the parents by inheritance, in the order in which the table names them. */
  readonly parents: (relation: string) => readonly InheritsRow[];
  /** True when rows of other tables appear in this one by inheritance. */
  readonly hasChildren: (relation: string) => boolean;
  readonly trace: (relation: string) => ViewTrace | undefined;
  readonly types: TypesByOid;
}

/** Arranges a catalog. */
export function lookupOf(catalog: Catalog): Lookup {
  const columns = groupedBy(sortedRows(catalog.columns, byNumber), (row) => row.attrelid);
  const numbered = new Map(catalog.columns.map((row) => [`${row.attrelid}.${row.attnum}`, row]));
  const constraints = groupedBy(sortedRows(catalog.constraints, byConstraintName), (row) => row.conrelid);
  const indexes = groupedBy(sortedRows(catalog.indexes, byIndexName), (row) => row.indrelid);
  const partitionOf = new Map(
    catalog.inherits.filter((row) => row.relispartition).map((row) => [row.inhrelid, row.inhparent]),
  );
  const links = catalog.inherits.filter((row) => !row.relispartition);
  const parents = groupedBy(sortedRows(links, bySequence), (row) => row.inhrelid);
  const withChildren = new Set(links.map((row) => row.inhparent));
  const traces = new Map(catalog.rules.map((row) => [row.ev_class, traceView(row.action)]));
  return {
    relations: new Map(catalog.relations.map((row) => [row.oid, row])),
    columns: (relation) => columns.get(relation) ?? [],
    column: (relation, attnum) => numbered.get(`${relation}.${attnum}`),
    columnNames: (relation, numbers) =>
      numbers.flatMap((number) => numbered.get(`${relation}.${number}`)?.attname ?? []),
    constraints: (relation) => constraints.get(relation) ?? [],
    indexes: (relation) => indexes.get(relation) ?? [],
    root: (relation) => rootOf(relation, partitionOf),
    parents: (relation) => parents.get(relation) ?? [],
    hasChildren: (relation) => withChildren.has(relation),
    trace: (relation) => traces.get(relation),
    types: typesByOid(catalog),
  };
}

function rootOf(relation: string, partitionOf: ReadonlyMap<string, string>): string {
  let root = relation;
  for (let parent = partitionOf.get(root); parent !== undefined; parent = partitionOf.get(root)) root = parent;
  return root;
}

function sortedRows<T>(rows: readonly T[], compare: (left: T, right: T) => number): T[] {
  return [...rows].sort(compare);
}

function byNumber(left: ColumnRow, right: ColumnRow): number {
  return left.attnum - right.attnum;
}

function bySequence(left: InheritsRow, right: InheritsRow): number {
  return left.inhseqno - right.inhseqno;
}

function byConstraintName(left: ConstraintRow, right: ConstraintRow): number {
  return compareText(left.conname, right.conname);
}

function byIndexName(left: IndexRow, right: IndexRow): number {
  return compareText(left.relname, right.relname);
}
