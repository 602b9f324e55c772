/** Names of files: as people sent them, and as we keep them. */

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
