/** JSON as `jsonb`, whose operators are used. */
import type { JsonKind } from '../../contract/filter-json.ts';
import type { FieldDescriptor } from '../../contract/index.ts';
import { cast } from './casts.ts';
import type { JsonDialect } from './json.ts';

const casts: Readonly<Record<JsonKind, string>> = { text: '', number: '::pg_catalog.numeric', boolean: '::bool' };
const kinds: Readonly<Record<JsonKind, string>> = { text: 'string', number: 'number', boolean: 'boolean' };

/** Type of the parameter of a path: a list of texts. */
const pathNative = 'pg_catalog.text[]';

/** That of PostgreSQL. */
export const postgresJson: JsonDialect = {
  document: binary,
  at: (document, { take }) => `(${document} #> ${take(pathNative)})`,
  presence: (document, { take }) => `(${document} #>> ${take(pathNative)})`,
  scalar(document, { take }, kind) {
    const at = take(pathNative);
    const text = cast(`(${document} #>> ${at})`, casts[kind]);
    return `(CASE pg_catalog.jsonb_typeof((${document} #> ${at})) WHEN '${kinds[kind]}' THEN ${text} END)`;
  },
  container(document, alias) {
    const one = (value: string): string => `pg_catalog.jsonb_build_array(${value})`;
    return {
      one,
      all: (list) => `(${document} @> ${list})`,
      any(list) {
        const element = alias();
        return `EXISTS (SELECT 1 FROM pg_catalog.jsonb_array_elements(${list}) ${element}(e) WHERE ${document} @> ${one(`${element}.e`)})`;
      },
      guarded: (predicate) => `(CASE pg_catalog.jsonb_typeof(${document}) WHEN 'array' THEN ${predicate} END)`,
    };
  },
};

/**
 * Text that PostgreSQL takes for `json` and cannot turn into values: U+0000, half a surrogate pair, and numbers with
 * exponents beyond every number. Such a value is null in comparisons, instead of failing the statement.
 */
const pairs = String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`;
const unusable = String.raw`\\u(0000|[dD][89a-fA-F])|[[:space:]:,[]-?[0-9.]+[eE][+-]?[0-9]{4}`;

function binary(expression: string, { native }: FieldDescriptor): string {
  if (!/^(?:pg_catalog\.)?json$/.test(native)) return cast(expression, '::jsonb');
  const text = cast(expression, '::pg_catalog.text');
  const kept = `pg_catalog.regexp_replace(${text}, '${pairs}', '', 'g') !~ '${unusable}'`;
  return `(CASE WHEN ${kept} THEN ${cast(expression, '::jsonb')} END)`;
}
