import type { FileFormat } from './format.ts';
import { isNull, plainText, type RawJson } from './raw-json.ts';

/**
 * XML 1.0: one `item` per row under `items`, an element per field, an `item` per element of a list. Null is an element with
 * `xsi:nil`. A name that is no XML name stands in the attribute `name` of an element `field`.
 */
export const xml: FileFormat = {
  start: '<?xml version="1.0" encoding="UTF-8"?>\n<items xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n',
  row: (item) => `  ${element('item', item)}\n`,
  end: () => '</items>\n',
};

function element(name: string, value: RawJson): string {
  const usable = /^[A-Za-z_][\w.-]*$/.test(name) && !/^xml/i.test(name);
  const tag = usable ? name : 'field';
  const start = usable ? tag : `field name="${attribute(name)}"`;
  if (isNull(value)) return `<${start} xsi:nil="true"/>`;
  const content = contentOf(value);
  return content === '' ? `<${start}/>` : `<${start}>${content}</${tag}>`;
}

function contentOf(value: RawJson): string {
  if (value.kind === 'scalar') return escaped(plainText(value.text));
  if (value.kind === 'list') return value.items.map((item) => element('item', item)).join('');
  return value.members.map(([name, inner]) => element(name, inner)).join('');
}

/** Characters that XML 1.0 cannot hold in any spelling. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters looked for
const impossible = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

/** Characters that need an escape, or have none: most texts hold none of them, and are not copied. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters looked for
const special = /[&<>\u0000-\u0008\u000b-\u001f\ufffe\uffff]|\p{Surrogate}/u;

/** A carriage return would be read back as a line feed. */
function escaped(text: string): string {
  if (!special.test(text)) return text;
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;')
    .replace(impossible, '\ufffd');
}

function attribute(text: string): string {
  return escaped(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
}
