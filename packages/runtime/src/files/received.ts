/** Type and name of a file that was sent: the type is found in its own bytes, the name is cleaned. */
import { isUtf8 } from 'node:buffer';

/** Detected type of a file. */
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
export async function detectType(head: Buffer, size: number, name: string): Promise<DetectedType> {
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

/**
 * The name of an upload without dangerous or misleading parts: folders, control characters and those that turn the
 * direction of a text around. Long names are cut before their ending. `file` if the result is empty.
 */
export function cleanName(sent: string): string {
  const last = sent.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const name = last
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu, '')
    .trim();
  if (name === '' || name === '.' || name === '..') return 'file';
  if (name.length <= longestName) return name;
  const ending = /\.[^.]{1,16}$/.exec(name)?.[0] ?? '';
  return (name.slice(0, longestName - ending.length) + ending).toWellFormed().replaceAll('\ufffd', '');
}

/** A title for a file of this name: `my_holiday-photo.jpg` is `My Holiday Photo`. */
export function titleOf(name: string): string {
  const reservedNames = name
    .replace(/(?<=.)\.[^.]+$/, '')
    .split(/[\s_-]+/)
    .filter((word) => word !== '');
  return reservedNames.map((word) => word.replace(/^./u, (letter) => letter.toUpperCase())).join(' ');
}
