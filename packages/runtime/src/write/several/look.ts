/** Which stored rows may be changed, where a write cannot ask that itself: they are looked at, and locked, before it. */
import type { Written } from '../checks/check.ts';
import { allowed, type InputColumn } from '../plan/inputs.ts';
import {
  type Drafting,
  finishWrite,
  inputTable,
  keyInputs,
  keysMatch,
  startWrite,
  type WriteStatement,
} from '../plan/statement.ts';

/**
 * Predicates for each stored row, over its columns as `column` prints them: each rule by its position, and all of them
 * together.
 */
export interface Looked {
  readonly rules: readonly string[];
  readonly allowed: string;
}

/** A rule that looks at other rows: a server may not take it in a write, or lock what it looks at. */
export function looksAway(predicates: readonly string[]): boolean {
  return predicates.some((predicate) => predicate.includes('SELECT '));
}

/** Plans a look at the items with the keys of the input: how many may be changed, which ones, and which rules they match. */
export function planLook(
  written: Written,
  columns: readonly InputColumn[],
  command: (drafting: Drafting, column: (quoted: string) => string) => Looked,
): WriteStatement {
  const drafting = startWrite(written);
  const { input } = drafting.statement.dialect;
  const alias = drafting.statement.alias();
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const { descriptor } = written.writable.collection;
  const keys = keyInputs(drafting);
  const named = keys.map(({ name }) => `i.${name}`);
  const requested = command(drafting, column);
  const there =
    written.writable.collection.descriptor.key.length === 0 ? 'FALSE' : `${column(keyColumn(written))} IS NOT NULL`;
  const may = `${there} AND (${requested.allowed}) IS TRUE`;
  const flags = [may, ...requested.rules.map((rule) => `(${rule}) IS TRUE`)].map((predicate) =>
    input.collectedArray({ value: `CASE WHEN ${predicate} THEN 't' ELSE 'f' END`, order: 'i.n' }),
  );
  const from = `${inputTable(drafting, [...keys, ...columns], 'i')} LEFT JOIN ${descriptor.table} AS ${alias} ON ${keysMatch(drafting, column, named)}`;
  const lock = descriptor.unlockable ? '' : input.lock('UPDATE', alias);
  const text = `SELECT ${['NULL', input.count(may), ...flags].join(', ')} FROM ${from}${lock}`;
  return finishWrite(drafting, text, { matched: [allowed, ...requested.rules.keys()] });
}

function keyColumn({ writable }: Written): string {
  const { fields, key } = writable.collection.descriptor;
  return fields.find(({ name }) => name === key[0])?.column ?? 'NULL';
}

/** The column of input that tells which rows may be changed. */
export const allowedInput: InputColumn = {
  name: 'ok',
  source: { kind: 'matched', rule: allowed },
  native: 'pg_catalog.bool',
};
