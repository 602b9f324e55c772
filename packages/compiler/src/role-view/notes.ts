/** Notes that a class may read: free text of the database that may name what it does not know is left out. */
import type { Api, ApiCollection } from '../api.ts';
import { createFacts } from '../cache/same.ts';

/** Gives a note back, or null when it must not be shown. */
export type NoteReader = (note: string | null) => string | null;

export function everyNote(note: string | null): string | null {
  return note;
}

/**
 * Shows the notes in which no hidden name occurs, in any case.
 * A name of one word counts where it stands as a word (`orders` in `orders.id` and `orders_archive`), any other
 * wherever it occurs. Names of the database count too. A name that is hidden in one place and visible in another is no
 * secret.
 * @param shown the visible fields and relations of a collection; null if the collection is hidden
 */
export function withoutHiddenNames(api: Api, shown: VisibleNames): NoteReader {
  if (api.collections.every((collection) => isWhole(collection, shown(collection)))) return everyNote;
  // A class that sees nothing asks for no note.
  let hidden: HiddenNames | undefined;
  return function read(note) {
    if (note === null) return null;
    hidden ??= hiddenNames(api.collections, shown);
    const { words: terms, phrases } = hidden;
    const text = fold(note);
    const references = wordsOf(text).some((word) => terms.has(word)) || containsAny(text, phrases);
    return references ? null : note;
  };
}

type VisibleNames = (collection: ApiCollection) => ReadonlySet<string> | null;

/** True if no part of a collection is hidden. */
function isWhole({ descriptor }: ApiCollection, names: ReadonlySet<string> | null): boolean {
  return names !== null && [...descriptor.fields, ...descriptor.relations].every(({ name }) => names.has(name));
}

interface HiddenNames {
  readonly words: ReadonlySet<string>;
  /** Names that are no single word, by their first character of none: prose rarely has an underscore. */
  readonly phrases: ReadonlyMap<string, readonly string[]>;
}

function hiddenNames(collections: readonly ApiCollection[], shown: VisibleNames): HiddenNames {
  const visible = new Set<string>();
  const others = new Set<string>();
  for (const collection of collections) {
    const names = shown(collection);
    const { tables, members } = foldedNames(collection);
    for (const name of tables) (names === null ? others : visible).add(name);
    for (const [name, spellings] of members) {
      for (const spelling of spellings) (names?.has(name) ? visible : others).add(spelling);
    }
  }
  const hidden = [...others].filter((name) => name !== '' && !visible.has(name));
  const phrases = hidden.filter((name) => !isWord(name));
  return { words: new Set(hidden.filter(isWord)), phrases: Map.groupBy(phrases, separatorOf) };
}

/** Folded, of a collection. */
interface FoldedNames {
  readonly tables: readonly string[];
  /** Fields and relations, each with its spellings. */
  readonly members: readonly (readonly [string, readonly string[]])[];
}

const namesOf = createFacts<ApiCollection, FoldedNames>();

function foldedNames(collection: ApiCollection): FoldedNames {
  return namesOf(collection, () => ({
    tables: tableNames(collection).map(fold),
    members: memberNames(collection).map(([name, spellings]) => [name, spellings.map(fold)]),
  }));
}

function tableNames({ descriptor }: ApiCollection): readonly string[] {
  const [, table = ''] = unquoted(descriptor.table);
  return [descriptor.name, table];
}

/** The names of fields and relations, each with its other spellings. */
function memberNames({ descriptor }: ApiCollection): readonly (readonly [string, readonly string[]])[] {
  return [
    ...descriptor.fields.map(({ name, column }) => [name, [name, ...unquoted(column)]] as const),
    ...descriptor.relations.map(({ name }) => [name, [name]] as const),
  ];
}

/** The identifiers of a quoted, possibly qualified name. */
function unquoted(sql: string): readonly string[] {
  return [...sql.matchAll(/"((?:[^"]|"")*)"/g)].map(([, name = '']) => name.replaceAll('""', '"'));
}

function containsAny(text: string, phrases: HiddenNames['phrases']): boolean {
  return [...phrases].some(
    ([separator, names]) => text.includes(separator) && names.some((name) => text.includes(name)),
  );
}

function separatorOf(phrase: string): string {
  return /[^\p{L}\p{M}\p{N}]/u.exec(phrase)?.[0] ?? '';
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

const word = /[\p{L}\p{M}\p{N}]+/gu;

function wordsOf(text: string): readonly string[] {
  return text.match(word) ?? [];
}

function isWord(name: string): boolean {
  return wordsOf(name)[0] === name;
}
