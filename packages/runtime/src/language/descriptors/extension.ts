/** Extensions: a project's own code, as the server takes it. */
import type { JsonValue } from '../values/parse-text.ts';

/** Moment at which a hook runs. */
export type Stage = 'before' | 'after' | 'afterCommit';

/** An extension as the server takes it. Made by `defineExtension` only. */
export interface Extension {
  readonly hooks: readonly RegisteredHook[];
  readonly routes: readonly RegisteredRoute[];
}

/** One hook with the event that it waits for. */
export interface RegisteredHook {
  readonly stage: Stage;
  /** `articles.create` */
  readonly event: string;
  run(event: HookEvent): unknown;
}

/** Argument of a hook, without its types. */
export interface HookEvent {
  readonly caller: HookCaller;
  readonly items: unknown;
  readonly payload: JsonValue | undefined;
  readonly key: JsonValue;
  readonly keys: readonly JsonValue[] | null;
}

/** One route with the code that answers it. */
export interface RegisteredRoute {
  /** `GET /reports/:year` */
  readonly path: string;
  run(request: RouteCall): unknown;
}

/** Argument of the code of a route, without its types. */
interface RouteCall {
  readonly caller: HookCaller;
  readonly items: unknown;
  readonly transaction: unknown;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Methods that routes of a project may have; GET answers HEAD too. */
export type CustomMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A route of a project, as its types say; without a shape it takes, or gives, nothing. */
export interface CustomRoute {
  readonly method: CustomMethod;
  /** `/reports/:year` */
  readonly path: string;
  /** Names of the access classes that may call it. */
  readonly access: readonly string[];
  /** One member for each parameter of the path. */
  readonly params?: ObjectShape;
  readonly query?: ObjectShape;
  readonly body?: Shape;
  readonly response?: Shape;
}

/** Caller: user and role as keys in text form, null where there is none. */
interface HookCaller {
  readonly accessClass: string;
  readonly user: string | null;
  readonly role: string | null;
}

/** A value as JSON has it; `date` is a time in ISO 8601 there, and a `Date` in code. */
export type Shape =
  /** Anything that JSON can say. */
  | { readonly kind: 'json' }
  | { readonly kind: 'null' }
  | { readonly kind: 'string' }
  | { readonly kind: 'number' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'date' }
  | { readonly kind: 'literal'; readonly values: readonly (string | number | boolean)[] }
  | { readonly kind: 'array'; readonly of: Shape }
  | ObjectShape
  | { readonly kind: 'union'; readonly of: readonly Shape[] };

/** An object with these members and, with `rest`, any others of one shape. */
export interface ObjectShape {
  readonly kind: 'object';
  readonly members: readonly ShapeMember[];
  readonly rest?: Shape;
}

/** One member of an object. */
export interface ShapeMember {
  readonly name: string;
  readonly optional?: true;
  readonly shape: Shape;
}
