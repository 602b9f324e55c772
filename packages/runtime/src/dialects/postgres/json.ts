/** JSON as `jsonb`, whose operators are used. */
import type { FieldDescriptor } from '../../language/index.ts';
import type { JsonKind } from '../../language/operators/definition.ts';
import type { JsonDialect } from '../dialect.ts';
import { cast } from '../fragment.ts';

const casts: Readonly<Record<JsonKind, string>> = { text: '', number: '::pg_catalog.numeric', boolean: '::bool' };
const kinds: Readonly<Record<JsonKind, string>> = { text: 'string', number: 'number', boolean: 'boolean' };

/** Type of the parameter of a path: a list of texts. */
const pathNative = 'pg_catalog.text[]';

/**
 * Text that PostgreSQL takes for `json` and cannot turn into values: U+0000, half a surrogate pair, and numbers with
 * exponents beyond every number. Such a value is null where it is looked into, instead of failing the statement.
 */
const pairs = String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`;
const strings = String.raw`\\u(0000|[dD][89a-fA-F])`;
const numbers = '[[:space:]:,[]-?[0-9.]+[eE][+-]?[0-9]{4}';

export const postgresJson: JsonDialect = {
  document: binary,
  at: (document, { take: shape }) => `(${document} #> ${shape(pathNative)})`,
  presence: (document, { take: shape }) => `(${document} #>> ${shape(pathNative)})`,
  scalar(document, { take: shape }, kind) {
    const path = shape(pathNative);
    const text = cast(`(${document} #>> ${path})`, casts[kind]);
    return `(CASE pg_catalog.jsonb_typeof((${document} #> ${path})) WHEN '${kinds[kind]}' THEN ${text} END)`;
  },
  container(document, alias) {
    const elementArray = (value: string): string => `pg_catalog.jsonb_build_array(${value})`;
    return {
      one: elementArray,
      all: (list) => `(${document} @> ${list})`,
      any(list) {
        const element = alias();
        return `EXISTS (SELECT 1 FROM pg_catalog.jsonb_array_elements(${list}) ${element}(e) WHERE ${document} @> ${elementArray(`${element}.e`)})`;
      },
      guarded: (predicate) => `(CASE pg_catalog.jsonb_typeof(${document}) WHEN 'array' THEN ${predicate} END)`,
    };
  },
};

function binary(expression: string, { native }: FieldDescriptor): string {
  if (!/^(?:pg_catalog\.)?json$/.test(native)) return cast(expression, '::jsonb');
  const text = cast(expression, '::pg_catalog.text');
  return `(CASE WHEN ${fitsJsonb(text)} THEN ${cast(expression, '::jsonb')} END)`;
}

/** SQL predicate that is true if PostgreSQL can turn the text of a `json` into `jsonb`. */
function fitsJsonb(text: string): string {
  return `pg_catalog.regexp_replace(${text}, '${pairs}', '', 'g') !~ '${strings}|${numbers}'`;
}

/** SQL predicate that is true if PostgreSQL can tell the members of a `json` apart. Most texts have no escapes. */
export function fitsMembers(text: string): string {
  const escapes = `pg_catalog.regexp_replace(${text}, '${pairs}', '', 'g') !~ '${strings}'`;
  return `(pg_catalog.strpos(${text}, '\\u') = 0 OR ${escapes})`;
}
