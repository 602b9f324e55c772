import { findOrCreate } from '@tablewright/runtime/language';
import { compareText } from '../order.ts';
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

/** Relations that are served, by oid. */
export type Listed = ReadonlyMap<string, RelationRow>;

export function lookupOf(catalog: Catalog): Lookup {
  const columns = sortedGroups(
    catalog.columns,
    (row) => row.attrelid,
    (left, right) => left.attnum - right.attnum,
  );
  const column: Lookup['column'] = (relation, attnum) => columns(relation).find((row) => row.attnum === attnum);
  const partitionOf = new Map(
    catalog.inherits.filter((row) => row.relispartition).map((row) => [row.inhrelid, row.inhparent]),
  );
  const links = catalog.inherits.filter((row) => !row.relispartition);
  const withChildren = new Set(links.map((row) => row.inhparent));
  const actions = new Map(catalog.rules.map((row) => [row.ev_class, row.action]));
  const traces = new Map<string, ViewTrace>();
  return {
    relations: new Map(catalog.relations.map((row) => [row.oid, row])),
    columns,
    column,
    columnNames: (relation, numbers) => numbers.flatMap((number) => column(relation, number)?.attname ?? []),
    constraints: sortedGroups(
      catalog.constraints,
      (row) => row.conrelid,
      (left, right) => compareText(left.conname, right.conname),
    ),
    indexes: sortedGroups(
      catalog.indexes,
      (row) => row.indrelid,
      (left, right) => compareText(left.relname, right.relname),
    ),
    root: (relation) => rootOf(relation, partitionOf),
    parents: sortedGroups(
      links,
      (row) => row.inhrelid,
      (left, right) => left.inhseqno - right.inhseqno,
    ),
    hasChildren: (relation) => withChildren.has(relation),
    trace: (relation) => {
      const action = actions.get(relation);
      return action === undefined ? undefined : findOrCreate(traces, relation, () => traceView(action));
    },
    types: typesByOid(catalog),
  };
}

function rootOf(relation: string, partitionOf: ReadonlyMap<string, string>): string {
  let root = relation;
  for (let parent = partitionOf.get(root); parent !== undefined; parent = partitionOf.get(root)) root = parent;
  return root;
}

/** Groups rows by relation; a group is sorted when it is first asked for. */
function sortedGroups<Row>(
  rows: readonly Row[],
  relationOf: (row: Row) => string,
  compare: (left: Row, right: Row) => number,
): (relation: string) => readonly Row[] {
  const groups = Map.groupBy(rows, relationOf);
  const sorted = new Map<string, readonly Row[]>();
  return (relation) => findOrCreate(sorted, relation, () => (groups.get(relation) ?? []).toSorted(compare));
}
