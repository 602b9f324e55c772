/**
 * The API as the code of a project sees it. `C` is the generated map from collections to their types. Everything here
 * follows from it, so a wrong name or payload is an error of the type checker.
 */
import type { Caller } from '../caller.ts';
import type { Extension } from '../language/index.ts';

/** Types of a collection of items that are made, changed and removed. */
export interface CollectionTypes<Key, Item, Create, Update, Filter> {
  readonly key: Key;
  readonly item: Item;
  readonly create: Create;
  readonly update: Update;
  readonly filter: Filter;
  readonly action: 'create' | 'update' | 'delete';
}

/** Types of a collection with one item, which is changed only. */
export interface SingletonTypes<Item, Update, Filter> {
  readonly item: Item;
  readonly update: Update;
  readonly filter: Filter;
  readonly action: 'update';
}

/** Types of a collection that cannot be written through the API. */
export interface ReadableTypes<Item, Filter> {
  readonly item: Item;
  readonly filter: Filter;
  readonly action: never;
}

/** One type of a collection by what it is. */
export type TypeOf<C, Name extends keyof C, Part extends string> =
  C[Name] extends Readonly<Record<Part, infer Type>> ? Type : never;

/** The names of events: `articles.create`. */
export type EventName<C, Action extends string = string> = {
  [Name in keyof C & string]: `${Name}.${TypeOf<C, Name, 'action'> & Action & string}`;
}[keyof C & string];

/** The collections that have an action. */
type Acted<C, Action> = {
  [Name in keyof C & string]: Action extends TypeOf<C, Name, 'action'> ? Name : never;
}[keyof C & string];

/** Argument of every function of an extension. */
export interface Handed<C> {
  readonly caller: Caller;
  /** Collections with the permissions of the caller. */
  readonly items: Items<C>;
}

/**
 * An item that is about to be made. Changes of `payload` are what is written. Required members may be missing: they are
 * judged afterwards.
 */
export interface BeforeCreate<C, Name extends keyof C> extends Handed<C> {
  readonly payload: Partial<TypeOf<C, Name, 'create'>>;
}

/** Items that are about to be changed. `keys` is null when a query chooses them, and on singletons. */
export interface BeforeUpdate<C, Name extends keyof C> extends Handed<C> {
  readonly keys: readonly TypeOf<C, Name, 'key'>[] | null;
  readonly payload: TypeOf<C, Name, 'update'>;
}

/** Items that are about to be removed. `keys` is null when a query chooses them. */
export interface BeforeDelete<C, Name extends keyof C> extends Handed<C> {
  readonly keys: readonly TypeOf<C, Name, 'key'>[] | null;
}

/** An item that was made. */
export interface AfterCreate<C, Name extends keyof C> extends Handed<C> {
  readonly key: TypeOf<C, Name, 'key'>;
  readonly payload: TypeOf<C, Name, 'create'>;
}

/** Items that were changed. */
export interface AfterUpdate<C, Name extends keyof C> extends BeforeUpdate<C, Name> {
  readonly keys: readonly TypeOf<C, Name, 'key'>[];
}

/** Items that were removed. */
export interface AfterDelete<C, Name extends keyof C> extends BeforeDelete<C, Name> {
  readonly keys: readonly TypeOf<C, Name, 'key'>[];
}

type Hook<Event> = (event: Event) => void | Promise<void>;

/** Registers hooks that run before something is written. */
export interface RegisterBefore<C> {
  <Name extends Acted<C, 'create'>>(event: `${Name}.create`, hook: Hook<BeforeCreate<C, Name>>): void;
  <Name extends Acted<C, 'update'>>(event: `${Name}.update`, hook: Hook<BeforeUpdate<C, Name>>): void;
  <Name extends Acted<C, 'delete'>>(event: `${Name}.delete`, hook: Hook<BeforeDelete<C, Name>>): void;
}

/** Registers hooks that run after something was written. */
export interface RegisterAfter<C> {
  <Name extends Acted<C, 'create'>>(event: `${Name}.create`, hook: Hook<AfterCreate<C, Name>>): void;
  <Name extends Acted<C, 'update'>>(event: `${Name}.update`, hook: Hook<AfterUpdate<C, Name>>): void;
  <Name extends Acted<C, 'delete'>>(event: `${Name}.delete`, hook: Hook<AfterDelete<C, Name>>): void;
}

/**
 * Input and output of a route. Types of JSON: objects, arrays, texts, numbers, booleans, unions of them and of
 * literals, null, `unknown`; a `Date` travels as ISO 8601. A part that is left out does not exist for the route.
 */
export interface RouteTypes {
  /** An object with a member for each `:name` of the path. */
  readonly params?: unknown;
  /** An object whose members are single values or arrays of them. */
  readonly query?: unknown;
  readonly body?: unknown;
  /** The answer as JSON. */
  readonly response?: unknown;
}

/** Argument of the code of a route. */
export interface RouteRequest<C, Types extends RouteTypes> extends Handed<C> {
  readonly params: PartOf<Types, 'params'>;
  readonly query: PartOf<Types, 'query'>;
  readonly body: PartOf<Types, 'body'>;
  /**
   * Runs a function whose reads and writes are one transaction: all stays, or nothing. It runs again from the start after
   * a conflict with another one. Outside of it each read and write is on its own.
   * @example
   * await transaction(async (items) => {
   *   const [author] = await items('authors').createMany([{ name: 'Ada' }]);
   *   await items('articles').create({ title: 'Hello', author });
   * });
   */
  transaction<T>(work: (items: Items<C>) => T | Promise<T>): Promise<T>;
}

