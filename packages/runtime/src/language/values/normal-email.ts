/**
 * Normalizes addresses for comparison where the server has no function for it, as `platform_normal_email` does where it
 * has one.
 */
import { capitals, small } from './lowercase.ts';

const smallLetters = [...small];
const lowercase: ReadonlyMap<string, string> = new Map(
  [...capitals].map((capital, index) => [capital, smallLetters[index] ?? capital]),
);

/** Returns an address without differences in compatibility forms and case, for comparison. */
export function normalEmail(email: string): string {
  return [...email.normalize('NFKC')].map((letter) => lowercase.get(letter) ?? letter).join('');
}

/** The same of a JSON array of addresses, as one of `{ place, normal }`: those that are one stand where the first stood. */
export function normalEmails(emails: string): string {
  const list: readonly string[] = JSON.parse(emails);
  const places = new Map<string, number>();
  for (const [index, email] of list.entries()) {
    const normal = normalEmail(email);
    if (!places.has(normal)) places.set(normal, index);
  }
  return JSON.stringify([...places].map(([normal, index]) => ({ place: index, normal })));
}
