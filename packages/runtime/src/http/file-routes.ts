/** The routes that take files: uploads at the addresses of the collection, and imports. Source: specification, section 11. */
import type { IncomingMessage } from 'node:http';
import type { FilesEnvironment } from '../environment/files.ts';
import { PlatformError } from '../errors.ts';
import { createFetchFile } from '../files/fetch-file.ts';
import { unstage } from '../files/staging.ts';
import type { Storages } from '../files/storage.ts';
import { filesName } from '../files/uploading-access.ts';
import type { Arrived, FileMetadata, UploadAnswer, Uploads } from '../files/uploads.ts';
import { isObject } from '../language/filter-syntax.ts';
import type { CollectionDescriptor, CompiledApi, JsonValue } from '../language/index.ts';
import { readIdempotencyKey } from '../write/idempotency.ts';
import type { RequestOrigin, WriteRequest } from '../write/write-plan.ts';
import { type Answerer, type Exchange, jsonAnswer } from './answer.ts';
import { bodyObject, requiredText } from './auth-body.ts';
import type { Call } from './call.ts';
import type { Endpoint, Handler, Method } from './endpoints.ts';
import { type FilePart, fieldsOf, isMultipart, readMultipart } from './multipart.ts';

/** Options of the file routes. */
export interface FileEndpointsOptions {
  readonly api: CompiledApi;
  readonly environment: FilesEnvironment;
  /** Bytes of the fields beside files. */
  readonly fieldSize: number;
  readonly storages: Storages;
  readonly uploads: Uploads;
  readonly answerer: Answerer;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/** Routes of files: the collection's own with uploads, and additional ones. */
export interface FileEndpoints {
  /** The same endpoints, of which those of files take uploads. */
  withUploads(endpoints: readonly Endpoint[]): readonly Endpoint[];
  readonly endpoints: readonly Endpoint[];
}

/** Makes the routes of an API that has files. */
export function createFileEndpoints(options: FileEndpointsOptions): FileEndpoints {
  const { api, environment, fieldSize, storages, uploads, answerer, senderOf } = options;
  const fetchFile = createFetchFile(environment.import);
  const { staging } = storages.first.storage;
  const limits = { folder: staging, fileSize: environment.maxUploadSize, fieldSize };
  const readField = fieldReader(api.collections.find(({ name }) => name === filesName));

  function requestOf({ request }: Exchange, { caller, query, echo }: Call): WriteRequest {
    const { 'if-match': ifMatch, 'idempotency-key': keyText } = request.headers;
    // Other documents read other parts of a file, so an answer with a selection is not stored for the key.
    const key = request.method === 'POST' && echo === undefined ? readIdempotencyKey(keyText) : undefined;
    const ifMatches = request.method === 'PATCH' && ifMatch !== undefined ? { ifMatch } : {};
    return {
      caller,
      collection: filesName,
      query,
      sender: senderOf(request),
      ...(key && { key }),
      ...ifMatches,
      ...(echo && { echo }),
    };
  }

  function send(exchange: Exchange, { status, body }: UploadAnswer): void {
    answerer.send(exchange, jsonAnswer(status, body));
  }

  async function receive({ request }: Exchange): Promise<readonly Arrived[]> {
    const parts = await readMultipart(request, limits);
    try {
      return parts.map((part) => arrivedOf(part, readField));
    } catch (error) {
      for (const { staged } of parts) await unstage(staged.path);
      throw error;
    }
  }

  const create: Handler = async (exchange, call) => {
    uploads.admit(call.caller, 'create');
    const request = requestOf(exchange, call);
    send(exchange, await uploads.create(request, await receive(exchange)));
  };

  const replace: Handler = async (exchange, call) => {
    uploads.admit(call.caller, 'update');
    const request = requestOf(exchange, call);
    const [first, ...others] = await receive(exchange);
    if (first === undefined || others.length > 0) {
      for (const { staged } of first === undefined ? [] : [first, ...others]) await unstage(staged.path);
      throw new PlatformError('INVALID_PAYLOAD', 'The body must hold one file.');
    }
    send(exchange, await uploads.replace(request, call.item?.key ?? '', first));
  };

  const importFile: Handler = async (exchange, call, body) => {
    const payload = bodyObject(body);
    const url = requiredText(payload, 'url');
    const { data = null } = payload;
    if (data !== null && !isObject(data)) throw new PlatformError('INVALID_PAYLOAD', '"data" must be an object.');
    uploads.admit(call.caller, 'create');
    const request = requestOf(exchange, call);
    const fetched = await fetchFile(url, staging);
    send(exchange, await uploads.create(request, [{ ...fetched, metadata: withKeys(data ?? {}) }]));
  };

  const taking = (method: Method, upload: Handler, other: Handler): [Method, Handler] => [
    method,
    (exchange, call, body) => (isMultipart(exchange.request) ? upload : other)(exchange, call, body),
  ];
  return {
    withUploads: (endpoints) =>
      endpoints.map((endpoint) => {
        if (endpoint.url !== '/files' && endpoint.url !== '/files/:key') return endpoint;
        const handlers = [...endpoint.handlers].map(([method, handler]): [Method, Handler] => {
          if (endpoint.url === '/files' && method === 'POST') return taking(method, create, handler);
          if (endpoint.url === '/files/:key' && method === 'PATCH') return taking(method, replace, handler);
          return [method, handler];
        });
        return { ...endpoint, handlers: new Map(handlers), takesParts: true };
      }),
    endpoints: [{ url: '/files/import', handlers: new Map([['POST', importFile]]) }],
  };
}

/** An item that has only its key stands for it, as in other payloads. */
function withKeys(data: FileMetadata): FileMetadata {
  const entries = Object.entries(data).map(([name, value]): [string, JsonValue] => {
    const isLink = isObject(value) && Object.keys(value).join() === 'id';
    return [name, isLink ? (value.id ?? null) : value];
  });
  return Object.fromEntries(entries);
}

function arrivedOf(part: FilePart, read: (name: string, text: string) => JsonValue): Arrived {
  const { staged, name } = part;
  return { staged, name, metadata: fieldsOf(part, read) };
}

/** Fields of forms are texts: an empty one, or `null`, is none where the field is a key, and lists may be JSON. */
function fieldReader(collection: CollectionDescriptor | undefined): (name: string, text: string) => JsonValue {
  const types = new Map(collection?.fields.map(({ name, type }) => [name, type]));
  return function readField(name, text) {
    const type = types.get(name);
    if (type === 'uuid' && (text === '' || text === 'null')) return null;
    return type === 'csv' && text.startsWith('[') ? readList(text) : text;
  };
}

function readList(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    throw new PlatformError('INVALID_PAYLOAD', 'A field that begins with "[" must be JSON.');
  }
}
