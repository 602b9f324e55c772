/** Clients of one access class: what that may not do is not there. */
import type { RequestOptions } from '../call.ts';
import { openClient } from '../client.ts';
import type { ClientOptions } from '../options.ts';
import type { Requester } from '../requester.ts';
import type { AnySchema } from '../system.ts';
import type { InvitesHandler, TfaHandler } from '../users.ts';
import { type Facts, methods, type Right } from './facts.ts';
import type { Handler } from './items.ts';
import { callRoute, type RouteInput } from './routes.ts';

/** What an access class may do, as the script of a generated client states it. */
export interface Abilities {
  /** Of the collections below `/items`. */
  readonly items?: readonly SharedRights[];
  /** Of those with one item. */
  readonly singletons?: readonly SharedRights[];
  /** Of the platform's own collections. */
  readonly users?: readonly Right[];
  readonly roles?: readonly Right[];
  /** What the class may do with its own user, and with invitations, where there are users. */
  readonly me?: readonly ('read' | 'update')[];
  readonly invites?: readonly (keyof InvitesHandler)[];
  readonly handlers?: readonly ('auth' | 'graphql')[];
  /** Routes of the server's own code: `GET /reports/:year`. */
  readonly routes?: readonly string[];
}

/** Collections with the same rights. */
export interface SharedRights {
  readonly names: readonly string[];
  readonly rights: readonly Right[];
}

/** A client as scripts see it; generated declarations say what each part of it is. */
export interface BoundClient {
  readonly items: (collection: string) => object;
  readonly singleton: (collection: string) => object;
  readonly roles?: object;
  readonly users?: object;
  readonly auth?: object;
  readonly graphql?: object;
  readonly server: object;
  readonly route?: (route: string, input?: RouteInput, options?: RequestOptions) => Promise<unknown>;
}

/** Gives the handler of a collection by its name. */
export type Collection<Schema, Names extends keyof Schema> = <Name extends Names>(
  collection: Name,
) => Schema[Name] extends Facts ? Handler<Schema, Schema[Name]> : never;

/** The methods of users, and what there is beside them. */
export type OwnUser<Users, Me, Invites extends keyof InvitesHandler> = Users & {
  /** Who is signed in. */
  readonly me: Me & { readonly tfa: TfaHandler };
  readonly invites: Pick<InvitesHandler, Invites>;
  /** The same as `me.tfa`. */
  readonly tfa: TfaHandler;
};

/** Who is signed in, for those who may read nothing of users. */
export interface OwnKey {
  read(query?: Record<string, never>, options?: RequestOptions): Promise<{ id: string }>;
}

/** What a route of the server's own code takes and gives. */
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

/** Makes the function that makes clients with these abilities; it takes what `createClient` of this package does. */
export function bindClient(abilities: Abilities): (url: string, options?: ClientOptions) => BoundClient {
  const { items = [], singletons = [], users = [], roles, me, invites = [], handlers = [], routes } = abilities;
  return (url, options) => {
    const { client, requester } = openClient<AnySchema>(url, options);
    const { invites: all, tfa } = client.users;
    return {
      items: (name) => choose(client.items(name), rightsOf(items, name)),
      singleton: (name) => choose(client.singleton(name), rightsOf(singletons, name)),
      ...(roles && { roles: choose(client.roles, roles) }),
      ...(me && {
        users: {
          ...choose(client.users, users),
          me: { ...pick(client.users.me, me), tfa },
          invites: pick(all, invites),
          tfa,
        },
      }),
      ...pick(client, handlers),
      ...(routes && { route: routeOf(requester, routes) }),
      server: client.server,
    };
  };
}

function rightsOf(known: readonly SharedRights[], name: string): readonly Right[] {
  const found = known.find(({ names }) => names.includes(name));
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
function choose(handler: object, rights: readonly Right[]): object {
  return pick(
    handler,
    rights.flatMap((right): readonly string[] => methods[right]),
  );
}

function pick(of: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(of).filter(([name]) => names.includes(name)));
}
