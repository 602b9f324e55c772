/** Contents of files, inert: browsers run nothing of them and show raster images only. Source: section 11.3. */
import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FilesEnvironment } from '../../environment/files.ts';
import { PlatformError } from '../../errors.ts';
import type { FileFinder, FoundFile } from '../../files/find-file.ts';
import { rasterTypes } from '../../files/media/read-details.ts';
import type { ByteRange, ReadableContent, Storages } from '../../files/storage.ts';
import type { Renderer } from '../../files/transform/renderer.ts';
import {
  allowedTransformation,
  readTransformationChoice,
  type Transformation,
} from '../../files/transform/transformation.ts';
import { describeCause, type Log } from '../../operate/log.ts';
import { pathOf, requestRecord } from '../../operate/request-record.ts';
import { readPathTexts, splitTarget } from '../../query/parse/target.ts';
import { type Call, plainParameters } from '../call.ts';
import type { Endpoint } from '../endpoints.ts';
import { type HttpContext, largestAtOnce, type StreamingResponder } from '../responses/answer.ts';
import { disposition } from '../responses/read.ts';

interface AssetEndpointsOptions {
  readonly environment: FilesEnvironment;
  readonly storages: Storages;
  readonly finder: FileFinder;
  readonly renderer: Renderer;
  readonly responder: StreamingResponder;
  readonly log: Pick<Log, 'warn'>;
}

const parameters = [
  ...['key', 'width', 'height', 'fit', 'quality', 'withoutEnlargement', 'format', 'transforms', 'download'],
] as const;

/** Content to send: the whole file, or an image made from it. */
interface Asset extends Pick<FoundFile, 'name' | 'type' | 'charset' | 'modified'> {
  /** Distinguishes these bytes from all others. */
  readonly id: string;
  /** Makes the bytes known, as far as they must be; null when the content has gone meanwhile. */
  open(): Promise<ReadableContent | null>;
}

/** Types that browsers may show: formats of pixels, in which nothing can stand that runs. */
const inlineTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

/** Contents that are looked for, when each is replaced by another one before it is opened. */
const maxTries = 5;

const paths = ['/assets/:id', '/assets/:id/:filename'] as const;

export function createAssetEndpoints(options: AssetEndpointsOptions): readonly Endpoint[] {
  const sender = new AssetSender(options);
  return paths.map(
    (url): Endpoint => ({ url, handlers: new Map([['GET', (httpContext, call) => sender.send(httpContext, call)]]) }),
  );
}

class AssetSender {
  readonly #options: AssetEndpointsOptions;

  constructor(options: AssetEndpointsOptions) {
    this.#options = options;
  }

  async send(httpContext: HttpContext, call: Call): Promise<void> {
    for (let tries = 0; tries < maxTries; tries++) if (await this.#sendCurrent(httpContext, call)) return;
    const { url = '' } = httpContext.request;
    this.#options.log.warn({ path: pathOf(url) }, 'The content of a file is missing in its storage.');
    throw new PlatformError('FORBIDDEN');
  }

  /** Sends the content that the file has now; false, with nothing sent, where that has gone meanwhile. */
  async #sendCurrent(httpContext: HttpContext, call: Call): Promise<boolean> {
    const { finder, responder } = this.#options;
    const { request, response } = httpContext;
    const asset = await this.#assetOf(httpContext, call);
    const etag = `"${hash('sha1', asset.id, 'base64url')}"`;
    const audience = (await finder.isPublic(call.caller, asset.file)) ? 'public' : 'private';
    const shown = inlineTypes.has(asset.type) && !plainParameters(call.query, parameters).has('download');
    const about = {
      policy: "sandbox; default-src 'none'",
      cache: `${audience}, max-age=${Math.floor(this.#options.environment.cacheTtl / 1000)}`,
      headers: [
        ...['Accept-Ranges', 'bytes', 'ETag', etag, 'Last-Modified', asset.modified.toUTCString()],
        ...['Content-Disposition', disposition(shown ? 'inline' : 'attachment', asset.name)],
      ],
    };
    if (isKnown(request.headers, etag, asset.modified)) {
      responder.send(httpContext, { status: 304, ...about });
      return true;
    }
    const opened = await asset.open();
    if (opened === null) return false;
    const { size, held } = opened;
    const range = holds(request.headers['if-range'], etag) ? readRange(request.headers.range, size) : null;
    const length = range === null ? size : range.end - range.start + 1;
    const isEmpty = request.method === 'HEAD' || length === 0;
    if (held !== null && !isEmpty && length > largestAtOnce) await responder.unsentOf(request).room();
    const stream = held !== null || isEmpty ? null : await opened.read(range ?? undefined);
    if (stream === null && held === null && !isEmpty) return false;
    const type = asset.charset === null ? asset.type : `${asset.type}; charset=${asset.charset}`;
    const headers = responder.streamHeaders(request, null, { type, ...about });
    headers.push('Content-Length', String(length));
    if (range !== null) headers.push('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
    response.writeHead(range === null ? 200 : 206, headers);
    if (stream !== null) await this.#stream(httpContext, stream, length);
    else if (held === null || isEmpty) response.end();
    else
      responder.outgoing(httpContext, response).end(range === null ? held : held.subarray(range.start, range.end + 1));
    return true;
  }

  async #stream(
    { request: { url = '', [requestRecord]: record }, response }: HttpContext,
    stream: Readable,
    length: number,
  ) {
    if (record !== undefined) record.bytes = length;
    try {
      await this.#options.responder.pipe(response, stream);
    } catch (error) {
      // Too late for an error: a body that breaks off is the only honest sign. A client that has left needs none.
      const hasLeft = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
      const details = { path: pathOf(url), cause: describeCause(error) };
      if (!hasLeft) this.#options.log.warn(details, 'The content of a file has broken off.');
      response.destroy();
    }
  }

