import type { AccessClass } from '@platform/runtime/contract';
import type { Api, ApiCollection } from '../api.ts';
import { emitClient } from '../client/index.ts';
import type { CheckedOperation } from '../documents/check-documents.ts';
import { printNodes } from '../documents/print-nodes.ts';
import { listExtensions, listedFile, printListed } from '../extensions/listed.ts';
import type { ExtensionSource } from '../extensions/source.ts';
import type { TypedRoute } from '../extensions/type-routes.ts';
import { printGraphql } from '../graphql/index.ts';
import type { Archive } from '../memory/archive.ts';
import { printModel } from '../model/index.ts';
import { printOpenApi } from '../openapi/index.ts';
import { type View, viewOf } from '../openapi/view.ts';
import { printJson } from '../print/json.ts';
import { emitAccess } from './access.ts';
import { emitCollection, indexCollections } from './collection.ts';
import { emitExtensions, emitExtensionTypes } from './extensions.ts';
import { type GeneratedFile, longFile } from './generated-file.ts';
import { emitManifest } from './manifest.ts';
import { emitRoutes } from './routes.ts';
import { emitFingerprint, emitMain, emitServer } from './server.ts';
import type { Render } from './templates.ts';

/** Prints the files of collections, which hold their types. */
export function emitCollections(api: Api, render: Render, archive: Archive | null): readonly GeneratedFile[] {
  const index = indexCollections(api);
  const emitOne = (one: ApiCollection): string => emitCollection(one, index, render, archive);
  return api.collections.map((one) => file(`collections/${one.names.file}.ts`, emitOne(one)));
}

/** What a project adds to what its database says. */
export interface Additions {
  readonly extensions: readonly ExtensionSource[];
  /** The routes of the extensions, as these say who may call them. */
  readonly routes: readonly TypedRoute[];
  /** GraphQL operations that are known beforehand. */
  readonly operations: readonly CheckedOperation[];
  /** Whether somebody else prints the descriptions. */
  readonly undescribed: boolean;
}

/** Prints the files of an API, sorted by path; `collections` are those that are printed already. */
export function emitFiles(
  api: Api,
  { extensions, routes, operations, undescribed }: Additions,
  collections: readonly GeneratedFile[],
  render: Render,
  archive: Archive | null,
): readonly GeneratedFile[] {
  const views: Views = new Map(api.access.map(({ access }) => [access.name, viewOf(api, access)]));
  const files: readonly GeneratedFile[] = [
    ...collections,
    ...api.collections.map((one) => file(`routes/${one.names.file}.ts`, emitRoutes(one, render, archive))),
    ...api.access.map((one) => file(`access/${one.access.name}.ts`, emitAccess(one, render))),
    ...api.access.flatMap(({ access }) => emitForClients(api, access, viewFor(api, access, views), render, archive)),
    ...(undescribed ? [] : emitDescriptions(api, archive, views)),
    file('fingerprint.ts', emitFingerprint(api, render)),
    file('extension.ts', emitExtensionTypes(api, render)),
    ...(extensions.length > 0
      ? [
          file('extensions.ts', emitExtensions(api, extensions, render)),
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
    file('server.ts', emitServer(api, { extended: extensions.length > 0, documented: operations.length > 0 }, render)),
    file('main.ts', emitMain(render)),
  ];
  const planned = operations.length > 0 ? [plannedFile] : [];
  const others = undescribed ? descriptionPaths(api) : [];
  const paths = [...files.map(({ path }) => path), ...planned, ...others].sort();
  return [...files, file('manifest.json', emitManifest(api, paths))].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The statements of operations; whoever writes the files makes it, because statements are planned by the runtime. */
export const plannedFile = 'graphql/documents.sql';

/** Who asks which operation where, by role and name. */
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

/** What access classes see, by their names. */
type Views = ReadonlyMap<string, View>;

function viewFor(api: Api, access: AccessClass, views: Views): View {
  return views.get(access.name) ?? viewOf(api, access);
}

/** Prints what access classes are told of the API over REST: most of all output, and on its own. Not sorted. */
export function emitDescriptions(
  api: Api,
  archive: Archive | null,
  views: Views = new Map(),
): readonly GeneratedFile[] {
  const described = api.access.flatMap(({ access }) => {
    const view = viewFor(api, access, views);
    return [
      longFile(modelPath(access), printModel(api, view, archive)),
      longFile(openApiPath(access), printOpenApi(api, access, view, archive)),
    ];
  });
  return [...described, longFile(openApiPath(null), printOpenApi(api, null, viewOf(api, null), archive))];
}

/** The paths of the same. */
export function descriptionPaths({ access }: Api): readonly string[] {
  return [...access.flatMap((one) => [modelPath(one.access), openApiPath(one.access)]), openApiPath(null)];
}

function modelPath({ name }: AccessClass): string {
  return `model/${name}.json`;
}

/** With null, of the document of everything. */
function openApiPath(access: AccessClass | null): string {
  return `openapi/${access?.name ?? 'full'}.json`;
}

/** What else an access class is told of the API. */
function emitForClients(
  api: Api,
  access: AccessClass,
  view: View,
  render: Render,
  archive: Archive | null,
): readonly GeneratedFile[] {
  return [
    ...(api.graphql ? [longFile(`graphql/${access.name}.graphql`, printGraphql(api, access, view, archive))] : []),
    ...emitClient(api, access, render, view, archive),
  ];
}

function file(path: string, contents: string): GeneratedFile {
  return { path, contents };
}
