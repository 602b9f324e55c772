/** Uploads at the addresses of the collection of files. Source: API specification, section 11. */
import type { IncomingMessage } from 'node:http';
import type { FilesEnvironment } from '../../environment/files.ts';
import { PlatformError } from '../../errors.ts';
import { unstage } from '../../files/staging.ts';
import type { Storages } from '../../files/storage.ts';
import type { Arrived, Uploads } from '../../files/uploads.ts';
import type { CollectionDescriptor, CompiledApi, JsonValue } from '../../language/index.ts';
import { filesName } from '../../write/access/system-access.ts';
import { type KeptAnswer, readIdempotencyKey } from '../../write/execute/idempotency.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import type { WriteRequest } from '../../write/write-plan.ts';
import type { Call } from '../call.ts';
import type { Endpoint, Handler, Method } from '../endpoints.ts';
import { type HttpContext, jsonAnswer, type Responder } from '../responses/answer.ts';
import { type FilePart, fieldsOf, isMultipart, readMultipart } from './multipart.ts';

interface FileEndpointsOptions {
  readonly api: CompiledApi;
  readonly environment: FilesEnvironment;
  /** Bytes of the fields beside files. */
  readonly fieldSize: number;
  readonly storages: Storages;
  readonly uploads: Uploads;
  readonly responder: Responder;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/** Files of one upload. */
const maxFiles = 100;

/** Gives the same endpoints, of which those of files take uploads. */
type WithUploads = (endpoints: readonly Endpoint[]) => readonly Endpoint[];

export function createUploadEndpoints(options: FileEndpointsOptions): WithUploads {
  const { api, environment, fieldSize, storages, uploads, responder, senderOf } = options;
  const { staging } = storages.first.storage;
  const limits = { folder: staging, fileSize: environment.maxUploadSize, fieldSize };
  const readField = fieldReader(api.collections.find(({ name }) => name === filesName));

  function send(httpContext: HttpContext, { status, body }: KeptAnswer): void {
    responder.send(httpContext, jsonAnswer(status, body));
  }

  async function receive({ request }: HttpContext, files: number): Promise<readonly [Arrived, ...Arrived[]]> {
    const parts = await readMultipart(request, { ...limits, files });
    const [first, ...others] = parts;
    try {
      return [arrivedOf(first, readField), ...others.map((part) => arrivedOf(part, readField))];
    } catch (error) {
      for (const { staged } of parts) await unstage(staged.path);
      throw error;
    }
  }

  const create: Handler = async (httpContext, call) => {
    uploads.admit(call.caller, 'create');
    const request = requestOf(httpContext, call, senderOf);
    send(httpContext, await uploads.create(request, await receive(httpContext, maxFiles)));
  };

  const replace: Handler = async (httpContext, call) => {
    uploads.admit(call.caller, 'update');
    const request = requestOf(httpContext, call, senderOf);
    const [first] = await receive(httpContext, 1);
    send(httpContext, await uploads.replace(request, call.item?.key ?? '', first));
  };

  const taking = (method: Method, upload: Handler, other: Handler): [Method, Handler] => [
    method,
    (httpContext, call, body) => (isMultipart(httpContext.request) ? upload : other)(httpContext, call, body),
  ];
  return (endpoints) =>
    endpoints.map((endpoint) => {
      if (endpoint.url !== '/files' && endpoint.url !== '/files/:key') return endpoint;
      const handlers = [...endpoint.handlers].map(([method, handler]): [Method, Handler] => {
        if (endpoint.url === '/files' && method === 'POST') return taking(method, create, handler);
        if (endpoint.url === '/files/:key' && method === 'PATCH') return taking(method, replace, handler);
        return [method, handler];
      });
      return { ...endpoint, handlers: new Map(handlers), takesParts: true };
    });
}

function requestOf(
  { request }: HttpContext,
  { caller, query }: Call,
  senderOf: FileEndpointsOptions['senderOf'],
): WriteRequest {
  const { 'if-match': ifMatch, 'idempotency-key': keyText } = request.headers;
  const key = request.method === 'POST' ? readIdempotencyKey(keyText) : undefined;
  const ifMatches = request.method === 'PATCH' && ifMatch !== undefined ? { ifMatch } : {};
  return {
    caller,
    collection: filesName,
    query,
    sender: senderOf(request),
    ...(key && { key }),
    ...ifMatches,
  };
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
