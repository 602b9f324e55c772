/** Contents as objects of a bucket, by the protocol of S3; aws4fetch signs the requests. */
import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import type { StorageLocation } from '../environment/files.ts';
import { PlatformError } from '../errors.ts';
import { reached, renditionsOf, type Storage } from './storage.ts';

type S3Location = Extract<StorageLocation, { readonly driver: 's3' }>;

/** One request to the bucket. */
interface StorageRequest {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Name of the object, without the root; null for the bucket. */
  readonly name: string | null;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Blob;
}

/** Milliseconds until an answer must have begun. */
const timeoutMs = 30_000;

/** Makes the storage of a bucket. Files on their way are written to the folder `staging`, as their lengths must be known. */
export function createS3Storage(location: S3Location, staging: string): Storage {
  const base = addressOf(location);
  const prefix = prefixOf(location);

  const ask = (request: StorageRequest): Promise<Response> => send(location, base, request);

  /** For requests whose answer has no content. */
  async function report(requested: StorageRequest): Promise<void> {
    const response = await ask(requested);
    if (!response.ok && !(requested.method === 'DELETE' && response.status === 404))
      throw await refusal(requested, response);
    await response.body?.cancel();
  }

  async function list(start: string): Promise<readonly string[]> {
    const request: StorageRequest = { method: 'GET', name: null, query: { 'list-type': '2', prefix: prefix + start } };
    const response = await ask(request);
    if (!response.ok) throw await refusal(request, response);
    const keys = [...(await response.text()).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key);
    // Our names need no escaping in XML.
    return keys.filter((key) => key.startsWith(prefix + start)).map((key) => key.slice(prefix.length));
  }

  const put = (name: string, body: Blob, type: string): Promise<void> =>
    report({ method: 'PUT', name, body, headers: { 'content-type': type } });

  return {
    staging,
    put: (name, path, type) => reached(async () => put(name, await openAsBlob(path), type)),
    putBytes: (name, bytes, type) => reached(() => put(name, new Blob([new Uint8Array(bytes)]), type)),
    open: (name, range) =>
      reached(async () => {
        const requestedItem: StorageRequest = {
          method: 'GET',
          name,
          ...(range && { headers: { range: `bytes=${range.start}-${range.end}` } }),
        };
        const response = await ask(requestedItem);
        if (response.status === 404) {
          await response.body?.cancel();
          return null;
        }
        if (!response.ok || (range !== undefined && response.status !== 206))
          throw await refusal(requestedItem, response);
        return response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
      }),
    remove: (name) =>
      reached(async () => {
        await report({ method: 'DELETE', name });
        // A page has a thousand names, and removing those of one leaves the next.
        for (let names = await list(renditionsOf(name)); names.length > 0; names = await list(renditionsOf(name))) {
          for (const rendition of names) await report({ method: 'DELETE', name: rendition });
        }
      }),
  };
}

/** Sends a request to the bucket. */
async function send(
  location: S3Location,
  base: string,
  { method, name, query = {}, headers = {}, body }: StorageRequest,
): Promise<Response> {
  const path = name === null ? '' : `/${(prefixOf(location) + name).split('/').map(encodeURIComponent).join('/')}`;
  const search = new URLSearchParams(query).toString();
  const signer = new AwsV4Signer({
    method,
    url: `${base}${path}${search === '' ? '' : `?${search}`}`,
    // TLS says that bytes arrive as they were sent; hashing them first would read every file twice.
    headers: { ...headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
    accessKeyId: location.key,
    secretAccessKey: location.secret,
    region: location.region,
    service: 's3',
  });
  const signed = await signer.sign();
  const stop = new AbortController();
  // A large body may take longer than its answer.
  const timer = setTimeout(() => stop.abort(), timeoutMs + (body === undefined ? 0 : body.size / 64));
  try {
    return await fetch(signed.url, {
      method,
      headers: signed.headers,
      signal: stop.signal,
      redirect: 'error',
      ...(body !== undefined && { body }),
    });
  } finally {
    clearTimeout(timer);
  }
}

function prefixOf({ root }: S3Location): string {
  return root === '' ? '' : `${root}/`;
}

/** Buckets of Amazon have hosts of their own; others are found below one host everywhere. */
function addressOf({ endpoint, bucket, region }: S3Location): string {
  return endpoint === null ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint}/${bucket}`;
}

async function refusal({ method, name }: StorageRequest, response: Response): Promise<PlatformError> {
  const text = (await response.text().catch(() => '')).slice(0, 500);
  const cause = new Error(`S3 answered ${method} ${name ?? 'the bucket'} with ${response.status}: ${text}`);
  return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
}
