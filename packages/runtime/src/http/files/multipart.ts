/** Bodies of several parts: fields, and files that are written down while they arrive. Source: specification, section 11.1. */
import type { IncomingMessage } from 'node:http';
import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy';
import { PlatformError } from '../../errors.ts';
import { type Staged, stage, tooLarge, unstage } from '../../files/staging.ts';
import { checkContents } from '../../json/body.ts';
import type { JsonValue } from '../../language/index.ts';

export interface FilePart {
  readonly staged: Staged;
  /** As its sender calls it. */
  readonly name: string;
  /** The type that its sender names. */
  readonly type: string;
  /** Fields that belong to it: those before it; for the last file also those after it. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Folder of written files, and the bounds of a body. */
interface MultipartLimits {
  readonly folder: string;
  readonly fileSize: number;
  /** Bytes of all fields together. */
  readonly fieldSize: number;
  readonly files: number;
}

const limit = { fields: 1_000, parts: 1_000, headerPairs: 32, fieldNameSize: 100 };

/** Bytes of what stands around the contents of all parts, far more than clients need. */
const aroundParts = 1_048_576;

export function isMultipart({ headers }: IncomingMessage): boolean {
  return /^\s*multipart\/form-data\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

/**
 * Reads a body to its end. Rejects with INVALID_PAYLOAD for one that is malformed, too large or without a file, and when
 * it breaks off; nothing of it stays then. The rest of a body that was refused is thrown away as it comes.
 */
export async function readMultipart(
  request: IncomingMessage,
  limits: MultipartLimits,
): Promise<readonly [FilePart, ...FilePart[]]> {
  const begun: Promise<unknown>[] = [];
  const { files, fileSize, fieldSize } = limits;
  try {
    const length = Number(request.headers['content-length'] ?? 0);
    if (length > files * fileSize + fieldSize + aroundParts) throw files === 1 ? tooLarge(fileSize) : tooMuch();
    const parser = await openParser(request, limits);
    const [first, ...others] = await new PartCollector(request, parser, limits, begun).collect();
    if (first === undefined) throw new PlatformError('INVALID_PAYLOAD', 'The body holds no file.');
    return [first, ...others];
  } catch (error) {
    request.resume();
    for (const result of await Promise.allSettled(begun)) {
      if (result.status === 'fulfilled') await unstage(pathOf(result.value));
    }
    throw error instanceof PlatformError ? error : malformed(error);
  }
}

/** A file with the fields before it. */
interface Begun {
  readonly file: Promise<Staged>;
  readonly name: string;
  readonly type: string;
  readonly fields: Map<string, string>;
}

class PartCollector {
  readonly #request: IncomingMessage;
  readonly #parser: BusboyInstance;
  readonly #limits: MultipartLimits;
  readonly #staging: Promise<unknown>[];
  readonly #result = Promise.withResolvers<readonly FilePart[]>();
  readonly #files: Begun[] = [];
  #fields = new Map<string, string>();
  #bytes = 0;
  #failed = false;
  #open: BusboyFileStream | undefined;

  constructor(request: IncomingMessage, parser: BusboyInstance, limits: MultipartLimits, staging: Promise<unknown>[]) {
    this.#request = request;
    this.#parser = parser;
    this.#limits = limits;
    this.#staging = staging;
  }

  collect(): Promise<readonly FilePart[]> {
    const request = this.#request;
    const parser = this.#parser;
    const fail = (error: unknown): void => this.#fail(error);
    const refuse = (): void => fail(tooMuch());
    parser.on('field', (name, value, nameCut, valueCut) => this.#takeField(name, value, nameCut, valueCut));
    parser.on('file', (_field, stream, name, _coding, type) => this.#takeFile(stream, name, type));
    parser.on('filesLimit', () => fail(this.#limits.files === 1 ? secondFile() : tooMuch()));
    for (const limit of ['partsLimit', 'fieldsLimit'] as const) parser.on(limit, refuse);
    parser.on('error', fail);
    parser.on('finish', () => void this.#end().then(this.#result.resolve, fail));
    request.on('error', fail);
    request.on('close', () => {
      if (!request.readableEnded) fail(brokenOff());
    });
    // A client that hung up before the listeners were added triggers no further event.
    if (request.destroyed) fail(brokenOff());
    else request.pipe(parser);
    return this.#result.promise;
  }

  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#request.unpipe(this.#parser);
    this.#open?.destroy(error instanceof Error ? error : new Error(String(error)));
    this.#result.reject(error);
  }

  #takeField(name: string, value: string, nameCut: boolean, valueCut: boolean): void {
    this.#bytes += name.length + Buffer.byteLength(value);
    try {
      if (nameCut || valueCut || this.#bytes > this.#limits.fieldSize) throw tooMuch();
      // Not by a literal, where this name would be no member.
      if (name === '__proto__') throw new PlatformError('INVALID_PAYLOAD', 'A part has a name that is not allowed.');
      checkContents({ [name]: value });
      this.#fields.set(name, value);
    } catch (error) {
      this.#fail(error);
    }
  }

  #takeFile(stream: BusboyFileStream, name: string, type: string): void {
    // A file that is no longer wanted has no other listener for its errors.
    stream.on('error', () => undefined);
    if (this.#failed) {
      stream.resume();
      return;
    }
    this.#open = stream;
    if (name === '') {
      // So browsers send a field in which nothing was chosen.
      this.#fail(new PlatformError('INVALID_PAYLOAD', 'A file has no name.'));
      return;
    }
    const { folder, fileSize } = this.#limits;
    const file = stage(folder, stream, fileSize);
    this.#staging.push(file);
    file.catch((error: unknown) => this.#fail(error));
    this.#files.push({ file, name: plainName(name), type, fields: this.#fields });
    this.#fields = new Map();
  }

  async #end(): Promise<readonly FilePart[]> {
    for (const [name, value] of this.#fields) this.#files.at(-1)?.fields.set(name, value);
    const parts: FilePart[] = [];
    for (const { file, ...rest } of this.#files) {
      parts.push({ ...rest, staged: await file, fields: Object.fromEntries(rest.fields) });
    }
    return parts;
  }
}

/** Browsers and `fetch` write these characters so, and percent signs as they are (HTML, section 4.10.22.8). */
function plainName(name: string): string {
  return name.replace(/%(22|0D|0A)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function brokenOff(): Error {
  return new Error('The body broke off.');
}

function secondFile(): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', 'The body must hold one file.');
}

function tooMuch(): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', 'The body has too many parts, or too large ones.');
}

async function openParser(
  { headers }: IncomingMessage,
  { fieldSize, files }: MultipartLimits,
): Promise<BusboyInstance> {
  const { Busboy } = await import('@fastify/busboy');
  return new Busboy({
    headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
    // A file of a browser that chose none has an empty name, and one without a name is a field.
    isPartAFile: (_field, _type, name) => name !== undefined,
    preservePath: true,
    limits: { ...limit, fieldSize, files },
  });
}

function malformed(cause: unknown): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', 'The body is not valid multipart/form-data.', {}, { cause });
}

function pathOf(staged: unknown): string {
  return typeof staged === 'object' && staged !== null && 'path' in staged ? String(staged.path) : '';
}

/** The fields of a part as a payload has them: `read` makes the value of each of its text. */
export function fieldsOf(
  { fields }: Pick<FilePart, 'fields'>,
  read: (name: string, text: string) => JsonValue,
): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, read(name, text)]));
}
