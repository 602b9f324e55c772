import type { Binder } from '../../database/binder.ts';
import type { RowBatch } from '../../database/database.ts';
import type { Source } from './inputs.ts';
import type { WriteStatement } from './statement.ts';

/**
 * Batch in which the statement for many items makes or changes the items of several requests. Its parameters come from
 * those that each would have of its own for `single`. Undefined where an item takes more than its key, its values and
 * what is the same for all of them.
 */
export function batchRows(single: WriteStatement, many: WriteStatement | undefined): RowBatch | undefined {
  if (many === undefined) return undefined;
  const parameters = many.binders.map((binder) => ({
    of: placeOf(single, many, binder),
    list: binder.kind === 'value',
  }));
  const isWhole = parameters.some(({ list }) => list) && parameters.every(({ of: index }) => index >= 0);
  if (!isWhole) return undefined;
  const key = single.binders.findIndex((binder) => sourceOf(single, binder)?.kind === 'key');
  return { statement: { ...many.statement, brief: true }, parameters, ...(key >= 0 && { key }) };
}

/** Where a parameter that a request brings finds its value. */
function sourceOf({ sources }: WriteStatement, binder: Binder): Source | undefined {
  return binder.kind === 'value' ? sources[binder.index] : undefined;
}

/** Which parameter for one item has what a parameter for many has, or has of each item; -1 where none has. */
function placeOf(single: WriteStatement, many: WriteStatement, binder: Binder): number {
  if (binder.kind !== 'value') {
    const text = JSON.stringify(binder);
    return single.binders.findIndex((other) => JSON.stringify(other) === text);
  }
  const source = sourceOf(many, binder);
  return single.binders.findIndex((other) => {
    const candidate = sourceOf(single, other);
    if (source?.kind === 'key') return candidate?.kind === 'key' && candidate.part === source.part;
    return source?.kind === 'values' && candidate?.kind === 'value' && candidate.column === source.column;
  });
}
