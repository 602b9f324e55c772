/** New items where a write cannot be part of a query: INSERT from rows of input, one item like many. */
import type { Assigned } from '../assigned.ts';
import type { Written } from '../checks.ts';
import { assignMany, columnList } from '../plan-create.ts';
import { finishWrite, inputTable, keysOf, startWrite, type WritePlan } from '../statement.ts';

/** Plans the INSERT of items, which answers the texts of the key of each, in their order. */
export function planInsert(written: Written): WritePlan {
  const drafting = startWrite(written);
  const { input } = drafting.statement.dialect;
  const { assigned, columns } = assignMany(drafting);
  const { table } = written.writable.collection.descriptor;
  const own = assigned.length === 0 ? bareRow(written) : assigned;
  const values = own.map(({ value }) => value).join(', ');
  const keys = keysOf(written);
  const texts = keys.map((field) => input.keyText(field.column, field)).join(', ');
  const rows = `SELECT ${values} FROM ${inputTable(drafting, columns, 'i')} ORDER BY i.n`;
  const text = `INSERT INTO ${table} (${columnList(own)}) ${rows} RETURNING ${texts}`;
  return { ...finishWrite(drafting, text, { keys: keys.length }), each: true };
}

/** A row needs a column: what has nothing to say leaves its key to the database. */
function bareRow(written: Written): readonly Assigned[] {
  return keysOf(written)
    .slice(0, 1)
    .map((field) => ({ field, value: field.fallback ?? 'NULL' }));
}
