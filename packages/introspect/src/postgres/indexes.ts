import type { Index } from '../schema.ts';
import type { IndexRow } from './catalog.ts';
import type { Lookup } from './lookup.ts';

/** The valid indexes of a relation, by name. An invalid one serves no query and proves nothing. */
export function buildIndexes(lookup: Lookup, relation: string): Index[] {
  return lookup
    .indexes(relation)
    .filter((row) => row.indisvalid)
    .map((row) => {
      const columns = row.indkey.map((number, position) => indexColumn(lookup, row, number, position));
      return {
        name: row.relname,
        method: row.amname,
        columns: columns.slice(0, row.indnkeyatts),
        include: columns.slice(row.indnkeyatts),
        unique: row.indisunique,
        predicate: row.predicate,
        ...distanceOf(row),
      };
    });
}

/** Operator classes of vectors have names such as `vector_cosine_ops`. */
function distanceOf({ opclass }: IndexRow): Pick<Index, 'distance'> {
  const [, distance] = /^(?:half)?vec(?:tor)?_(cosine|l2|ip|l1)_ops$/.exec(opclass ?? '') ?? [];
  return distance === undefined ? {} : { distance };
}

/** PostgreSQL prints a bare function call without parentheses, every other expression with them. */
function indexColumn(lookup: Lookup, row: IndexRow, number: number, position: number): string {
  const text = row.keys[position] ?? '';
  if (number === 0) return text.startsWith('(') ? text : `(${text})`;
  return lookup.column(row.indrelid, number)?.attname ?? text;
}
