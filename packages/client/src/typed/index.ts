/** Types of generated clients' queries and results, and the function that makes clients. */
export type { JsonObject, JsonValue, RequestOptions } from '../call.ts';
export type { AggregateOf, AggregateRow, AggregateSort, GroupsOf, HavingOf } from './aggregate.ts';
export type { CallFunction, FunctionNames, ItemsCall, RouteInput, ValueCall } from './calls.ts';
export {
  type Abilities,
  type BoundClient,
  bindClient,
  type CallRoute,
  type Collection,
  type OwnKey,
  type OwnUser,
  type Route,
  type SharedRights,
  type SystemHandler,
  type UploadMethods,
  type WithComments,
  type WithUploads,
} from './client.ts';
export type { DeepOf, Only, RowQuery } from './deep.ts';
export type { Call, Changes, Facts, Given, Links, LinkTo, Many, methods, One, Right } from './facts.ts';
export type * from './filter-types.ts';
export type { Handler, Methods } from './items.ts';
export type {
  AggregateQuery,
  AliasOf,
  Fields,
  ItemQuery,
  LinkFilter,
  ListQuery,
  NamedFilter,
  NumberFilter,
  OneQuery,
  Valid,
  ValidSort,
  WriteQueryOf,
} from './queries.ts';
export type { Everything, Result } from './result.ts';
