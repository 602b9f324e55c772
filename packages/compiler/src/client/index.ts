/** Api → the client of one access class: a package of declarations, with what its OpenAPI document shows. */
import type { AccessClass } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import type { GeneratedFile } from '../emit/generated-file.ts';
import { type Render, renderModule } from '../emit/templates.ts';
import {
  type DeclaredMember,
  declareInterface,
  member,
  namesIn,
  printDeclarations,
  type TypeDeclaration,
} from '../print/declarations.ts';
import { importTypes, naturalOrder, printImports } from '../print/imports.ts';
import { printJson } from '../print/json.ts';
import { productVersion } from '../print/libraries.ts';
import { commentText } from '../print/text.ts';
import { generic, type Type } from '../print/type.ts';
import { roleViewOf } from '../role-view/build-role-view.ts';
import type { RoleView } from '../role-view/role-view.ts';
import { type ClientCollection, indexLibraries } from './client-collections.ts';
import { declareEnums, enumsIn, indexTypes, printCollection } from './collection.ts';
import {
  functionMembers,
  ownMethods,
  type Parts,
  partsOf,
  permissionsOf,
  printPermissions,
  routeMembers,
  uploadMethods,
} from './members.ts';
import { clientName, defaultPackages } from './package-name.ts';
import { literals } from './values.ts';

/** The files of the client of a class, below `client/<class>/`. */
export function emitClient(
  api: Api,
  access: AccessClass,
  render: Render,
  view: RoleView = roleViewOf(api, access),
): readonly GeneratedFile[] {
  const parts = partsOf(api, access, view);
  const { surface: collections } = parts;
  const files = indexTypes(collections, './');
  const enums = enumsIn(collections);
  const enumText = { imports: '', declarations: printDeclarations(declareEnums(enums)) };
  const summary = `Client for ${access.roles.join(', ')}.`;
  const about = commentText(summary);
  const file = (path: string, contents: string): GeneratedFile => ({ path: `client/${access.name}/${path}`, contents });
  return [
    file('package.json', printPackage(access, api.clientPackages)),
    file('index.js', render('client', { about, abilities: printPermissions(parts) })),
    file('index.d.ts', render('clientTypes', { about, ...printIndex(parts) })),
    ...(enums.length === 0 ? [] : [file('enums.d.ts', renderModule(render, 'clientCollection', summary, enumText))]),
    ...[...collections.values()].map((collection) =>
      file(
        `collections/${collection.names.file}.d.ts`,
        renderModule(render, 'clientCollection', summary, printCollection(collection, collections, files)),
      ),
    ),
  ];
}

/** The manifest of a client package. */
function printPackage({ name }: AccessClass, packages = defaultPackages): string {
  return printJson({
    name: clientName(packages, name),
    version: productVersion,
    description: `Typed client of the API for ${name}.`,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.19' },
    main: './index.js',
    types: './index.d.ts',
    exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
    dependencies: { '@tablewright/client': productVersion },
  });
}

function printIndex(parts: Parts): {
  readonly imports: string;
  readonly declarations: string;
  readonly exported: string;
} {
  const { surface: collections, routes } = parts;
  const all = [...collections.values()];
  const facts = all.map(({ view, names }) => member(view.name, names.facts));
  const called = functionMembers(parts.functions, collections);
  const types: readonly TypeDeclaration[] = [
    declareInterface('Schema', 'The facts of every collection that is seen.', facts),
    ...(routes.length === 0
      ? []
      : [declareInterface('Routes', "Routes of the server's own code.", routeMembers(routes))]),
    ...(called.length === 0 ? [] : [declareInterface('Functions', "Functions of the server's database.", called)]),
    declareInterface('Client', 'Operations of the client; everything else does not exist.', membersOf(parts)),
  ];
  // The template names the options of `createClient`.
  const used = namesIn(types).add('ClientOptions');
  return {
    imports: printImports(importTypes(used, indexLibraries, indexTypes(collections, './collections/'))),
    declarations: printDeclarations(types),
    exported: [
      ...all.map(({ names }) => `./collections/${names.file}.js`),
      ...(enumsIn(collections).length === 0 ? [] : ['./enums.js']),
    ]
      .sort(naturalOrder)
      .map((path) => `export type * from '${path}';\n`)
      .join(''),
  };
}

/** Handlers that a class has as a whole; the model has no types of its own. */
const handlerTypes: Readonly<Record<string, Type>> = {
  auth: 'AuthHandler',
  assets: 'AssetsHandler',
  graphql: 'GraphqlHandler',
  collections: generic('ItemHandler', 'JsonObject'),
  fields: generic('FieldsHandler', 'JsonObject'),
  relations: generic('RelationsHandler', 'JsonObject'),
};

function membersOf(parts: Parts): readonly DeclaredMember[] {
  const { items, singletons, system, handlers, routes, utils } = parts;
  const collections = (name: string, note: string, ones: readonly ClientCollection[]): readonly DeclaredMember[] => {
    const names = literals(ones.map(({ view }) => view.name));
    return ones.length === 0 ? [] : [member(name, generic('Collection', 'Schema', names), [note])];
  };
  const has = (name: string): boolean => handlers.includes(name);
  return [
    ...collections('items', 'The items of a collection.', items),
    ...collections('singleton', 'The item of a collection that has one.', singletons),
    ...system.map(([name, collection]) => member(name, systemType(name, collection, parts))),
    ...Object.entries(handlerTypes).flatMap(([name, type]) => (has(name) ? [member(name, type)] : [])),
    member('server', 'ServerHandler'),
    ...(utils.length > 0 ? [member('utils', generic('Pick', 'UtilsHandler', literals(utils)))] : []),
    ...(parts.functions.length > 0
      ? [member('call', generic('CallFunction', 'Functions'), ["Calls a function of the server's database."])]
      : []),
    ...(routes.length > 0
      ? [member('route', generic('CallRoute', 'Routes'), ["Calls a route of the server's own code."])]
      : []),
  ];
}

function systemType(name: string, collection: ClientCollection | null, { invites, comments }: Parts): Type {
  const handler = collection === null ? 'unknown' : generic('Handler', 'Schema', collection.names.facts);
  const item = collection?.view.readable === true ? collection.names.item : 'null';
  if (name === 'activity' && collection !== null && comments.length > 0) {
    return generic('WithComments', handler, item, literals(comments));
  }
  if (name === 'files' && collection !== null && uploadMethods(collection).length > 0) {
    return generic('WithUploads', 'Schema', collection.names.facts, literals(uploadMethods(collection)));
  }
  if (name !== 'users') return handler;
  const isRead = collection !== null && permissionsOf(collection).includes('read');
  const methods = generic(
    'Pick',
    generic('Methods', 'Schema', collection?.names.facts ?? 'never'),
    literals(ownMethods(collection)),
  );
  return generic('OwnUser', handler, isRead ? methods : 'OwnKey', literals(invites));
}
