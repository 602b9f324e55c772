import type { Diagnostic } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import type { AccessClass, JsonValue } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import { checkDocuments, type DocumentSource } from '../documents/check-documents.ts';
import type { Examples } from '../examples.ts';
import { problem } from '../extensions/files.ts';
import { grantRoutes } from '../extensions/grant-routes.ts';
import { roleNames } from '../extensions/read-routes.ts';
import { emitGraphql } from '../graphql/index.ts';
import { emitModel } from '../model/index.ts';
import { emitOpenApi } from '../openapi/index.ts';
import { resolveApi } from '../passes/resolve-api.ts';
import { roleViewOf } from '../role-view/build-role-view.ts';
import { checkGraphqlNames } from '../rules/graphql-names.ts';
import { checkReferences } from '../rules/references.ts';
import type { ReadRoutes } from './custom-routes.ts';
import { type ModelData, modelData } from './model-data.ts';

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
  readonly documents: readonly DocumentSource[];
  readonly examples: Examples;
}

/**
 * Compiles a schema for a server that runs: the same as `compile`, as data instead of files. Its descriptions are made
 * only when they are asked for.
 */
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