type PartOf<Types, Part extends string> = Types extends Readonly<Record<Part, infer Type>> ? Type : undefined;

type RouteHandler<C, Types extends RouteTypes> = Types extends { readonly response: infer Type }
  ? (request: RouteRequest<C, Types>) => Type | Promise<Type>
  : (request: RouteRequest<C, Types>) => void | Promise<void>;

/** Permission to call a route. */
export interface RouteOptions<Role extends string> {
  /** Names of roles, `public` for callers without a token. Administrators may call every route. */
  readonly roles: readonly Role[];
}

/** A method and a path: `GET /reports/:year`. */
export type RoutePath = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/** Registers a route. Its types are read when the project is compiled, so they stand in the call or have a name. */
export type RegisterRoute<C, Role extends string> = <Types extends RouteTypes = Record<never, never>>(
  path: RoutePath,
  options: RouteOptions<Role>,
  handler: RouteHandler<C, Types>,
) => void;

/** Functions by which `defineExtension` registers code. */
export interface ExtensionTools<C, Role extends string = string> {
  /**
   * In the transaction, before each item or change is written; an error that it throws refuses the whole request.
   * @example before('articles.create', ({ payload }) => void (payload.title ??= 'Untitled'));
   */
  readonly before: RegisterBefore<C>;
  /**
   * In the transaction, when everything of the request is written; an error that it throws undoes it.
   * @example after('articles.update', ({ keys, items }) => items.asAdmin('articles').update(keys, { checked: false }));
   */
  readonly after: RegisterAfter<C>;
  /**
   * Once, after the transaction was committed. The answer does not wait; errors that it throws are logged.
   * @example afterCommit('articles.delete', ({ keys }) => console.log(`deleted: ${keys.join(', ')}`));
   */
  readonly afterCommit: RegisterAfter<C>;
  /**
   * Answers requests of a path of its own.
   * @example
   * route<{ params: { year: string }; response: { count: number } }>(
   *   'GET /reports/:year',
   *   { roles: ['editor'] },
   *   async ({ items }) => ({ count: (await items('articles').list({ fields: ['id'] })).length }),
   * );
   */
  readonly route: RegisterRoute<C, Role>;
}

/** The typed `defineExtension` of a project. */
export type DefineExtension<C, Role extends string = string> = (
  register: (tools: ExtensionTools<C, Role>) => void,
) => Extension;

/** Access to collections, with the permissions of the caller or, by `items.asAdmin`, of an administrator. */
export interface Items<C> extends CollectionsOf<C> {
  /** The same without the limits of permissions. The caller stays the user of presets. */
  readonly asAdmin: CollectionsOf<C>;
}

/** Opens a collection by its name. */
export type CollectionsOf<C> = <Name extends keyof C & string>(collection: Name) => ItemsOf<C, Name>;

/** Reads and writes of a collection. Everything rejects with `PlatformError`, as the API would answer it. */
export type ItemsOf<C, Name extends keyof C> = ItemReads<TypeOf<C, Name, 'item'>, TypeOf<C, Name, 'filter'>> &
  (TypeOf<C, Name, 'action'> extends never
    ? unknown
    : 'create' extends TypeOf<C, Name, 'action'>
      ? ItemWrites<TypeOf<C, Name, 'key'>, TypeOf<C, Name, 'create'>, TypeOf<C, Name, 'update'>>
      : SingletonWrites<TypeOf<C, Name, 'update'>>);

/** Reads of a collection. */
export interface ItemReads<Item, Filter> {
  /**
   * Items in their order, 100 unless `limit` says otherwise (-1: all that the server allows).
   * @example const articles = await items('articles').list({ fields: ['id', 'title'], sort: ['-id'], limit: 10 });
   */
  list<const Field extends keyof Item & string>(
    query: ItemQuery<Item, Filter> & { readonly fields: readonly Field[] },
  ): Promise<readonly Pick<Item, Field>[]>;
  list(query?: ItemQuery<Item, Filter>): Promise<readonly Partial<Item>[]>;
}

/** Query of a list. */
export interface ItemQuery<Item, Filter> {
  /** Fields of the item, and relations as their keys. Default: all fields that may be read. */
  readonly fields?: readonly (keyof Item & string)[];
  readonly filter?: Filter;
  /** Fields, with `-` in front for the largest first. */
  readonly sort?: readonly ((keyof Item & string) | `-${keyof Item & string}`)[];
  readonly search?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** Writes of a collection. They run hooks as requests do. */
export interface ItemWrites<Key, Create, Update> {
  /**
   * Creates an item, and returns its key.
   * @example const key = await items('articles').create({ title: 'Hello' });
   */
  create(payload: Create): Promise<Key>;
  /**
   * Creates all in one statement; the keys are in the order of the payloads.
   * @example const keys = await items('articles').createMany([{ title: 'One' }, { title: 'Two' }]);
   */
  createMany(payloads: readonly Create[]): Promise<readonly Key[]>;
  /**
   * Writes the same to each item with one of the keys.
   * @example await items('articles').update([1, 2], { title: 'Hello' });
   */
  update(keys: Key | readonly Key[], payload: Update): Promise<void>;
  /**
   * Deletes the items with these keys.
   * @example await items('articles').delete(1);
   */
  delete(keys: Key | readonly Key[]): Promise<void>;
}

/** Writes of a singleton. */
export interface SingletonWrites<Update> {
  /**
   * Changes the item.
   * @example await items('about').update({ text: 'Hello' });
   */
  update(payload: Update): Promise<void>;
}
