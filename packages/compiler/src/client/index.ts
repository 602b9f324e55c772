/**
 * Api → the client of one access class: a package of declarations, with a script that states what the class may do.
 *
 * What is shown is what its OpenAPI document shows (`openapi/view.ts`), and by the same names.
 */
import type { AccessClass, CustomRoute } from '@platform/runtime/contract';
import type { Api } from '../api.ts';
import type { GeneratedFile } from '../emit/emit-files.ts';
import type { Render } from '../emit/templates.ts';
import { mayInvite } from '../openapi/account-paths.ts';
import { hasUsers } from '../openapi/auth-paths.ts';
import { productVersion } from '../openapi/version.ts';
import { type View, viewOf } from '../openapi/view.ts';
import type { Member, TypeDeclaration } from '../print/declaration.ts';
import { printDeclarations } from '../print/declarations.ts';
import { type Import, naturalOrder, printImports } from '../print/imports.ts';
import { printJson } from '../print/json.ts';
import { commentText } from '../print/text.ts';
import { leaves, type Type } from '../print/type.ts';
import { data, object, printOpen, type Value } from '../print/value.ts';
import { indexTypes, printCollection } from './collection.ts';
import { rightsOf } from './rights.ts';
import { routeMembers } from './route-types.ts';
import { type ClientCollection, member, type Surface, surfaceOf } from './surface.ts';
import { literals } from './values.ts';

/** The files of the client of a class, below `client/<class>/`. */
export function emitClient(
  api: Api,
  access: AccessClass,
  render: Render,
  view: View = viewOf(api, access),
): readonly GeneratedFile[] {
  const surface = surfaceOf(api, access, view);
  const files = indexTypes(surface);
  const about = commentText(`What ${access.roles.join(', ')} may do.`);
  const file = (path: string, contents: string): GeneratedFile => ({ path: `client/${access.name}/${path}`, contents });
  const parts = partsOf(api, access, surface);
  return [
    file('package.json', printPackage(access)),
    file('index.js', render('client', { about, abilities: printAbilities(abilitiesOf(parts)) })),
    file('index.d.ts', render('clientTypes', { about, ...printIndex(parts) })),
    ...[...surface.values()].map((one) =>
      file(
        `collections/${one.names.file}.d.ts`,
        render('clientCollection', { about, ...printCollection(one, surface, files) }),
      ),
    ),
  ];
}

/** The package of a client. Its name is free for whoever publishes it. */
function printPackage({ name }: AccessClass): string {
  return printJson({
    name: `platform-client-${name.toLowerCase()}`,
    version: productVersion,
    description: `Typed client of the API for ${name}.`,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    main: './index.js',
    types: './index.d.ts',
    exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
    dependencies: { '@platform/client': productVersion },
  });
}

/** What a client consists of. */
interface Parts {
  readonly surface: Surface;
  readonly items: readonly ClientCollection[];
  readonly singletons: readonly ClientCollection[];
  readonly roles: ClientCollection | null;
  readonly users: { readonly collection: ClientCollection | null; readonly invites: readonly string[] } | null;
  readonly handlers: readonly string[];
  readonly routes: readonly CustomRoute[];
}

function partsOf(api: Api, access: AccessClass, surface: Surface): Parts {
  const usable = [...surface.values()].filter((one) => rightsOf(one).length > 0);
  const own = usable.filter(({ descriptor }) => descriptor.system !== true);
  const system = (name: string): ClientCollection | null => usable.find(({ view }) => view.name === name) ?? null;
  const known = hasUsers(api);
  const invites = access.admin || mayInvite(access) ? ['send', 'accept'] : ['accept'];
  return {
    surface,
    items: own.filter(({ view }) => !view.singleton),
    singletons: own.filter(({ view }) => view.singleton),
    roles: system('platform_roles'),
    users: known ? { collection: system('platform_users'), invites } : null,
    handlers: [...(known ? ['auth'] : []), ...(api.graphql ? ['graphql'] : [])],
    routes: api.customRoutes.filter((route) => route.access.includes(access.name)),
  };
}

function abilitiesOf({ items, singletons, roles, users, handlers, routes }: Parts): Value {
  const rights = (ones: readonly ClientCollection[]) => {
    const groups = [...Map.groupBy(ones, (one) => rightsOf(one).join()).values()];
    const listed = groups.map((same) => ({
      names: same.map(({ view }) => view.name),
      rights: same[0] === undefined ? [] : rightsOf(same[0]),
    }));
    return listed.length === 0 ? undefined : data(listed);
  };
  const some = (list: readonly string[]) => (list.length === 0 ? undefined : data(list));
  return object([
    ['items', rights(items)],
    ['singletons', rights(singletons)],
    ['roles', roles ? data(rightsOf(roles)) : undefined],
    ['users', users?.collection ? data(rightsOf(users.collection)) : undefined],
    ['me', users ? data(ownMethods(users.collection)) : undefined],
    ['invites', users ? data(users.invites) : undefined],
    ['handlers', some(handlers)],
    ['routes', some(routes.map(({ method, path }) => `${method} ${path}`))],
  ]);
}

