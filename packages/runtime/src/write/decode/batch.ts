/** Items of one action on one collection, turned into columns, which a statement takes as arrays. */
import type { CollectionDescriptor } from '../../language/index.ts';
import type { WritableField } from '../access/scope.ts';

export interface Batch {
  readonly count: number;
  /** In the order of the collection's fields. */
  readonly columns: readonly BatchColumn[];
}

export interface BatchColumn {
  readonly field: WritableField;
  /** Text forms, one per item; null also where an item does not have the field. */
  readonly values: readonly (string | null)[];
  /** Tells of each item if it has the field; null when all do. */
  readonly present: readonly boolean[] | null;
  /** True if all its values are keys that the server fills in while it writes, so that none came with the request. */
  readonly linked: boolean;
  /** Items that wait for such a key, where others have theirs from the request. Default: none. */
  readonly waiting?: ReadonlySet<number>;
}

export type BatchBuilder = ReturnType<typeof createBatch>;

interface GrowingColumn {
  readonly field: WritableField;
  /** Undefined, or nothing, where an item does not have the field. */
  readonly values: (string | null | undefined)[];
  waiting: Set<number> | undefined;
  linked: boolean;
}

export function createBatch(descriptor: CollectionDescriptor) {
  const columns = new Map<string, GrowingColumn>();
  function columnOf(field: WritableField): GrowingColumn {
    const { name } = field.descriptor;
    const column = columns.get(name) ?? { field, values: [], waiting: undefined, linked: true };
    columns.set(name, column);
    return column;
  }
  return {
    /** Sets a field of an item; a later value wins. */
    set(item: number, field: WritableField, value: string | null): void {
      const column = columnOf(field);
      column.values[item] = value;
      column.waiting?.delete(item);
      column.linked = false;
    },
    /** Leaves room for a value that becomes known when other items are written. */
    link(item: number, field: WritableField): void {
      const column = columnOf(field);
      column.values[item] = null;
      column.waiting ??= new Set();
      column.waiting.add(item);
    },
    /** Ends with so many items. */
    finish(count: number): Batch {
      const ordered = descriptor.fields.flatMap(({ name }) => columns.get(name) ?? []);
      return { count, columns: ordered.map((column) => finishColumn(column, count)) };
    },
  };
}

function finishColumn({ field, values, linked, waiting }: GrowingColumn, count: number): BatchColumn {
  const isWaiting = !linked && waiting !== undefined && waiting.size > 0;
  const settings = isWaiting ? { field, linked, waiting } : { field, linked };
  if (isComplete(values, count)) return { ...settings, values, present: null };
  const all = Array.from({ length: count }, (_, item) => values[item]);
  return {
    ...settings,
    values: all.map((value) => value ?? null),
    present: all.map((value) => value !== undefined),
  };
}

function isComplete(values: GrowingColumn['values'], count: number): values is (string | null)[] {
  return values.length === count && !values.includes(undefined);
}
