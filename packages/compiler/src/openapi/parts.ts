/** Parts of a collection for the documents of all classes that see the same of it. */
import { createCache, type Lookup, type Watch } from '../cache/memo-cache.ts';
import { packChunk } from '../print/chunks.ts';
import { type Layout, textAt } from '../print/json.ts';
import { onlyText } from '../print/only-text.ts';
import type { JsonObject } from './json.ts';

/** Members of an object in a document, by their names. */
export type Parts = readonly (readonly [string, JsonObject])[];

/** A part by its text. */
export type PartText = readonly [name: string, text: string];

/**
 * Layout of what stands at an indentation. Tags, paths, operations, their members, and components have a line each.
 * Schemas with properties stand open, and each property has a line.
 */
export function layoutAt(indent: number): Layout {
  return { levels: [0, 2, 4][indent / 2] ?? 3 };
}

/**
 * Remembers parts that stand in documents at one indentation, as objects or as texts.
 *
 * Where no other collection has parts of the same names (`apart`), there is one text for all. It stands under the name
 * of the first, and goes on with the others. `print` gives the texts where that takes less than to make parts and print
 * them.
 */
export function createPartsCache(indent: number, apart: boolean) {
  const objects = createCache<Parts>();
  const printed = createCache<Parts>();
  return (
    key: object,
    sources: readonly Lookup<unknown>[],
    asText: boolean,
    create: (watch: Watch) => Parts,
    print = (watch: Watch): readonly PartText[] => textsOf(create(watch), indent, apart),
  ): Parts =>
    asText
      ? printed(key, sources, (watch) => print(watch).map(([name, text]) => [name, onlyText(packChunk(text), indent)]))
      : objects(key, sources, create);
}

/** Prints parts at an indentation; as one text, under the name of the first, where they stand `apart`. */
export function textsOf(parts: Parts, indent: number, apart: boolean): readonly PartText[] {
  const texts = parts.map(([name, part]) => [name, textAt(part, indent, layoutAt(indent))] as const);
  const [first, ...others] = texts;
  if (!apart || first === undefined) return texts;
  const more = others.map(([name, text]) => `,\n${' '.repeat(indent)}${JSON.stringify(name)}: ${text}`);
  return [[first[0], [first[1], ...more].join('')]];
}