function printAbilities(abilities: Value): string {
  return abilities.kind === 'object' && abilities.entries.length === 0 ? '{}' : printOpen(abilities, 0);
}

/** Everybody is somebody, and reads at least the own key. Who reads no users changes none either. */
function ownMethods(users: ClientCollection | null): readonly string[] {
  const rights = users === null ? [] : rightsOf(users);
  return ['read', ...(rights.includes('read') && rights.includes('update') ? ['update'] : [])];
}

function printIndex(parts: Parts): {
  readonly imports: string;
  readonly declarations: string;
  readonly exported: string;
} {
  const { surface, routes } = parts;
  const all = [...surface.values()];
  const facts = all.map(({ view, names }) => member(view.name, names.facts));
  const members = membersOf(parts);
  const types: readonly TypeDeclaration[] = [
    { kind: 'interface', name: 'Schema', notes: ['The facts of every collection that is seen.'], members: facts },
    ...(routes.length === 0
      ? []
      : [
          {
            kind: 'interface',
            name: 'Routes',
            notes: ["Routes of the server's own code."],
            members: routeMembers(routes),
          } as const,
        ]),
    { kind: 'interface', name: 'Client', notes: ['What can be done; everything else does not exist.'], members },
  ];
  const used = new Set(['ClientOptions', ...types.flatMap(namesIn)]);
  const from = (source: string, names: readonly string[]): readonly Import[] => {
    const own = names.filter((name) => used.has(name)).map((name) => `type ${name}`);
    return own.length === 0 ? [] : [{ from: source, names: own }];
  };
  return {
    imports: printImports([
      ...from('@platform/client', ['AuthHandler', 'ClientOptions', 'GraphqlHandler', 'ServerHandler']),
      ...from('@platform/client/typed', [
        'Collection',
        'JsonValue',
        'Methods',
        'OwnKey',
        'OwnUser',
        'Handler',
        'Route',
        'CallRoute',
      ]),
      ...all.map(({ names }) => ({ from: `./collections/${names.file}.js`, names: [`type ${names.facts}`] })),
    ]),
    declarations: printDeclarations(types),
    exported: all
      .map(({ names }) => `./collections/${names.file}.js`)
      .sort(naturalOrder)
      .map((path) => `export type * from '${path}';\n`)
      .join(''),
  };
}

function membersOf({ items, singletons, roles, users, handlers, routes }: Parts): readonly Member[] {
  const collections = (name: string, note: string, ones: readonly ClientCollection[]): readonly Member[] => {
    const names = literals(ones.map(({ view }) => view.name));
    return ones.length === 0 ? [] : [member(name, generic('Collection', 'Schema', names), [note])];
  };
  const has = (name: string): boolean => handlers.includes(name);
  return [
    ...collections('items', 'The items of a collection.', items),
    ...collections('singleton', 'The item of a collection that has one.', singletons),
    ...(roles ? [member('roles', generic('Handler', 'Schema', roles.names.facts))] : []),
    ...(users ? [member('users', usersType(users))] : []),
    ...(has('auth') ? [member('auth', 'AuthHandler')] : []),
    ...(has('graphql') ? [member('graphql', 'GraphqlHandler')] : []),
    member('server', 'ServerHandler'),
    ...(routes.length > 0
      ? [member('route', generic('CallRoute', 'Routes'), ["Calls a route of the server's own code."])]
      : []),
  ];
}

function usersType({ collection, invites }: NonNullable<Parts['users']>): Type {
  const facts = collection?.names.facts ?? 'never';
  const reads = collection !== null && rightsOf(collection).includes('read');
  const own = generic('Pick', generic('Methods', 'Schema', facts), literals(ownMethods(collection)));
  const me = reads ? own : 'OwnKey';
  return generic(
    'OwnUser',
    collection === null ? 'unknown' : generic('Handler', 'Schema', facts),
    me,
    literals(invites),
  );
}

function generic(name: string, ...of: readonly Type[]): Type {
  return { kind: 'generic', name, of };
}

function namesIn(declaration: TypeDeclaration): readonly string[] {
  const types = declaration.kind === 'interface' ? declaration.members.map(({ type }) => type) : [declaration.type];
  return types.flatMap(leaves).flatMap((leaf) => (/^['"]/.test(leaf) ? [] : (leaf.match(/[A-Z]\w*/g) ?? [])));
}
