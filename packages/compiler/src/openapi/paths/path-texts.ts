/**
 * The text of the paths of a collection. Most collections have the same operations and a key of the same kind. Then
 * their paths, a third of a document, differ in names only. Such a text is made once, with placeholders for names.
 */
import { createFacts } from '../../cache/same.ts';
import { DocumentNames } from '../../role-view/names.ts';
import { type Parts, type PartText, textsOf } from '../json.ts';
import type { Addressed, AddressedFacts } from './addressed.ts';
import { collectionParameters, collectionPaths } from './paths.ts';

/** Parts that follow from the facts, with the indentation at which they stand in a document. */
export const addressedParts = {
  paths: { indent: 4, create: collectionPaths },
  parameters: { indent: 6, create: collectionParameters },
} as const satisfies Record<string, { readonly indent: number; readonly create: (collection: Addressed) => Parts }>;

type Kind = keyof typeof addressedParts;

/** The parts as one text, which stands under the name of the first. */
export function addressedTexts(kind: Kind, addressed: Addressed): readonly PartText[] {
  const { names, path } = addressed;
  const { spelling, tag } = names;
  const values = { spelling, tag, path };
  const { facts, text } = factsOf(addressed, () => takeFacts(addressed));
  return patternsOf(kind, facts, text).map((pattern) => [
    fill(pattern.path, values),
    fill(pattern.text, escaped(values)),
  ]);
}

type TextOfFacts = ReturnType<typeof takeFacts>;

const factsOf = createFacts<Addressed, TextOfFacts>();

function takeFacts({ names, path, ...facts }: Addressed) {
  return { facts, text: JSON.stringify(facts) };
}

/** Text that is the same for collections that differ in names only. */
export function factsText(addressed: Addressed): string {
  return factsOf(addressed, () => takeFacts(addressed)).text;
}

/** Values that all names in paths are made of. */
type Values = Readonly<Record<'spelling' | 'tag' | 'path', string>>;

/** The parts of all collections of the same facts. */
interface PathPattern {
  readonly path: Pattern;
  readonly text: Pattern;
}

/** Texts, and what stands after each; nothing after the last. */
type Pattern = readonly { readonly text: string; readonly next: keyof Values | null }[];

/** Number of different facts for which patterns are kept. */
const maxPatterns = 768;

const patternCache = new Map<string, readonly PathPattern[]>();

function patternsOf(kind: Kind, facts: AddressedFacts, text: string): readonly PathPattern[] {
  const key = `${kind}${text}`;
  const found = patternCache.get(key);
  if (found !== undefined) return found;
  if (patternCache.size >= maxPatterns) patternCache.clear();
  const sign = signBeside(key);
  const { indent, create } = addressedParts[kind];
  const texts = textsOf(create({ ...facts, ...markedBy(sign) }), indent, true);
  const patterns = texts.map(([path, text]) => ({ path: patternOf(path, sign), text: patternOf(text, sign) }));
  patternCache.set(key, patterns);
  return patterns;
}

/**
 * A character that does not occur in a text. The first is a control character of those that JSON leaves as they are.
 * The engine keeps a text with it in one byte a character, and so it keeps the parts of the text.
 */
function signBeside(text: string): string {
  let code = 0x80;
  while (text.includes(String.fromCharCode(code))) code += 1;
  return String.fromCharCode(code);
}

const placeholders: readonly (keyof Values)[] = ['spelling', 'tag', 'path'];

/** Names in which every value is its number after a sign, which JSON leaves as it is. */
function markedBy(sign: string): Pick<Addressed, 'names' | 'path'> {
  const placeholder = (value: keyof Values): string => `${sign}${placeholders.indexOf(value)}`;
  const names = new DocumentNames('', placeholder('spelling'), placeholder('tag'));
  return { names, path: placeholder('path') };
}

function patternOf(text: string, sign: string): Pattern {
  const parts = text.split(sign);
  return parts.map((part, index) => {
    const next = parts[index + 1];
    return {
      text: index === 0 ? part : part.slice(1),
      next: next === undefined ? null : (placeholders[Number(next[0])] ?? null),
    };
  });
}

function fill(pattern: Pattern, values: Values): string {
  let whole = '';
  for (const { text, next } of pattern) whole += next === null ? text : text + values[next];
  return whole;
}

/** As they stand within texts of JSON. */
function escaped(values: Values): Values {
  const inText = (value: string): string => JSON.stringify(value).slice(1, -1);
  const { spelling, tag, path } = values;
  return { spelling: inText(spelling), tag: inText(tag), path: inText(path) };
}
