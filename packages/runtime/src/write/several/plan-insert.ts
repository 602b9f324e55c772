/** New items where a write cannot be part of a query: INSERT from rows of input, one item like many. */
import type { Assigned } from '../assigned.ts';
import type { Written } from '../checks.ts';
import { assignMany, columnList } from '../plan-create.ts';
import { randomFields } from '../random.ts';
import {
  finishWrite,
  inputTable,
  type KeyPart,
  keysOf,
  type MadeKeys,
  startWrite,
  type WritePlan,
} from '../statement.ts';

/** Plans the INSERT of items, which answers the texts of the key of each, in their order, where the server has RETURNING. */
export function planInsert(written: Written): WritePlan {
  const drafting = startWrite(written);
  const { input } = drafting.statement.dialect;
  const { assigned, columns } = assignMany(drafting);
  const { table } = written.writable.collection.descriptor;
  const own = assigned.length === 0 ? bareRow(written) : assigned;
  const values = own.map(({ value }) => value).join(', ');
  const keys = keysOf(written);
  const rows = `SELECT ${values} FROM ${inputTable(drafting, columns, 'i')} ORDER BY i.n`;
  const texts = keys.map((field) => input.keyText(field.column, field)).join(', ');
  const insert = `INSERT INTO ${table} (${columnList(own)}) ${rows}`;
  const text = input.returning ? `${insert} RETURNING ${texts}` : insert;
  const made = input.returning ? ({ kind: 'returned' } as const) : madeKeys(written);
  return { ...finishWrite(drafting, text, { keys: keys.length }), made };
}

/** A server that returns nothing is given keys, or generates numbers. */
function madeKeys(written: Written): MadeKeys {
  const parts = keysOf(written).flatMap(({ name }) => keyPart(written, name) ?? []);
  if (parts.length === keysOf(written).length) return { kind: 'given', parts };
  const [key] = keysOf(written);
  const column = written.columns.findIndex(({ field }) => field.descriptor.name === key?.name);
  const [, quoted, number] = /^(?:'([^'\\]*)'|(-?\d+))$/.exec(key?.fallback ?? '') ?? [];
  return { kind: 'generated', column: column < 0 ? undefined : column, constant: quoted ?? number ?? null };
}

/** Undefined where an item may leave it to the database. */
function keyPart(written: Written, name: string): KeyPart | undefined {
  const column = written.columns.findIndex(({ field }) => field.descriptor.name === name);
  const random = randomFields(written).findIndex(({ field }) => field.name === name);
  if (random >= 0) return { random, ...(column >= 0 && { column }) };
  return written.columns[column]?.complete === true ? { column } : undefined;
}

/** A row needs a column: what has nothing to say leaves its key to the database. */
function bareRow(written: Written): readonly Assigned[] {
  return keysOf(written)
    .slice(0, 1)
    .map((field) => ({ field, value: field.fallback ?? 'NULL' }));
}
