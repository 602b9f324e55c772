import type { JsonValue } from '../../language/index.ts';

/** Texts are cut to so many characters, and lists to so many elements. */
const longest = 1_000;
const maxElements = 64;

/** Converts metadata of a file to JSON that every database takes; undefined if the result is empty. */
export function plain(value: unknown): JsonValue | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'string') return text(value);
  // Cameras write the time of where they are, and not where that is.
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString().replace('Z', '');
  if (ArrayBuffer.isView(value) || typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    const elements = value.slice(0, maxElements).flatMap((element) => plain(element) ?? []);
    return elements.length === 0 ? undefined : elements;
  }
  const members = Object.entries(value).flatMap(([name, member]): [string, JsonValue][] => {
    const cleaned = plain(member);
    return cleaned === undefined ? [] : [[name, cleaned]];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function text(value: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: cameras fill texts up with them, and databases refuse some.
  const cleaned = value.replace(/[\0-\x08\x0b-\x1f]+/g, '').trim();
  return cleaned === '' ? undefined : cleaned.slice(0, longest).toWellFormed();
}
