import type { Diagnostic } from '@platform/introspect';
import type { Schema } from '@platform/introspect/schema';
import type { Api } from './api.ts';
import { emitFiles, type GeneratedFile } from './emit/emit-files.ts';
import { compileTemplates, TemplateError } from './emit/templates.ts';
import { checkExtensions } from './extensions/check-extensions.ts';
import type { ExtensionSource } from './extensions/source.ts';
import { resolveApi } from './passes/resolve-api.ts';
import { checkReferences } from './rules/references.ts';

/** What the compiler needs besides the schema. */
export interface CompileOptions {
  /** Texts of the templates by file name (`server.hbs`): those delivered, or the project's own in their place. */
  readonly templates: ReadonlyMap<string, string>;
  /** The project's own code that the server runs. Default: none. */
  readonly extensions?: readonly ExtensionSource[];
}

/** What a compilation made. Nothing is to be written when a diagnostic is an error; `files` is empty then. */
export interface CompileResult {
  /** Sorted by path; the same for the same schema and templates, on every machine. */
  readonly files: readonly GeneratedFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly summary: CompileSummary;
}

/** What was compiled, counted. */
export interface CompileSummary {
  readonly collections: number;
  readonly fields: number;
  readonly relations: number;
  readonly routes: number;
  readonly accessClasses: number;
  readonly files: number;
}

/** Compiles a schema to the files of a typed API server. Pure: no I/O, no clock, no randomness. */
export function compile(schema: Schema, { templates, extensions = [] }: CompileOptions): CompileResult {
  const diagnostics = checkReferences(schema);
  if (diagnostics.length > 0) return { files: [], diagnostics, summary: noSummary };
  try {
    const render = compileTemplates(templates);
    const api = resolveApi(schema);
    const problems = checkExtensions(api, extensions);
    if (problems.length > 0) return { files: [], diagnostics: problems, summary: noSummary };
    const files = emitFiles(api, extensions, render);
    return { files, diagnostics: [], summary: summarize(api, files) };
  } catch (error) {
    if (error instanceof TemplateError) return { files: [], diagnostics: [error.diagnostic], summary: noSummary };
    throw error;
  }
}

const noSummary: CompileSummary = { collections: 0, fields: 0, relations: 0, routes: 0, accessClasses: 0, files: 0 };

function summarize({ collections, access }: Api, files: readonly GeneratedFile[]): CompileSummary {
  const sum = (countOf: (collection: Api['collections'][number]) => number): number =>
    collections.reduce((total, collection) => total + countOf(collection), 0);
  return {
    collections: collections.length,
    fields: sum(({ fields }) => fields.length),
    relations: sum(({ relations }) => relations.length),
    routes: sum(({ operations }) => operations.length),
    accessClasses: access.length,
    files: files.length,
  };
}
