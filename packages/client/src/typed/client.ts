/** Clients of one access class: methods without permission do not exist. */
import type { Query, RequestOptions } from '../call.ts';
import { type Client, openClient } from '../client.ts';
import type { ImportData } from '../files.ts';
import type { ActivityCommentsHandler, InvitesHandler, TfaHandler, UtilsHandler } from '../handlers.ts';
import type { ClientOptions } from '../options.ts';
import type { Page, Requester } from '../requester.ts';
import type { AnySchema } from '../system.ts';
import { type Arguments, callFunction, callRoute, type FunctionNames, type RouteInput } from './calls.ts';
import type { DeepOf } from './deep.ts';
import { type Facts, methods, type Right } from './facts.ts';
import type { Handler } from './items.ts';
import type { AliasOf, Fields, ItemQuery, Said } from './queries.ts';
import type { Result } from './result.ts';

/** Permissions of an access class, as the script of a generated client states them. */
export interface Abilities {
  /** Permissions on the collections below `/items`. */
  readonly items?: readonly SharedRights[];
  /** Permissions on singletons. */
  readonly singletons?: readonly SharedRights[];
  /** Permissions on the platform's own collections, by the names of their handlers. */
  readonly system?: { readonly [Name in SystemHandler]?: readonly Right[] };
  /** Methods of comments under activity. */
  readonly comments?: readonly (keyof ActivityCommentsHandler<unknown>)[];
  readonly utils?: readonly (keyof UtilsHandler)[];
  /** Permissions of the class on its own user, and on invitations, where there are users. */
  readonly me?: readonly ('read' | 'update')[];
  readonly invites?: readonly (keyof InvitesHandler)[];
  readonly handlers?: readonly ('assets' | 'auth' | 'collections' | 'fields' | 'graphql' | 'relations')[];
  /** Functions of the server's database. */
  readonly functions?: FunctionNames;
  /** Routes of the server's own code: `GET /reports/:year`. */
  readonly routes?: readonly string[];
}

/** Handlers of the platform's own collections. */
export type SystemHandler =
  | 'activity'
  | 'comments'
  | 'files'
  | 'folders'
  | 'permissions'
  | 'presets'
  | 'revisions'
  | 'roles'
  | 'settings'
  | 'users';

/** Collections with the same rights. */
export interface SharedRights {
  readonly names: readonly string[];
  readonly rights: readonly Right[];
}

/** A client as scripts see it; generated declarations say what each part of it is. */
export interface BoundClient {
  readonly items: (collection: string) => object;
  readonly singleton: (collection: string) => object;
  readonly call?: (name: string, args?: Arguments, query?: Query, options?: RequestOptions) => Promise<unknown>;
  readonly route?: (route: string, input?: RouteInput, options?: RequestOptions) => Promise<unknown>;
  /** `server`, and what else the class may use. */
  readonly [handler: string]: unknown;
}

/** Gives the handler of a collection by its name. */
export type Collection<Schema, Names extends keyof Schema> = <Name extends Names>(
  collection: Name,
) => Schema[Name] extends Facts ? Handler<Schema, Schema[Name]> : never;

/** The methods of users, and what there is beside them. */
export type OwnUser<Users, Me, Invites extends keyof InvitesHandler> = Users & {
  /** The signed-in user. */
  readonly me: Me & { readonly tfa: TfaHandler };
  readonly invites: Pick<InvitesHandler, Invites>;
  /** The same as `me.tfa`. */
  readonly tfa: TfaHandler;
};

/** The methods of activity, and comments as rows of it. */
export type WithComments<Handler, Item, Methods extends keyof ActivityCommentsHandler<Item>> = Handler & {
  readonly comments: Pick<ActivityCommentsHandler<Item>, Methods>;
};

/** Form uploads of files: fields stand in front of the file that they belong to. */
export interface UploadMethods<Schema, Of extends Facts> {
  /**
   * Uploads a file.
   * @example
   * const form = new FormData();
   * form.append('file', new File(['Hello'], 'hello.txt'));
   * const file = await client.files.createOne(form);
   */
  createOne: Upload<Schema, Of, [form: FormData]>;
  /**
   * A form with several files.
   * @example
   * const form = new FormData();
   * for (const name of ['a.txt', 'b.txt']) form.append('file', new File([name], name));
   * const { data } = await client.files.createMany(form);
   */
  createMany<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    form: FormData,
    query?: ItemQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /**
   * Gives a file another content.
   * @example
   * const form = new FormData();
   * form.append('file', new File(['Hello again'], 'hello.txt'));
   * await client.files.updateOne('8cbb43fe-4cdf-4991-8352-c461779cec02', form);
   */
  updateOne: Upload<Schema, Of, [key: Of['key'], form: FormData]>;
  /**
   * Has the server fetch a file.
   * @example const file = await client.files.import({ url: 'https://example.com/a.png' });
   */
  import: Upload<Schema, Of, [data: ImportData<Partial<Of['create']>>]>;
}

