import { readdirSync, readFileSync } from 'node:fs';
import type { Schema } from '@tablewright/introspect/schema';
import { type CompileResult, compile } from '../compile/compile.ts';

const folder = new URL('../../../../templates/', import.meta.url);

/** The templates of generated files in this repository, by file name. */
export const templates: ReadonlyMap<string, string> = new Map(
  readdirSync(folder).flatMap((name) =>
    name.endsWith('.hbs') ? [[name, readFileSync(new URL(name, folder), 'utf8')] as const] : [],
  ),
);

/** Compiles a schema with the templates of this repository. */
export function compileFixture(schema: Schema): CompileResult {
  return compile(schema, { templates });
}
