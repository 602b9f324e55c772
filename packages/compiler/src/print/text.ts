/** The one way from outside into generated code: every foreign name, comment, default and literal passes here. */
import { loadTsMorph } from './libraries.ts';

/** Columns of a line of generated code, as the formatter of this repository counts them. */
export const lineWidth = 120;

/**
 * A string literal. Single quotes, or double ones where that needs fewer escapes. Nothing invisible stays in it, nor a
 * text like a placeholder of a template string. No backslash stays at its end: ts-morph's writer would take the closing
 * quote for an escaped one, and lose the indentation of later lines.
 */
export function stringLiteral(value: string): string {
  if (isPlainLiteral(value)) return `'${value}'`;
  const quote = count(value, "'") > count(value, '"') ? '"' : "'";
  const escaped = value.replaceAll(/['"\\]|\$(?=\{)|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (character) => {
    if (character === "'" || character === '"') return character === quote ? `\\${character}` : character;
    return character === '\\' ? '\\\\' : escapeInvisible(character);
  });
  return `${quote}${escaped.replace(/\\\\$/, '\\u005c')}${quote}`;
}

export function literalWidth(value: string): number {
  return isPlainLiteral(value) ? value.length + 2 : widthOf(stringLiteral(value));
}

/** Printable ASCII without single quotes, backslashes and dollars, which is most of what there is. */
function isPlainLiteral(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit > 0x7e || unit === quoteMark || unit === backslash || unit === dollar) return false;
  }
  return true;
}

const [quoteMark, backslash, dollar] = [0x27, 0x5c, 0x24];

/** The key of a property in a type: bare where it is an identifier, else a string literal. */
export function propertyKey(name: string): string {
  return isIdentifier(name) ? name : stringLiteral(name);
}

function isIdentifier(name: string): boolean {
  for (let index = 0; index < name.length; index += 1) {
    const unit = name.charCodeAt(index);
    // Nearly all names need no look at other characters.
    if (!isPlainPart(unit) && !(index > 0 && isDigit(unit))) return unit > 0x7e && isIdentifierOfAnyAlphabet(name);
  }
  return name !== '';
}

/** ASCII letters, `_` and `$`. */
function isPlainPart(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f || unit === dollar;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Node may know a later version of Unicode than TypeScript does, and both have to read the name. */
function isIdentifierOfAnyAlphabet(name: string): boolean {
  if (!/^[$_\p{ID_Start}][[$\p{ID_Continue}]--\p{Cf}]*$/v.test(name)) return false;
  const { ts } = loadTsMorph();
  const points = [...name].map((character) => character.codePointAt(0) ?? 0);
  const { ESNext } = ts.ScriptTarget;
  return points.every((point, index) =>
    index === 0 ? ts.isIdentifierStart(point, ESNext) : ts.isIdentifierPart(point, ESNext),
  );
}

/** Lines of a comment, which cannot end it, hide text, or speak to compiler and linter (tags, `*` before `/`). */
export function commentLines(text: string): readonly string[] {
  return text
    .trim()
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => commentLine(line.trimEnd()));
}

/** One line of a comment for any text: line ends become spaces. */
export function commentText(text: string): string {
  return commentLines(text).join(' ');
}

function commentLine(line: string): string {
  // Most lines have nothing in them that could mean something.
  if (!/[^ -~]|[*@]|biome/i.test(line)) return line;
  return line
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, escapeInvisible)
    .replaceAll('*/', '*\\/')
    .replaceAll(/(?<![\p{L}\p{N}])@(?=\p{L})/gu, '\\@')
    .replaceAll(/(?<=@ts|biome)-/gi, '\\-');
}

function escapeInvisible(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** True if texts fit a line together, of which some columns are taken. A character takes two columns at most. */
export function fitsLine(taken: number, text: string, before = ''): boolean {
  return taken + (text.length + before.length) * 2 <= lineWidth || taken + widthOf(text) + widthOf(before) <= lineWidth;
}

/** Columns that a text takes in a terminal: two for wide characters, none for marks that combine. */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  return [...text].reduce((sum, character) => sum + (narrow.test(character) ? 0 : wide.test(character) ? 2 : 1), 0);
}

/** Printable ASCII, which most texts are: for short ones a regular expression takes longer. */
function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit > 0x7e) return false;
  }
  return true;
}

const narrow = /\p{Mn}|\p{Me}|\p{Cf}/u;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
