import { arrayLiteral, type PortableType, types } from '../../language/index.ts';
import { cast } from '../casts.ts';
import type { CopyDialect } from '../copies.ts';
import { anyOf } from '../fragment.ts';
import { fitsMembers } from './json-text.ts';

const asText = '::pg_catalog.text';

/** That of PostgreSQL; the functions are the dialect's. Values keep their texts, and members their order. */
export function postgresCopies(
  keyOf: (text: string, type: PortableType, native: string) => string | undefined,
  exactly: (expression: string) => string,
): CopyDialect {
  return {
    member: (fixed, contents, name) =>
      `(CASE WHEN ${fitsMembers(cast(contents, asText))} THEN ${contents} ->> ${fixed(name, 'pg_catalog.text')} END)`,
    keyMatches(column, text, field) {
      const value = keyOf(text, field.type, field.native);
      if (value !== undefined) return `${column} = ${value}`;
      const compared = cast(column, field.comparison);
      if (types[field.type].comparison !== 'text') return `${cast(compared, asText)} = ${text}`;
      const same = `${compared} = ${cast(text, `::${field.native}`)}`;
      // The exact comparison implies the plain one, but an index serves only the plain one.
      return field.folds === true ? `(${same} AND ${exactly(compared)} = ${text})` : same;
    },
    reduced({ fixed, collection, contents, readable }) {
      const list = (names: readonly string[]): string => fixed(arrayLiteral(names), 'pg_catalog.text[]');
      const branches = readable.map(({ collection: name, always }) => {
        return `WHEN ${fixed(name, 'pg_catalog.text')} THEN ${list(always)}`;
      });
      if (branches.length === 0) return 'NULL::json';
      const some = readable.flatMap(({ collection: name, sometimes }) =>
        sometimes.map(({ fields, predicate }) => {
          return `(${collection} = ${fixed(name, 'pg_catalog.text')} AND e.key = ANY (${list(fields)}) AND ${predicate})`;
        }),
      );
      const members = `pg_catalog.string_agg(pg_catalog.to_json(e.key)::pg_catalog.text || ':' || e.value::pg_catalog.text, ',' ORDER BY e.n)`;
      const names = `(SELECT CASE ${collection} ${branches.join(' ')} END AS names OFFSET 0) a`;
      const from = `${names}, pg_catalog.json_each(${contents}) WITH ORDINALITY e(key, value, n)`;
      const kept = anyOf(['e.key = ANY (a.names)', ...some]);
      const object = `(SELECT ('{' || COALESCE(${members}, '') || '}')::json FROM ${from} WHERE ${kept})`;
      return `CASE WHEN ${fitsMembers(cast(contents, asText))} THEN ${object} END`;
    },
  };
}
