/**
 * Names from outside → identifiers and file names of generated code.
 *
 * The words of a name keep their letters of any alphabet; everything else separates words. A name that is written the
 * plain way (`order_lines`) never shares its identifier with another plain name.
 */
import { shortHash } from './json.ts';

/** `OrderLines`: one capital per word; an underscore where a word begins with a digit (`address_1` is `Address_1`). */
export function pascalCase(name: string): string {
  return joinWords(splitWords(name), name);
}

function joinWords(parts: readonly string[], name: string): string {
  const joined = parts.reduce((text, word) => text + (/^\p{Nd}/u.test(word) ? `_${word}` : capital(word)), '');
  return joined === '' ? `_${shortHash(name)}` : shortened(joined, name);
}

/** An identifier short enough for a declaration's first line to fit the width: the hash of `name` replaces its end. */
export function shortened(identifier: string, name: string): string {
  return identifier.length <= longest
    ? identifier
    : `${[...identifier].slice(0, longest - 10).join('')}_${shortHash(name)}`;
}

/**
 * `orderLines`: as `pascalCase` with a small first word (`a_b` is `aB`, so that `ab` is another one). A word of the
 * language takes an underscore at its end.
 */
export function camelCase(name: string, suffix = ''): string {
  const [first, ...rest] = splitWords(name);
  const small = joinWords(first === undefined ? [] : [first], name).replace(
    /^\p{Lu}+(?=\p{Lu}\p{Ll})|^\p{Lu}+$|^\p{Lu}/u,
    (start) => start.toLowerCase(),
  );
  const identifier = `${rest.length === 0 ? small : shortened(small + joinWords(rest, name), name)}${suffix}`;
  return reserved.has(identifier) ? `${identifier}_` : identifier;
}

/** A file name of ASCII letters, digits and `_`; a name that has to change for it ends in its hash. */
export function fileName(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9_]+/g, '_').slice(0, longest);
  return safe === name && name !== '' && !devices.test(name) ? name : `${safe}_${shortHash(name)}`;
}

/**
 * Spells every name by `spell`, made unique by the hash of the name. If names would share a spelling (`fold` says when
 * two are the same), one written the plain way keeps it. Every other one ends in its hash, a longer one if two meet. So
 * their order does not matter.
 */
export function uniqueNames(
  names: readonly string[],
  spell: (name: string) => string,
  fold: (spelling: string) => string = (spelling) => spelling,
  taken: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, string> {
  const formatted = names.map((name) => {
    const spelling = spell(name);
    return { name, spelling, folded: fold(spelling) };
  });
  const groups = Map.groupBy(formatted, ({ folded }) => folded);
  const print = ({ name, spelling, folded }: (typeof formatted)[number], digits?: number): string => {
    const shared = (groups.get(folded) ?? []).length > 1;
    const keeps = !taken.has(folded) && (!shared || plain.test(name));
    return keeps ? spelling : `${spelling}_${shortHash(name, digits)}`;
  };
  const printed = Map.groupBy(formatted, (entry) => fold(print(entry)));
  return new Map(
    formatted.map((entry): readonly [string, string] => {
      const meets = (printed.get(fold(print(entry))) ?? []).length > 1;
      return [entry.name, print(entry, meets ? 16 : undefined)];
    }),
  );
}

const longest = 64;

const plain = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/** Names that Windows keeps for devices. */
const devices = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

function splitWords(name: string): readonly string[] {
  const text = /\p{Ll}/u.test(name) ? name : name.toLowerCase();
  return text.normalize('NFC').match(/[\p{ID_Continue}--[_\p{Cf}]]+/gv) ?? [];
}

/** A word that begins with a combining mark cannot begin an identifier. */
function capital(word: string): string {
  if (!/^\p{ID_Start}/u.test(word)) return `_${word}`;
  const [first = ''] = word;
  const upper = first.toUpperCase();
  return (upper.length === first.length ? upper : first) + word.slice(first.length);
}

/** Words of the language, names that linters want left alone, and the imports of generated files. */
const reserved: ReadonlySet<string> = new Set(
  `any arguments as async await boolean break case catch class const continue debugger default delete do else enum eval
  export extends false finally for from function get globalThis grant if implements import in infinity instanceof interface
  let module naN never new now null number or object of package private protected public require return set static string
  super switch symbol then this throw true try type typeof undefined unknown using var void while with yield escape
  unescape isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent constructor
  hasOwnProperty prototype toString valueOf accessClass always and api caller check collection collections compare compiledApi
  extensions customRoutes field fingerprint foreignKey foreignLink graphqlDocuments graphqlFiles graphqlOperations itemRoutes m2a m2m m2o modelFiles never o2m openapi
  openapiFiles pair related routes serve unique`.split(/\s+/),
);
