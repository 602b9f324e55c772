/** Messages between the serving thread and the compiling one. */
import type { DocumentSource, Examples, ExtensionSource, ModelData, ModuleSource } from '@tablewright/compiler';
import type { AnyCatalog, PermissionDocument, PlatformConfig } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import type { ModelRows } from '@tablewright/runtime';

/** All that the compiling thread needs to know of a project; plain data. */
export interface RecompileSources {
  readonly config: PlatformConfig;
  /** Content of the permissions file; compiled unless the permissions come from the tables. */
  readonly permissions: PermissionDocument;
  /** As it was compiled before. */
  readonly schema: Schema;
  readonly templates: ReadonlyMap<string, string>;
  readonly extensions: readonly ExtensionSource[];
  readonly modules: readonly ModuleSource[];
  readonly documents: readonly DocumentSource[];
  readonly examples: Examples;
  /** Folder of the generated files from the project's folder on. */
  readonly output: string;
}

/** Requests to the compiling thread; every one is answered once, by its number. */
export type Question =
  | {
      readonly kind: 'compile';
      readonly number: number;
      readonly rows: ModelRows;
      /**
       * The tables: as they were read now, or the number of an earlier request whose tables are used; 0 for
       * `RecompileSources.schema`.
       */
      readonly tables: AnyCatalog | number;
      /** The request whose answer is given again if its tables are the same; its rows were. */
      readonly unless: number | null;
    }
  | {
      readonly kind: 'openapi' | 'graphql' | 'model' | 'schema';
      readonly number: number;
      /** The number of the question that compiled it. */
      readonly apiVersion: number;
      readonly accessClass: string;
    };

/** Answers of the compiling thread. */
export type Reply =
  | { readonly kind: 'model'; readonly number: number; readonly model: ModelData }
  /** The tables are those that the question named by `unless` was about. */
  | { readonly kind: 'same'; readonly number: number }
  | { readonly kind: 'problems'; readonly number: number; readonly problems: readonly string[] }
  /** The tables that were meant are not known any more. */
  | { readonly kind: 'unknown'; readonly number: number }
  | { readonly kind: 'text'; readonly number: number; readonly text: string }
  | { readonly kind: 'failure'; readonly number: number; readonly message: string };
