/**
 * Text that PostgreSQL takes for `json` and cannot turn into values: U+0000, half a surrogate pair, and numbers with
 * exponents beyond every number. Such a value is null where it is looked into, instead of failing the statement.
 */
const pairs = String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`;
const strings = String.raw`\\u(0000|[dD][89a-fA-F])`;
const numbers = '[[:space:]:,[]-?[0-9.]+[eE][+-]?[0-9]{4}';

/** SQL predicate that is true if PostgreSQL can turn the text of a `json` into `jsonb`. */
export function fitsJsonb(text: string): string {
  return `pg_catalog.regexp_replace(${text}, '${pairs}', '', 'g') !~ '${strings}|${numbers}'`;
}

/**
 * SQL predicate that is true if PostgreSQL can tell the members of a `json` apart, by its text. It searches first,
 * because most have no escapes.
 */
export function fitsMembers(text: string): string {
  const escapes = `pg_catalog.regexp_replace(${text}, '${pairs}', '', 'g') !~ '${strings}'`;
  return `(pg_catalog.strpos(${text}, '\\u') = 0 OR ${escapes})`;
}
