/** JSON as `jsonb`, whose operators are used. */

import type { FieldDescriptor } from '../../language/index.ts';
import type { JsonKind } from '../../language/operators/definition.ts';
import { cast } from '../casts.ts';
import type { JsonDialect } from '../json.ts';
import { fitsJsonb } from './json-text.ts';

const casts: Readonly<Record<JsonKind, string>> = { text: '', number: '::pg_catalog.numeric', boolean: '::bool' };
const kinds: Readonly<Record<JsonKind, string>> = { text: 'string', number: 'number', boolean: 'boolean' };

/** Type of the parameter of a path: a list of texts. */
const pathNative = 'pg_catalog.text[]';

/** That of PostgreSQL. */
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
