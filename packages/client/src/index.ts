/** The client of a server compiled by Tablewright. */

export type { JsonObject, JsonValue, Key, Parameters, Query, RequestOptions } from './call.ts';
export { type Client, createClient } from './client.ts';
export { type ErrorCode, isPlatformError, PlatformError, type ServerError } from './errors.ts';
export type { AssetsHandler, FilesHandler, ImportData, Uploads } from './files.ts';
export type { GraphqlHandler, GraphqlMethod, GraphqlResult } from './graphql.ts';
export type {
  ActivityCommentsHandler,
  ActivityHandler,
  AuthHandler,
  CommentData,
  Health,
  InvitesHandler,
  PasswordHandler,
  ServerHandler,
  TfaHandler,
  TfaSecret,
  UsersHandler,
  UtilsHandler,
} from './handlers.ts';
export type { ItemHandler, Payload, SingletonHandler, WriteQuery } from './items.ts';
export type { FieldsHandler, RelationsHandler } from './model.ts';
export type {
  AuthMode,
  ClientOptions,
  Fetch,
  SessionOptions,
  StaticTokenOptions,
  StorageLike,
  StorageOptions,
  TransportOptions,
  UploadProgress,
} from './options.ts';
export type { Meta, Page } from './requester.ts';
export type { AuthTokens, Credentials } from './session.ts';
export type {
  Activity,
  AnySchema,
  Permission,
  Revision,
  Role,
  StoredFile,
  SystemItem,
  SystemItems,
  User,
} from './system.ts';
