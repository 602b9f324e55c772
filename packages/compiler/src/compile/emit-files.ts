import { type AccessClass, classFiles } from '@tablewright/runtime/language';
import type { Api, ApiCollection } from '../api.ts';
import { createFactsOfTwo } from '../cache/same.ts';
import { emitClient } from '../client/index.ts';
import type { CheckedOperation } from '../documents/check-documents.ts';
import { printNodes } from '../documents/print-nodes.ts';
import { emitAccess } from '../emit/access.ts';
import { emitCollection, emitEnums, indexCollections } from '../emit/collection.ts';
import { emitExtension, emitExtensions, emitExtensionTypes } from '../emit/extensions.ts';
import { type GeneratedFile, longFile } from '../emit/generated-file.ts';
import { emitRoutes } from '../emit/routes.ts';
import { emitFingerprint, emitFunctions, emitMain, emitManifest, emitServer, emitServerTypes } from '../emit/server.ts';
import type { Render } from '../emit/templates.ts';
import type { ExtensionSource } from '../extensions/files.ts';
import { listExtensions, listedFile, printListed } from '../extensions/listed.ts';
import type { TypedRoute } from '../extensions/type-routes.ts';
import { graphqlParts } from '../graphql/index.ts';
import { modelParts } from '../model/index.ts';
import { openApiParts } from '../openapi/index.ts';
import { type ClassDocument, printClassDocuments } from '../print/class-document.ts';
import { printJson } from '../print/json.ts';
import { roleViewOf } from '../role-view/build-role-view.ts';
import type { RoleView } from '../role-view/role-view.ts';

export function emitCollections(api: Api, render: Render): readonly GeneratedFile[] {
  const index = indexCollections(api);
  const emitOne = (collection: ApiCollection): string => emitCollection(collection, index, render);
  return [
    ...api.collections.map((collection) => file(`collections/${collection.names.file}.d.ts`, emitOne(collection))),
    ...(api.enums ? [file('enums.d.ts', emitEnums(api.enums, render))] : []),
  ];
}

/** Additions of a project to its database's model. */
interface Additions {
  readonly extensions: readonly ExtensionSource[];
  /** The routes of the extensions, as these say who may call them. */
  readonly routes: readonly TypedRoute[];
  /** GraphQL operations that are known beforehand. */
  readonly operations: readonly CheckedOperation[];
}

/** Prints what a server is made of; `collections` are the files that are printed already. Not sorted. */
export function emitServerFiles(
  api: Api,
  { extensions, routes, operations }: Additions,
  collections: readonly GeneratedFile[],
  render: Render,
): readonly GeneratedFile[] {
  const byName = new Map(api.collections.map((collection) => [collection.descriptor.name, collection]));
  return [
    ...collections,
    ...api.collections.map((collection) =>
      file(`routes/${collection.names.file}.js`, emitRoutes(collection, api.dialect, render)),
    ),
    ...api.access.map((access) => file(`access/${access.access.name}.js`, emitAccess(access, byName, render))),
    file('fingerprint.js', emitFingerprint(api, render)),
    ...(api.functions ? [file('functions.js', emitFunctions(api, render))] : []),
    file('extension.js', emitExtension(render)),
    file('extension.d.ts', emitExtensionTypes(api, render)),
    ...(extensions.length > 0
      ? [
          file('extensions.js', emitExtensions(api, extensions, render)),
          file(listedFile, printListed(listExtensions(extensions, routes))),
        ]
      : []),
    ...(operations.length > 0
      ? [
          file('graphql/documents.json', emitDocuments(operations)),
          file('graphql/operations.json', emitOperations(operations)),
          ...printNodes(operations),
        ]
      : []),
    file('server.js', emitServer(api, { extended: extensions.length > 0, documented: operations.length > 0 }, render)),
    file('server.d.ts', emitServerTypes(render)),
    file('main.js', emitMain(render)),
    // Node takes the files as ES modules in every project.
    file('package.json', printJson({ private: true, type: 'module' })),
  ];
}

/** Adds what the files were made by and from, and sorts all by path. */
export function withManifest(
  api: Api,
  files: readonly GeneratedFile[],
  sources?: Readonly<Record<string, string>>,
): readonly GeneratedFile[] {
  return [...files, file('manifest.json', emitManifest(api, sources))].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Documents by role and name, with the place that sends each. */
function emitOperations(operations: readonly CheckedOperation[]): string {
  const order = ({ role, name }: CheckedOperation): string => `${role} ${name}`;
  const sorted = operations.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
  return printJson(
    sorted.map(({ name, role, accessClass, scope, hash }) => ({ name, role, accessClass, scope, hash })),
  );
}

/** The texts of operations by their hashes; roles that ask the same share one. */
function emitDocuments(operations: readonly CheckedOperation[]): string {
  const texts = new Map(operations.map(({ hash, text }) => [hash, text]));
  return printJson(Object.fromEntries([...texts].sort(([a], [b]) => (a < b ? -1 : 1))));
}

export function emitClients(
  api: Api,
  render: Render,
  classes: readonly string[] | 'all' = 'all',
): readonly GeneratedFile[] {
  const requested = api.access.filter(({ access }) => classes === 'all' || classes.includes(access.name));
  return requested.flatMap(({ access }) => emitClient(api, access, render, viewOfClass(api, access)));
}

/** Descriptions of the API for access classes, most of all output; printed when they are written or asked for. */
export function emitDescriptions(api: Api): readonly GeneratedFile[] {
  // Administrators have most lines, which are named for all others only.
  const ordered = api.access.toSorted((a, b) => Number(b.access.admin) - Number(a.access.admin));
  const documents = (partsOf: PartsOf): readonly ClassDocument[] =>
    ordered.map(({ access }) => ({
      name: access.name,
      parts: partsOf(api, access, viewOfClass(api, access)),
    }));
  const json = { sign: '//', before: '' } as const;
  const sdl = { sign: '#', before: '\n' } as const;
  return [
    longFile(classFiles.openapi, () => printClassDocuments(documents(openApiParts), json)),
    longFile(classFiles.model, () =>
      printClassDocuments(
        documents((_, _access, view) => modelParts(api, view)),
        json,
      ),
    ),
    ...(api.graphql ? [longFile(classFiles.graphql, () => printClassDocuments(documents(graphqlParts), sdl))] : []),
  ];
}

type PartsOf = typeof openApiParts;

const views = createFactsOfTwo<Api, AccessClass, RoleView>();

function viewOfClass(api: Api, access: AccessClass): RoleView {
  return views(api, access, () => roleViewOf(api, access));
}

function file(path: string, contents: string): GeneratedFile {
  return { path, contents };
}