/** A method that writes one file, with the result that its query gives. */
type Upload<Schema, Of extends Facts, Parts extends readonly unknown[]> = <
  const F extends Fields,
  const A extends AliasOf<Of> = never,
  const D extends DeepOf<Schema, Of, Said<A>> = never,
>(
  ...parts: [...Parts, query?: ItemQuery<Schema, Of, F, A, D>, options?: RequestOptions]
) => Promise<Result<Schema, Of, F[number], Said<A>, Said<D>> | Of['unread']>;

/** The methods of files, and uploads. */
export type WithUploads<Schema, Of extends Facts, Names extends keyof UploadMethods<Schema, Of>> = Handler<Schema, Of> &
  Pick<UploadMethods<Schema, Of>, Names>;

/** The signed-in user, for classes that may read no users. */
export interface OwnKey {
  /**
   * Reads the key of the user.
   * @example const { id } = await client.users.me.read();
   */
  read(query?: Record<string, never>, options?: RequestOptions): Promise<{ id: string }>;
}

/** Input and output of a route of the server's own code. */
export interface Route<Input, Output> {
  readonly input: Input;
  readonly output: Output;
}

/** Calls a route, named by method and path. */
export type CallRoute<Routes> = <Name extends keyof Routes>(
  route: Name,
  ...rest: Routes[Name] extends Route<infer Input, unknown>
    ? Record<never, never> extends Input
      ? [input?: Input, options?: RequestOptions]
      : [input: Input, options?: RequestOptions]
    : never
) => Promise<Routes[Name] extends Route<unknown, infer Output> ? Output : never>;

/**
 * Makes the function that makes clients with these abilities; it takes what `createClient` of this package does.
 * @example
 * const createClient = bindClient({ items: [{ names: ['articles'], rights: ['read'] }] });
 * const client = createClient('https://api.example.com');
 */
export function bindClient(permissions: Abilities): (url: string, options?: ClientOptions) => BoundClient {
  const { items = [], singletons = [], system = {}, functions, routes } = permissions;
  return (url, options) => {
    const { client, requester } = openClient<AnySchema>(url, options);
    const handlers = Object.entries(system).map(([name, grants = []]) => {
      const found = Object.entries(client).find(([handlerName]) => handlerName === name);
      return [name, { ...choose(found?.[1] ?? {}, grants), ...below(client, name, permissions, grants) }];
    });
    return {
      items: (name) => choose(client.items(name), permissionsOf(items, name)),
      singleton: (name) => choose(client.singleton(name), permissionsOf(singletons, name)),
      ...Object.fromEntries(handlers),
      ...(permissions.utils && { utils: pick(client.utils, permissions.utils) }),
      ...pick(client, permissions.handlers ?? []),
      ...(functions && {
        call: async (name: string, args: Arguments = {}, query: Query = {}, options: RequestOptions = {}) =>
          callFunction(requester, functions, name, args, query, options),
      }),
      ...(routes && { route: routeOf(requester, routes) }),
      server: client.server,
    };
  };
}

/** Methods of handlers beside those of a collection. */
function below(
  client: Client<AnySchema>,
  name: string,
  { me = [], invites = [], comments }: Abilities,
  permissions: readonly Right[],
): object {
  if (name === 'files') return permissions.includes('create') ? pick(client.files, ['import']) : {};
  if (name === 'activity') return comments ? { comments: pick(client.activity.comments, comments) } : {};
  if (name !== 'users') return {};
  const { invites: all, me: methods, tfa } = client.users;
  return { me: { ...pick(methods, me), tfa }, invites: pick(all, invites), tfa };
}

function permissionsOf(allRights: readonly SharedRights[], name: string): readonly Right[] {
  const found = allRights.find(({ names }) => names.includes(name));
  if (found === undefined) throw new TypeError(`There is no collection "${name}" for this client.`);
  return found.rights;
}

function routeOf(requester: Requester, routes: readonly string[]): NonNullable<BoundClient['route']> {
  return async (route, input = {}, options = {}) => {
    if (routes.includes(route)) return callRoute(requester, route, input, options);
    throw new TypeError(`There is no route "${route}" for this client.`);
  };
}

/** The methods of some rights. */
function choose(handler: object, permissions: readonly Right[]): object {
  return pick(
    handler,
    permissions.flatMap((right): readonly string[] => methods[right]),
  );
}

function pick(source: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(source).filter(([name]) => names.includes(name)));
}
