/** Storage of the contents of files: a folder, or a bucket. Contents have names of our own and never change. */
import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AwsV4Signer } from 'aws4fetch';
import type { StorageLocation } from '../environment/files.ts';
import { PlatformError } from '../errors.ts';
import { unstage } from './staging.ts';

/** A part of a content: its first and its last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A content that is held in memory, or is read as far as it is requested. */
export type ReadableContent = HeldContent | StoredContent;

interface HeldContent {
  readonly size: number;
  readonly held: Buffer;
}

interface StoredContent {
  readonly size: number;
  readonly held: null;
  /** Null when it has gone meanwhile. */
  read(range?: ByteRange): Promise<Readable | null>;
}

/** One place for contents. Rejects with SERVICE_UNAVAILABLE if it cannot be reached. */
export interface Storage {
  /** Folder in which files are written that are still on their way; it may not exist. */
  readonly staging: string;
  /** Moves a file of the staging folder here, which may be gone afterwards. A part of it is never visible. */
  put(name: string, path: string, type: string): Promise<void>;
  putBytes(name: string, bytes: Buffer, type: string): Promise<void>;
  /** Null when there is none of this name. */
  open(name: string, range?: ByteRange): Promise<Readable | null>;
  /** Bytes of a content; null when there is none of this name. */
  size(name: string): Promise<number | null>;
  /** Names of the renditions of a content, at most 1,000. */
  renditions(name: string): Promise<readonly string[]>;
  /** Removes a content and everything whose name begins with `renditionsOf` it. Nothing happens when they are not there. */
  remove(name: string): Promise<void>;
}

export interface Storages {
  /** Storage of new files. */
  readonly first: { readonly name: string; readonly storage: Storage };
  /** By the name of a row. Throws SERVICE_UNAVAILABLE for one that is configured no more. */
  of(name: string): Storage;
  /** Every folder in which files are written that are still on their way. */
  readonly stagings: readonly string[];
}

/** Prefix of the names of all renditions of a content. */
export function renditionsOf(name: string): string {
  return `renditions/${name}/`;
}

/** Reads a whole content; null when there is none of this name. Rejects with SERVICE_UNAVAILABLE where it breaks off. */
export function readContent(storage: Storage, name: string): Promise<Buffer | null> {
  return reached(async () => {
    const content = await storage.open(name);
    return content === null ? null : buffer(content);
  });
}

/** Makes the storage of a folder, which is made when something is put there. */
export function createLocalStorage(root: string): Storage {
  const staging = join(root, '.incoming');
  const pathOf = (name: string): string => join(root, ...name.split('/'));

  async function receive(name: string, from: string): Promise<void> {
    const to = pathOf(name);
    await mkdir(dirname(to), { recursive: true });
    await rename(from, to);
    await syncFolder(dirname(to));
  }

  return {
    staging,
    put: (name, path) => reached(() => receive(name, path)),
    putBytes: (name, bytes) =>
      reached(async () => {
        await mkdir(staging, { recursive: true });
        const path = join(staging, randomUUID());
        try {
          await writeFile(path, bytes, { flush: true, mode: 0o600 });
          await receive(name, path);
        } catch (error) {
          await unstage(path);
          throw error;
        }
      }),
    open: (name, range) =>
      reached(async () => {
        const file = await ifThere(open(pathOf(name)));
        return file === null ? null : file.createReadStream({ ...range });
      }),
    size: (name) => reached(async () => ifThere(stat(pathOf(name)).then(({ size }) => size))),
    renditions: (name) =>
      reached(async () => (await namesIn(pathOf(renditionsOf(name)))).map((kept) => renditionsOf(name) + kept)),
    remove: (name) =>
      reached(async () => {
        await rm(pathOf(name), { force: true });
        // Tried again where one is put there meanwhile.
        await rm(pathOf(renditionsOf(name)), { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
      }),
  };
}

/** Names in a folder; none where it is missing. */
async function namesIn(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Null for what is missing. */
async function ifThere<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** A name is as durable as its folder. Some systems cannot sync folders, and need not. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => null);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** A disk that is full or gone is a service that cannot be used. */
async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: error });
  }
}

type S3Location = Extract<StorageLocation, { readonly driver: 's3' }>;

interface StorageRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
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
        if (!response.ok || (range !== undefined && response.status !== 206)) {
          const text = await excerptOf(response);
          if (response.status === 404 && !text.includes('<Code>NoSuchBucket</Code>')) return null;
          throw refusalOf(requestedItem, response, text);
        }
        return response.body === null ? Readable.from([]) : bodyReader(response.body);
      }),
    size: (name) => reached(() => lengthOf({ method: 'HEAD', name }, ask)),
    renditions: (name) => reached(() => list(renditionsOf(name))),
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

/** Length of what a request finds; null for what is missing. */
async function lengthOf(
  request: StorageRequest,
  ask: (request: StorageRequest) => Promise<Response>,
): Promise<number | null> {
  const response = await ask(request);
  const length = response.headers.get('content-length');
  if (response.ok && length !== null) return Number(length);
  if (response.status === 404) return null;
  throw await refusal(request, response);
}

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
  const longest = timeoutMs + Math.ceil((body?.size ?? 0) / 64);
  const timer = setTimeout(() => stop.abort(new Error(`S3 has not answered within ${longest} ms.`)), longest);
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

/** Reads a body. Fails when the next chunk is not there in time; time that the reader takes does not count. */
function bodyReader(body: ReadableStream<Uint8Array>): Readable {
  const reader = body.getReader();
  return new Readable({
    read() {
      nextChunk(reader).then(
        (chunk) => this.push(chunk),
        (error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      reader.cancel().then(
        () => done(error),
        () => done(error),
      );
    },
  });
}

async function nextChunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.cancel().catch(() => undefined);
  }, timeoutMs);
  const { done, value } = await reader.read().finally(() => clearTimeout(timer));
  if (isLate) throw new Error(`S3 has sent nothing more for ${timeoutMs} ms.`);
  return done ? null : value;
}

async function refusal(request: StorageRequest, response: Response): Promise<PlatformError> {
  return refusalOf(request, response, await excerptOf(response));
}

async function excerptOf(response: Response): Promise<string> {
  return (await response.text().catch(() => '')).slice(0, 500);
}

function refusalOf({ method, name }: StorageRequest, { status }: Response, text: string): PlatformError {
  const cause = new Error(`S3 answered ${method} ${name ?? 'the bucket'} with ${status}: ${text}`);
  return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
}