  #whole(file: FoundFile): Asset {
    const { storages } = this.#options;
    const { download, type, charset, modified, size, storage, name } = file;
    const read = (range?: ByteRange) => storages.of(storage).open(name, range);
    return {
      name: download,
      type,
      charset,
      modified,
      id: `${storage}/${name}`,
      open: async () => ({ size, held: null, read }),
    };
  }

  #transformed(file: FoundFile, transformation: Transformation, client: string): Asset {
    const { storages, finder, renderer } = this.#options;
    const original = { ...file, storage: storages.of(file.storage) };
    const { id, type } = renderer.describe(original, transformation);
    const name = `${file.download.replace(/(?<=.)\.[^.]+$/, '')}.${type.slice(type.indexOf('/') + 1)}`;
    return {
      name,
      type,
      charset: null,
      modified: file.modified,
      id,
      open: () => renderer.render(original, transformation, client, () => finder.has(file)),
    };
  }

  async #assetOf(
    { request }: HttpContext,
    { caller, query }: Call,
  ): Promise<Asset & { /** Key of the file. */ readonly file: string }> {
    const { environment, finder, responder } = this.#options;
    const requested = readTransformationChoice(plainParameters(query, parameters), environment.transform);
    const { path } = splitTarget(request.url ?? '');
    const key = paths.map((pattern) => readPathTexts(pattern, path)?.get('id')?.[0]).find((id) => id !== undefined);
    const file = await finder.find(caller, key ?? '');
    if (requested.kind === 'nothing') return { ...this.#whole(file), file: file.id };
    const transformation = allowedTransformation(requested, await finder.settings(), environment.transform);
    if (!rasterTypes.has(file.type)) return { ...this.#whole(file), file: file.id };
    const { client } = responder.unsentOf(request);
    return { ...this.#transformed(file, transformation, client), file: file.id };
  }
}

/** True if the client has these bytes already (RFC 9110, section 13.1). */
function isKnown(headers: HttpContext['request']['headers'], etag: string, modified: Date): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  if (tags !== undefined) {
    return tags.trim() === '*' || tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
  }
  const date = since === undefined ? Number.NaN : Date.parse(since);
  return Math.floor(modified.getTime() / 1000) * 1000 <= date;
}

/** True if a range fits the content that the client has. A date would not tell contents of the same second apart. */
function holds(ifRange: string | readonly string[] | undefined, etag: string): boolean {
  return ifRange === undefined || (typeof ifRange === 'string' && ifRange.trim() === etag);
}

/**
 * Reads a `Range` for a content of a size. Null for no range, several ranges, units other than bytes and invalid texts:
 * the whole content is sent then. Throws RANGE_NOT_SATISFIABLE for a range that lies outside.
 */
function readRange(header: string | undefined, size: number): ByteRange | null {
  const [, first = '', last = ''] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    if (length === 0) throw outside(size);
    return { start: size - length, end: size - 1 };
  }
  const [start, end] = [Number(first), last === '' ? size - 1 : Math.min(Number(last), size - 1)];
  if (last !== '' && Number(last) < start) return null;
  if (start >= size) throw outside(size);
  return { start, end };
}

function outside(size: number): PlatformError {
  return new PlatformError('RANGE_NOT_SATISFIABLE', undefined, {}, { headers: { 'Content-Range': `bytes */${size}` } });
}
