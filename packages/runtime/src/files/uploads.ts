/** Files from elsewhere: contents first, then the rows that name them. Source: API specification, section 11.1. */

import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../caller.ts';
import { clientOf } from '../environment/networks.ts';
import { PlatformError } from '../errors.ts';
import type { CollectionAccess, CompiledApi, JsonValue } from '../language/index.ts';
import { filesName, serverOwnedOfFiles } from '../write/access/system-access.ts';
import type { KeptAnswer } from '../write/execute/idempotency.ts';
import type { TransactionBody } from '../write/execute/transaction-body.ts';
import type { WriteRequest } from '../write/write-plan.ts';
import type { OnceRequest, Writer } from '../write/writer.ts';
import type { LooseFiles, StoredContent } from './loose-files.ts';
import { readDetails } from './media/read-details.ts';
import { type Staged, unstage } from './staging.ts';
import type { Storages } from './storage.ts';

export type FileMetadata = Readonly<Record<string, JsonValue>>;

export interface Arrived {
  readonly staged: Staged;
  /** As its sender calls it. */
  readonly name: string;
  readonly metadata: FileMetadata;
}

/** A request by its key, and what it stands for. */
export interface Once {
  readonly request: OnceRequest;
  readonly payload: JsonValue;
}

interface UploadsOptions {
  readonly api: CompiledApi;
  readonly writer: Pick<Writer, 'workOf' | 'once'>;
  readonly storages: Storages;
  readonly loose: LooseFiles;
}

/** Facts of a file that the server writes to its row, and the place of its content. */
interface Prepared {
  readonly content: StoredContent;
  readonly fields: FileMetadata;
}

/** Takes files. The staged files are gone afterwards, on success and on failure. */
export class Uploads {
  readonly #options: UploadsOptions;
  readonly #classes: ReadonlyMap<string, CollectionAccess | undefined>;

  constructor(options: UploadsOptions) {
    this.#options = options;
    this.#classes = new Map(
      options.api.access.map(({ name, collections }) => [
        name,
        collections.find(({ collection }) => collection === filesName),
      ]),
    );
  }

  /** Throws FORBIDDEN for who may never do this, before anything is sent. */
  admit({ accessClass }: Caller, action: 'create' | 'update'): void {
    if ((this.#classes.get(accessClass)?.[action] ?? []).length === 0) throw new PlatformError('FORBIDDEN');
  }

  /** Makes files; one is answered as an item and several as a list. `once` says for what its key stands. Default: the files. */
  async create(
    requested: WriteRequest,
    arrived: readonly Arrived[],
    once: Once = { request: requested, payload: responseOf(arrived) },
  ): Promise<KeptAnswer> {
    try {
      for (const { metadata } of arrived) checkNames(metadata);
      const prepared = await this.#prepareAll(arrived, requested);
      const items = prepared.map((file) => ({
        title: titleOf(cleanName(file.name)),
        ...file.metadata,
        ...file.fields,
        id: stemOf(file.content.name),
        filename_download: file.metadata.filename_download ?? cleanName(file.name),
      }));
      const names = new Set(arrived.flatMap(({ metadata }) => Object.keys(metadata)));
      const derived = ['filename_download', 'title'].filter((name) => !names.has(name));
      const request = uploading(requested, ['id', 'type', ...derived]);
      const body = items.length === 1 ? (items[0] ?? null) : items;
      return await this.#write(once, prepared, () => this.#options.writer.workOf({ action: 'create', request, body }));
    } finally {
      await discard(arrived);
    }
  }

  /** Gives the file of a key, as paths have it, another content. */
  async replace(requestedItem: WriteRequest, key: string, arrived: Arrived): Promise<KeptAnswer> {
    try {
      checkNames(arrived.metadata);
      const prepared = await this.#prepareAll([arrived], requestedItem);
      const [fields = {}] = prepared.map((file) => file.fields);
      const derived = Object.hasOwn(arrived.metadata, 'filename_download')
        ? {}
        : { filename_download: cleanName(arrived.name) };
      const body = { ...derived, ...arrived.metadata, ...fields };
      const request = uploading(requestedItem, ['type', ...Object.keys(derived)]);
      return await this.#write({ request, payload: responseOf([arrived]) }, prepared, () =>
        this.#options.writer.workOf({ action: 'update', request, item: key, body }),
      );
    } finally {
      await discard([arrived]);
    }
  }

  /** Puts contents down and runs a write that names them; those that it does not name in the end are removed. */
  async #write(
    { request, payload }: Once,
    prepared: readonly (Prepared & Arrived)[],
    prepare: () => Promise<TransactionBody>,
  ): Promise<KeptAnswer> {
    const { writer, storages, loose } = this.#options;
    const contents = prepared.map(({ content }) => content);
    let done = false;
    await loose.note(contents);
    try {
      return await writer.once(request, payload, async () => {
        for (const { content, staged, fields } of prepared) {
          await storages.of(content.storage).put(content.name, staged.path, String(fields.type));
        }
        const work = await prepare();
        return {
          ...work,
          committed() {
            done = true;
            work.committed();
          },
        };
      });
    } finally {
      if (!done) await loose.release(contents);
    }
  }

  async #prepareAll(arrived: readonly Arrived[], { sender }: WriteRequest) {
    const prepared: (Prepared & Arrived)[] = [];
    const { name: storage } = this.#options.storages.first;
    for (const file of arrived) prepared.push({ ...file, ...(await prepareOne(file, storage, clientOf(sender))) });
    return prepared;
  }
}

