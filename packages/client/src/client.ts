/** The client of a server. Source: API specification, section 15. */

import { type AssetsHandler, createAssetsHandler, createFilesHandler, type FilesHandler } from './files.ts';
import { createGraphqlHandler, type GraphqlHandler } from './graphql.ts';
import {
  type ActivityHandler,
  type AuthHandler,
  createActivityHandler,
  createAuthHandler,
  createUsersHandler,
  type ServerHandler,
  type UsersHandler,
  type UtilsHandler,
} from './handlers.ts';
import {
  createItemHandler,
  createSettingsHandler,
  createSingletonHandler,
  type ItemHandler,
  type SingletonHandler,
} from './items.ts';
import { createFieldsHandler, createRelationsHandler, type FieldsHandler, type RelationsHandler } from './model.ts';
import { createOperationMethods } from './operations.ts';
import { type ClientOptions, checkOptions, defaultRefreshBeforeMs, isBrowser, openStorage } from './options.ts';
import { createRequester, type Requester } from './requester.ts';
import { createSend } from './send.ts';
import { createSession } from './session.ts';
import type { AnySchema, SystemItem } from './system.ts';

/** Methods of a client; `Schema` has the item type of each collection. */
export interface Client<Schema> {
  /**
   * The items of a collection.
   * @example const { data } = await client.items('articles').readByQuery({ sort: ['-created_at'], limit: 10 });
   */
  items<Name extends keyof Schema & string>(collection: Name): ItemHandler<Schema[Name]>;
  /**
   * The item of a collection that has one.
   * @example const about = await client.singleton('about').read();
   */
  singleton<Name extends keyof Schema & string>(collection: Name): SingletonHandler<Schema[Name]>;
  readonly activity: ActivityHandler<SystemItem<Schema, 'platform_activity'>>;
  readonly comments: ItemHandler<SystemItem<Schema, 'platform_comments'>>;
  readonly collections: ItemHandler<SystemItem<Schema, 'platform_collections'>>;
  readonly fields: FieldsHandler<SystemItem<Schema, 'platform_fields'>>;
  readonly files: FilesHandler<SystemItem<Schema, 'platform_files'>>;
  readonly assets: AssetsHandler;
  readonly folders: ItemHandler<SystemItem<Schema, 'platform_folders'>>;
  readonly permissions: ItemHandler<SystemItem<Schema, 'platform_permissions'>>;
  readonly presets: ItemHandler<SystemItem<Schema, 'platform_presets'>>;
  readonly relations: RelationsHandler<SystemItem<Schema, 'platform_relations'>>;
  readonly revisions: ItemHandler<SystemItem<Schema, 'platform_revisions'>>;
  readonly roles: ItemHandler<SystemItem<Schema, 'platform_roles'>>;
  readonly settings: SingletonHandler<SystemItem<Schema, 'platform_settings'>> &
    ItemHandler<SystemItem<Schema, 'platform_settings'>>;
  readonly users: UsersHandler<SystemItem<Schema, 'platform_users'>>;
  readonly auth: AuthHandler;
  readonly graphql: GraphqlHandler;
  readonly server: ServerHandler;
  readonly utils: UtilsHandler;
}

/**
 * Makes a client of the server at an address, such as `https://api.example.com`. Nothing is asked of it yet.
 *
 * Throws a TypeError for an address that is none, for options that exclude each other and for `LocalStorage` outside of
 * browsers. Every method rejects with `PlatformError` when the server refuses. It rejects with the reason of the signal
 * when it is aborted, and with the error of `fetch` when there is no answer.
 * @example
 * const client = createClient('https://api.example.com', { auth: { staticToken: 'secret' } });
 * const { data } = await client.items('articles').readByQuery({ fields: ['id', 'title'] });
 */
export function createClient<Schema = AnySchema>(url: string, init: ClientOptions = {}): Client<Schema> {
  return openClient<Schema>(url, init).client;
}

/** A client, and what sends its requests. */
interface OpenClient<Schema> {
  readonly client: Client<Schema>;
  readonly requester: Requester;
}

/** Makes a client as `createClient` does, for those who add to it. */
export function openClient<Schema>(url: string, init: ClientOptions = {}): OpenClient<Schema> {
  checkOptions(url, init);
  const { auth = {}, transport = {} } = init;
  const mode = auth.mode ?? (isBrowser() ? 'cookie' : 'json');
  const send = createSend(url, mode, transport);
  const session = createSession({
    send,
    url,
    mode,
    storage: openStorage(init.storage),
    autoRefresh: auth.autoRefresh ?? true,
    refreshBeforeMs: auth.msRefreshBeforeExpires ?? defaultRefreshBeforeMs,
    staticToken: auth.staticToken ?? '',
  });
  const requester = createRequester(send, session);
  const methods = createOperationMethods(requester);
  const client: Client<Schema> = {
    items: (collection) => createItemHandler(requester, ['items', collection]),
    singleton: (collection) => createSingletonHandler(requester, ['items', collection]),
    activity: createActivityHandler(requester),
    comments: createItemHandler(requester, ['comments']),
    collections: createItemHandler(requester, ['collections']),
    fields: createFieldsHandler(requester),
    files: createFilesHandler(requester),
    assets: createAssetsHandler(requester),
    folders: createItemHandler(requester, ['folders']),
    permissions: createItemHandler(requester, ['permissions']),
    presets: createItemHandler(requester, ['presets']),
    relations: createRelationsHandler(requester),
    revisions: createItemHandler(requester, ['revisions']),
    roles: createItemHandler(requester, ['roles']),
    settings: createSettingsHandler(requester),
    users: createUsersHandler(requester, methods.users),
    auth: createAuthHandler(session, methods.auth.password),
    graphql: createGraphqlHandler(requester),
    server: methods.server,
    utils: methods.utils,
  };
  return { client, requester };
}
