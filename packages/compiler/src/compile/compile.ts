import type { Diagnostic } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import type { Api, Examples } from '../api.ts';
import type { MemoCache } from '../cache/memo-cache.ts';
import type { ClientPackages } from '../client/package-name.ts';
import { checkDocuments } from '../documents/check-documents.ts';
import type { GeneratedFile } from '../emit/generated-file.ts';
import { compileTemplates, TemplateError } from '../emit/templates.ts';
import { checkExtensions, hookedCollections } from '../extensions/check-extensions.ts';
import type { ExtensionSource, ModuleSource } from '../extensions/files.ts';
import { readRoutes, roleNames } from '../extensions/read-routes.ts';
import { grantRoutes, typeRoutes } from '../extensions/type-routes.ts';
import { resolveApi } from '../passes/resolve-api.ts';
import { checkClasses, checkClientNames } from '../rules/client-names.ts';
import { checkGraphqlNames } from '../rules/graphql-names.ts';
import { checkReferences } from '../rules/references.ts';
import { type ModelData, modelData } from './compile-model.ts';
import { emitClients, emitCollections, emitDescriptions, emitServerFiles, withManifest } from './emit-files.ts';

/** Options of the compiler beside the schema. */
export interface CompileOptions {
  /** Texts of the templates by file name (`server.hbs`): those delivered, or the project's own in their place. */
  readonly templates: ReadonlyMap<string, string>;
  /** The project's own code that the server runs. Default: none. */
  readonly extensions?: readonly ExtensionSource[];
  /** Files of the project that this code imports, for types of its routes. Default: none. */
  readonly modules?: readonly ModuleSource[];
  /** Files of GraphQL documents that roles ask. Default: none. */
  readonly documents?: readonly ModuleSource[];
  /** Memory of a process that compiles repeatedly. Default: no earlier compilation is known. */
  readonly memoCache?: MemoCache;
  /** Requests and answers that were recorded. Default: none. */
  readonly examples?: Examples;
  /** Folder of the generated files from the project's folder on. Default: `generated`. */
  readonly output?: string;
  /** Names of client packages. Default: `platform-client-{class}`. */
  readonly clientPackages?: ClientPackages;
  /** Make only the clients of these access classes. Default: make every file. */
  readonly clientsOf?: readonly string[] | 'all';
  /** Digests of configuration and rules, which `manifest.json` lists. Default: none. */
  readonly sources?: Readonly<Record<string, string>>;
  /** Receives descriptions, which may be written while other files are being made. Default: no receiver. */
  readonly described?: (file: GeneratedFile) => void;
}

/** Result of a compilation. `files` is empty if a diagnostic is an error; then nothing must be written. */
export interface CompileResult {
  /** Sorted by path; the same for the same schema and templates, on every machine. */
  readonly files: readonly GeneratedFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly summary: CompileSummary;
  /** The same facts for a server that does not read the files; absent without files. */
  readonly model?: ModelData;
}

/** Counts of a compilation. */
export interface CompileSummary {
  readonly collections: number;
  readonly fields: number;
  readonly relations: number;
  readonly routes: number;
  readonly accessClasses: number;
  readonly files: number;
}

/** Compiles a schema to the files of a typed API server. Pure: no I/O, no clock, no randomness. */
export function compile(source: Schema, options: CompileOptions): CompileResult {
  const schema = options.memoCache?.recallSchema(source) ?? source;
  const diagnostics = checkReferences(schema);
  if (diagnostics.length > 0) return failed(diagnostics);
  const { extensions = [], documents = [], clientPackages, clientsOf } = options;
  try {
    const render = compileTemplates(options.templates);
    const { heads, diagnostics: complaints } = readRoutes(roleNames(schema), extensions);
    const resolved = resolveApi(schema, heads);
    const api = options.memoCache?.recall(resolved) ?? resolved;
    const problems = [
      ...checkGraphqlNames(api),
      ...checkExtensions(api, extensions),
      ...complaints,
      ...(clientPackages === undefined ? [] : checkClientNames(api, clientPackages)),
      ...checkClasses(api, clientsOf),
    ];
    if (problems.some(({ severity }) => severity === 'error')) return failed(problems);
    const requested = api.graphql && clientsOf === undefined ? documents : [];
    const { operations, diagnostics: faults } = checkDocuments(api, requested);
    if (faults.length > 0) return failed(faults);
    // Clients need them only for the types of routes.
    const collections = clientsOf !== undefined && heads.length === 0 ? [] : emitCollections(api, render);
    const typed = typeRoutes(heads, filesOf(options, collections));
    if (typed.diagnostics.length > 0) return failed(typed.diagnostics);
    const hooked = hookedCollections(api, extensions);
    const { examples = {} } = options;
    const whole = {
      ...api,
      customRoutes: grantRoutes(api, typed.routes),
      hooked,
      examples,
      ...(clientPackages && { clientPackages: clientPackages.name }),
    };
    if (clientsOf !== undefined) {
      const files = emitClients(whole, render, clientsOf);
      return { files, diagnostics: problems, summary: summarize(whole, files.length) };
    }
    const descriptions = emitDescriptions(whole);
    for (const file of descriptions) options.described?.(file);
    const additions = { extensions, routes: typed.routes, operations };
    const server = [...emitServerFiles(whole, additions, collections, render), ...emitClients(whole, render)];
    const files = withManifest(whole, [...server, ...descriptions], options.sources);
    return {
      files,
      diagnostics: problems,
      summary: summarize(whole, files.length),
      model: modelData(whole, operations),
    };
  } catch (error) {
    if (error instanceof TemplateError) return failed([error.diagnostic]);
    throw error;
  }
}

function failed(diagnostics: readonly Diagnostic[]): CompileResult {
  return { files: [], diagnostics, summary: noSummary };
}

/** Files that types of routes can be made of, by paths from the project's folder on. */
function filesOf(
  { extensions = [], modules = [], output = 'generated' }: CompileOptions,
  collections: readonly GeneratedFile[],
): readonly ModuleSource[] {
  const generated = collections.map(({ path, contents }) => ({ path: `${output}/${path}`, text: contents }));
  return [...modules, ...extensions, ...generated];
}

const noSummary: CompileSummary = { collections: 0, fields: 0, relations: 0, routes: 0, accessClasses: 0, files: 0 };

function summarize({ collections, access, customRoutes }: Api, files: number): CompileSummary {
  const sum = (countOf: (collection: Api['collections'][number]) => number): number =>
    collections.reduce((total, collection) => total + countOf(collection), 0);
  return {
    collections: collections.length,
    fields: sum(({ fields }) => fields.length),
    relations: sum(({ relations }) => relations.length),
    routes: sum(({ operations }) => operations.length) + customRoutes.length,
    accessClasses: access.length,
    files,
  };
}
