import type { PortableType } from '../../language/index.ts';
import type { CopiedFields, CopyDialect, FixedValue } from '../copies.ts';
import { allOf, sqlTrue } from '../fragment.ts';
import type { InputDialect } from '../input.ts';

/** That of MySQL and MariaDB. Members come in the order of their fields. */
export function mysqlCopies(
  name: 'mysql' | 'mariadb',
  { equal }: InputDialect,
  keyOf: (text: string, type: PortableType, native: string) => string | undefined,
): CopyDialect {
  const json = (text: string): string => (name === 'mysql' ? `CAST(${text} AS JSON)` : text);
  return {
    member: (fixed, contents, member) => `JSON_UNQUOTE(JSON_EXTRACT(${contents}, ${fixed(pathTo(member), 'text')}))`,
    keyMatches(column, text, field) {
      const value = keyOf(text, field.type, field.native);
      return value !== undefined ? `${column} = ${value}` : equal(column, text, field);
    },
    reduced({ fixed, collection, contents, readable }) {
      const branches = readable.map((copied) => {
        const members = membersOf(fixed, contents, copied);
        const object = `CONCAT('{', ${members.length === 0 ? "''" : `CONCAT_WS(',', ${members.join(', ')})`}, '}')`;
        return `WHEN ${fixed(copied.collection, 'text')} THEN ${object}`;
      });
      if (branches.length === 0) return 'NULL';
      return `CASE WHEN ${contents} IS NOT NULL THEN ${json(`CASE ${collection} ${branches.join(' ')} END`)} END`;
    },
  };
}

/** Each is null where it is not there, or must not be. */
function membersOf(fixed: FixedValue, contents: string, { always, sometimes }: CopiedFields): readonly string[] {
  const cases = [{ fields: always, predicate: sqlTrue }, ...sometimes];
  return cases.flatMap(({ fields, predicate }) =>
    fields.map((field) => {
      const path = fixed(pathTo(field), 'text');
      const there = allOf([`JSON_CONTAINS_PATH(${contents}, 'one', ${path})`, predicate]);
      const name = fixed(`${JSON.stringify(field)}:`, 'text');
      return `CASE WHEN ${there} THEN CONCAT(${name}, JSON_EXTRACT(${contents}, ${path})) END`;
    }),
  );
}

/** A path of the servers to a member of any name. */
function pathTo(name: string): string {
  return `$.${JSON.stringify(name)}`;
}