function uploading(request: WriteRequest, completed: readonly string[]): WriteRequest {
  return { ...request, activity: 'upload', uploading: [...serverOwnedOfFiles, ...completed].sort() };
}

/** Refuses fields that requests may not write, and those that the server reads from the content. */
function checkNames(metadata: FileMetadata): void {
  for (const name of ['id', ...serverOwnedOfFiles]) {
    if (Object.hasOwn(metadata, name)) throw new PlatformError('FORBIDDEN');
  }
  for (const [name, value] of Object.entries(metadata)) {
    // Items in items would be written as the server writes files.
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value) && value.every((element) => typeof element === 'string')) continue;
    throw new PlatformError('INVALID_PAYLOAD', `"${name}" must be a value, and no item.`);
  }
}

async function prepareOne({ staged, name }: Arrived, storage: string, client: string): Promise<Prepared> {
  const { type, charset, extension } = await detectType(staged.head, staged.size, name);
  const { width, height, duration, metadata } = await readDetails(staged.path, type, client);
  const content = { storage, name: `${randomUUID()}.${extension}` };
  const fields = {
    storage,
    filename_disk: content.name,
    type,
    charset,
    filesize: String(staged.size),
    width,
    height,
    duration,
    metadata,
  };
  return { content, fields };
}

function stemOf(name: string): string {
  return name.slice(0, name.indexOf('.'));
}

/** Payload that an Idempotency-Key stands for: the same files with the same fields. */
function responseOf(arrived: readonly Arrived[]): JsonValue {
  return arrived.map(({ staged, name, metadata }) => ({ sha256: staged.sha256, name, metadata }));
}

async function discard(arrived: readonly Arrived[]): Promise<void> {
  for (const { staged } of arrived) await unstage(staged.path);
}

interface DetectedType {
  /** Its media type, without parameters. */
  readonly type: string;
  /** Charset of a text; null for other files. */
  readonly charset: string | null;
  /** For the name under which it is kept, without a dot. */
  readonly extension: string;
}

/** Kinds of text that look alike: there the ending of the name decides, among types that are all inert. */
const textTypes: ReadonlyMap<string, string> = new Map([
  ['css', 'text/css'],
  ['csv', 'text/csv'],
  ['ics', 'text/calendar'],
  ['js', 'text/javascript'],
  ['json', 'application/json'],
  ['md', 'text/markdown'],
  ['mjs', 'text/javascript'],
  ['tsv', 'text/tab-separated-values'],
  ['vcf', 'text/vcard'],
  ['vtt', 'text/vtt'],
  ['yaml', 'application/yaml'],
  ['yml', 'application/yaml'],
]);

/** Detects the type of a file by its first bytes, `head`; `size` is its whole length. */
async function detectType(head: Buffer, size: number, name: string): Promise<DetectedType> {
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head);
  if (found !== undefined && found.mime !== 'application/xml') {
    return { type: found.mime, charset: null, extension: found.ext };
  }
  const text = textOf(head, size);
  if (text === null) return { type: 'application/octet-stream', charset: null, extension: 'bin' };
  return { ...textType(text, name), charset: 'utf-8' };
}

function textType(text: string, name: string): Pick<DetectedType, 'type' | 'extension'> {
  const start = text.replace(/^\ufeff?\s*/, '').slice(0, 4_096);
  if (/<svg[\s>]/i.test(start)) return { type: 'image/svg+xml', extension: 'svg' };
  if (/^<(?:!doctype html|html|head|body|script|iframe|[^>]*xmlns="http:\/\/www\.w3\.org\/1999\/xhtml")/i.test(start)) {
    return { type: 'text/html', extension: 'html' };
  }
  if (start.startsWith('<?xml')) return { type: 'application/xml', extension: 'xml' };
  const ending = /\.(\w{1,8})$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const type = textTypes.get(ending);
  return type === undefined ? { type: 'text/plain', extension: 'txt' } : { type, extension: ending };
}

/** The first bytes as text; null where they are none. The last character may be cut. */
function textOf(head: Buffer, size: number): string | null {
  const cut = head.length < size ? [0, 1, 2, 3] : [0];
  const whole = cut.map((bytes) => head.subarray(0, head.length - bytes)).find((bytes) => isUtf8(bytes));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells bytes from text.
  return whole === undefined || /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(whole.toString('latin1')) ? null : whole.toString();
}

/** Code units of a name at most; so long is the column. */
const longestName = 255;

/** The name of an upload without folders and misleading characters, cut before its ending; `file` if empty. */
function cleanName(sent: string): string {
  const last = sent.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const name = last
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu, '')
    .trim();
  if (name === '' || name === '.' || name === '..') return 'file';
  if (name.length <= longestName) return name;
  const ending = /\.[^.]{1,16}$/.exec(name)?.[0] ?? '';
  return cut(name, longestName - ending.length) + ending;
}

/** The first code units of a text, without half a character. */
function cut(text: string, length: number): string {
  return text.slice(0, length).toWellFormed().replaceAll('\ufffd', '');
}

/** A title for a file of this name: `my_holiday-photo.jpg` is `My Holiday Photo`. */
function titleOf(name: string): string {
  const reservedNames = name
    .replace(/(?<=.)\.[^.]+$/, '')
    .split(/[\s_-]+/)
    .filter((word) => word !== '');
  // A capital may be longer than its letter: of "ß" there are two.
  return cut(reservedNames.map((word) => word.replace(/^./u, (letter) => letter.toUpperCase())).join(' '), longestName);
}
