/** Makes an API, equal to that of generated files, from the model that the compiling thread has sent. */
import type { ModelData } from '@tablewright/compiler';
import { type CompiledApi, compiledApi } from '@tablewright/runtime';
import { contract, type JsonValue, type ModelDocument, type Route, readOnce } from '@tablewright/runtime/language';

type Describe = (kind: 'openapi' | 'graphql' | 'model', accessClass: string) => Promise<string>;

/** Links a model; parts that do not depend on roles and rules are those of the generated API. */
export function linkModel(
  model: ModelData,
  generated: Pick<CompiledApi, 'dialect' | 'extensions' | 'graphqlDocuments'>,
  describe: Describe,
): CompiledApi {
  const collections = new Map(model.collections.map((collection) => [collection.name, collection]));
  const { dialect, extensions, graphqlDocuments } = generated;
  return compiledApi({
    contract,
    dialect,
    collections: model.collections,
    access: model.access,
    routes: model.routes.flatMap(({ collection: name, ...route }): readonly Route[] => {
      const collection = collections.get(name);
      return collection === undefined ? [] : [{ ...route, collection }];
    }),
    fingerprint: model.fingerprint,
    ...(model.permissionsDigest !== undefined && { permissionsDigest: model.permissionsDigest }),
    ...(model.modelDigest !== undefined && { modelDigest: model.modelDigest }),
    ...(model.functions !== undefined && { functions: model.functions }),
    ...(model.rowSecurity !== undefined && { rowSecurity: model.rowSecurity }),
    ...(model.caching && { caching: model.caching }),
    ...(extensions !== undefined && { extensions, customRoutes: model.customRoutes }),
    model: readOnce(async (accessClass) => {
      const model: ModelDocument = JSON.parse(await describe('model', accessClass));
      return model;
    }),
    openapi: readOnce(async (accessClass) => {
      const document: JsonValue = JSON.parse(await describe('openapi', accessClass));
      return document;
    }),
    ...(model.graphql && { graphql: (accessClass: string) => describe('graphql', accessClass) }),
    ...(graphqlDocuments !== undefined && { graphqlDocuments, graphqlOperations: async () => model.operations }),
  });
}
