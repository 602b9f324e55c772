import type { Row } from '../../sql/row.ts';

/**
 * A row that may be missing, seen as what the database would make of it: constant defaults where there is one, else
 * null. So a singleton reads as its defaults before its first write (API specification, section 4).
 *
 * `present` is an expression that is true on a row that is there, and null otherwise.
 */
export function orDefaults(row: Row, present: string): Row {
  const defaults = new Map(
    row.collection.descriptor.fields.flatMap(({ column, default: constant }) =>
      constant === undefined ? [] : [[column, constant] as const],
    ),
  );
  return {
    ...row,
    column(quoted) {
      const column = row.column(quoted);
      const constant = defaults.get(quoted);
      if (constant === undefined) return column;
      const value = row.statement.parameter({ kind: 'fixed', value: constant.text }, constant.type);
      return `(CASE WHEN ${present} THEN ${column} ELSE ${value} END)`;
    },
  };
}
