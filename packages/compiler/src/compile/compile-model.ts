import type { Diagnostic } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import {
  type AccessClass,
  type CompiledApi,
  type CustomRoute,
  itemRoutes,
  type JsonValue,
  type KnownOperation,
  type Route,
} from '@tablewright/runtime/language';
import type { Api, ApiCollection, Examples } from '../api.ts';
import { createFacts } from '../cache/same.ts';
import { checkDocuments } from '../documents/check-documents.ts';
import { hasRoutes, writtenActions } from '../emit/routes.ts';
import { compileTemplates } from '../emit/templates.ts';
import { type ExtensionSource, type ModuleSource, problem } from '../extensions/files.ts';
import { type RouteHead, readRoutes, roleNames } from '../extensions/read-routes.ts';
import { grantRoutes, type TypedRoute, typeRoutes } from '../extensions/type-routes.ts';
import { emitGraphql } from '../graphql/index.ts';
import { emitModel } from '../model/index.ts';
import { emitOpenApi } from '../openapi/index.ts';
import { resolveApi } from '../passes/resolve-api.ts';
import { roleViewOf } from '../role-view/build-role-view.ts';
import { checkGraphqlNames } from '../rules/graphql-names.ts';
import { checkReferences } from '../rules/references.ts';
import { emitCollections } from './emit-files.ts';

/** A model without files. */
export interface CompiledModel {
  readonly data: ModelData;
  /** The OpenAPI document of an access class; undefined for any other name. */
  openapi(accessClass: string): JsonValue | undefined;
  /** Answers of the model endpoints to an access class; undefined for an unknown class. */
  model(accessClass: string): JsonValue | undefined;
  /** The GraphQL schema of an access class as text; undefined for any other name. */
  graphql(accessClass: string): string | undefined;
}

/** The code of a project names roles that must stay. */
function checkRoles(knownRoles: ReadonlySet<string>, { heads }: ReadRoutes): readonly Diagnostic[] {
  return heads.flatMap(({ roles, place: location }) =>
    roles
      .filter((role) => !knownRoles.has(role))
      .map((role) => problem('extension-route', location, `The role "${role}" does not exist.`, 'A route names it.')),
  );
}

/** Options of the compiler beside the schema. */
export interface CompileModelOptions {
  readonly routes: ReadRoutes;
  readonly documents: readonly ModuleSource[];
  readonly examples: Examples;
}

/** Compiles a schema for a running server: as `compile`, but to data. Descriptions are made when asked for. */
export function compileModel(
  schema: Schema,
  { routes, documents, examples }: CompileModelOptions,
): { readonly model: CompiledModel } | { readonly diagnostics: readonly Diagnostic[] } {
  const broken = checkReferences(schema);
  if (broken.length > 0) return { diagnostics: broken };
  const plain = resolveApi(schema, routes.heads);
  const problems = [...checkGraphqlNames(plain), ...checkRoles(roleNames(schema), routes)];
  if (problems.length > 0) return { diagnostics: problems };
  const { operations, diagnostics } = checkDocuments(plain, plain.graphql ? documents : []);
  if (diagnostics.length > 0) return { diagnostics };
  const api: Api = { ...plain, customRoutes: grantRoutes(plain, routes.routes), examples };
  const classOf = (name: string): AccessClass | undefined =>
    api.access.find(({ access }) => access.name === name)?.access;
  return {
    model: {
      data: modelData(api, operations),
      model(name) {
        const access = classOf(name);
        return access && emitModel(api, roleViewOf(api, access));
      },
      openapi(name) {
        const access = classOf(name);
        return access === undefined ? undefined : emitOpenApi(api, access, roleViewOf(api, access));
      },
      graphql(name) {
        const access = api.graphql ? classOf(name) : undefined;
        return access === undefined ? undefined : emitGraphql(api, access, roleViewOf(api, access));
      },
    },
  };
}

/** The routes of a project's own code with their types, which do not depend on anybody's rules. */
export interface ReadRoutes {
  readonly heads: readonly RouteHead[];
  readonly routes: readonly TypedRoute[];
}

interface CustomRouteSources {
  readonly templates: ReadonlyMap<string, string>;
  readonly extensions: readonly ExtensionSource[];
  readonly modules: readonly ModuleSource[];
  /** Folder of the generated files from the project's folder on. */
  readonly output: string;
}

/** Reads them once for every compilation that follows. Takes a second where there are any. */
export function readCustomRoutes(schema: Schema, sources: CustomRouteSources): ReadRoutes {
  const { extensions, modules, output } = sources;
  const { heads } = readRoutes(roleNames(schema), extensions);
  if (heads.length === 0) return { heads, routes: [] };
  const collections = emitCollections(resolveApi(schema, heads), compileTemplates(sources.templates));
  const generated = collections.map(({ path, contents }) => ({ path: `${output}/${path}`, text: contents }));
  return { heads, routes: typeRoutes(heads, [...modules, ...extensions, ...generated]).routes };
}

/** Facts that a compiled API has as data. */
type PlainFacts =
  | 'collections'
  | 'access'
  | 'fingerprint'
  | 'permissionsDigest'
  | 'modelDigest'
  | 'functions'
  | 'rowSecurity'
  | 'caching';

/** The facts of generated files, as plain data that threads can send each other. */
export interface ModelData extends Pick<CompiledApi, PlainFacts> {
  readonly routes: readonly (Omit<Route, 'collection'> & { readonly collection: string })[];
  readonly customRoutes: readonly CustomRoute[];
  readonly operations: readonly KnownOperation[];
  readonly graphql: boolean;
}

const routesOf = createFacts<ApiCollection, ModelData['routes']>();

function findRoutes(collection: ApiCollection): ModelData['routes'] {
  if (!hasRoutes(collection)) return [];
  const { descriptor } = collection;
  return itemRoutes(descriptor, ...writtenActions(collection)).map((route) => ({
    ...route,
    collection: descriptor.name,
  }));
}

/** Gathers it of an API whose routes are resolved; `operations` are those of the project's documents. */
export function modelData(api: Api, operations: readonly KnownOperation[]): ModelData {
  return {
    collections: api.collections.map(({ descriptor }) => descriptor),
    access: api.access.map(({ access }) => access),
    routes: api.collections.flatMap((collection) => routesOf(collection, () => findRoutes(collection))),
    // As plain data, which holds nothing of the schema.
    fingerprint: { ...api.fingerprint },
    ...(api.permissionsDigest !== undefined && { permissionsDigest: api.permissionsDigest }),
    ...(api.model !== undefined && { modelDigest: api.model.digest }),
    ...(api.functions && { functions: api.functions.map(({ descriptor }) => descriptor) }),
    ...(api.rowSecurity !== undefined && { rowSecurity: api.rowSecurity }),
    ...(api.caching && { caching: api.caching }),
    customRoutes: api.customRoutes,
    operations: operations.map(({ name, role, accessClass, scope, hash }) => ({
      name,
      role,
      accessClass,
      scope,
      hash,
    })),
    graphql: api.graphql,
  };
}
