/** New items where a write cannot be part of a query: INSERT from rows of input, one item like many. */
import type { Written } from '../checks/check.ts';
import { printPreset } from '../checks/presets.ts';
import type { Assigned } from '../plan/assigned.ts';
import { assignMany, columnList } from '../plan/plan-create.ts';
import { drawnFields } from '../plan/random.ts';
import {
  finishWrite,
  inputTable,
  type KeyPart,
  keysOf,
  type MadeKeys,
  startWrite,
  type WriteStatement,
} from '../plan/statement.ts';

/** Plans the INSERT of items, which answers the texts of the key of each, in their order, where the server has RETURNING. */
export function planInsert(written: Written): WriteStatement {
  const drafting = startWrite(written);
  const { input } = drafting.statement.dialect;
  const { assigned, columns } = assignMany(drafting);
  const { table } = written.writable.collection.descriptor;
  const inserted = assigned.length === 0 ? bareRow(written) : assigned;
  const values = inserted.map(({ value }) => value).join(', ');
  const keys = keysOf(written);
  const rows = `SELECT ${values} FROM ${inputTable(drafting, columns, 'i')} ORDER BY i.n`;
  const texts = keys.map((field) => input.keyText(field.column, field)).join(', ');
  const insert = `INSERT INTO ${table} (${columnList(inserted)}) ${rows}`;
  const text = input.returning ? `${insert} RETURNING ${texts}` : insert;
  const made: MadeKeys = input.returning
    ? { kind: 'returned' }
    : { kind: 'computed', parts: keys.map(({ name }) => keyPart(written, name)) };
  const ahead = planAhead(written);
  return { ...finishWrite(drafting, text, { keys: keys.length }), made, ...(ahead && { ahead }) };
}

/** Plans the question for parts of the key that rules set: the items are made with what it answers. */
function planAhead(written: Written): WriteStatement['ahead'] {
  const set = drawnFields(written).flatMap(({ field, preset }, index) =>
    preset === undefined ? [] : [{ field, preset, place: index }],
  );
  if (set.length === 0) return undefined;
  const drafting = startWrite(written);
  const { input } = drafting.statement.dialect;
  const texts = set.map(({ field, preset }) => input.keyText(`(${printPreset(drafting, field, preset)})`, field));
  const plan = finishWrite(drafting, `SELECT ${texts.join(', ')}`, {});
  return { plan, fields: set.map(({ place: index }) => index) };
}

/** Where a part of the key is known from, on a server that returns nothing. */
function keyPart(written: Written, name: string): KeyPart {
  const column = written.columns.findIndex(({ field }) => field.descriptor.name === name);
  const drawn = drawnFields(written).findIndex(({ field }) => field.name === name);
  const { fallback = '' } = keysOf(written).find((field) => field.name === name) ?? {};
  const [, quoted, number] = /^(?:'([^'\\]*)'|(-?\d+))$/.exec(fallback) ?? [];
  const constant = quoted ?? number;
  return {
    ...(column >= 0 && { column }),
    ...(drawn >= 0 && { drawn }),
    ...(constant !== undefined && drawn < 0 && { constant }),
  };
}

/** INSERT needs at least one column. An item without values leaves its key to the database. */
function bareRow(written: Written): readonly Assigned[] {
  return keysOf(written)
    .slice(0, 1)
    .map((field) => ({ field, value: field.fallback ?? 'NULL' }));
}
