/** What the thread that serves and the one that compiles say to each other. */
import type { DocumentSource, Examples, ExtensionSource, ModelData, ModuleSource } from '@platform/compiler';
import type { PlatformConfig } from '@platform/introspect';
import type { Schema } from '@platform/introspect/schema';
import type { ModelRows } from '@platform/runtime';

/** All that the compiling thread needs to know of a project; plain data. */
export interface RecompileSources {
  readonly config: PlatformConfig;
  /** As it was compiled before: the tables of the database are not read again. */
  readonly schema: Schema;
  readonly templates: ReadonlyMap<string, string>;
  readonly extensions: readonly ExtensionSource[];
  readonly modules: readonly ModuleSource[];
  readonly documents: readonly DocumentSource[];
  readonly examples: Examples;
  /** Folder of the generated files from the project's folder on. */
  readonly output: string;
}

/** What is asked of the compiling thread; every question is answered once, by its number. */
export type Question =
  | { readonly kind: 'compile'; readonly number: number; readonly rows: ModelRows }
  | {
      readonly kind: 'openapi' | 'graphql' | 'model';
      readonly number: number;
      /** The number of the question that compiled it. */
      readonly generation: number;
      readonly accessClass: string;
    };

/** What it answers. */
export type Reply =
  | { readonly kind: 'model'; readonly number: number; readonly model: ModelData }
  | { readonly kind: 'problems'; readonly number: number; readonly problems: readonly string[] }
  | { readonly kind: 'text'; readonly number: number; readonly text: string }
  | { readonly kind: 'failure'; readonly number: number; readonly message: string };
